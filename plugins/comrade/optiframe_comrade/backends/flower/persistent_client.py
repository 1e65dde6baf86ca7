"""A node's own process, which answers all its messages: instead of the code a coordinator sends.

Flower's node starts the app that came with the run, again for every message: code of the coordinator's
choice, and seconds to import it. With ``flower-supernode --isolation process`` it waits for somebody
else to do the work. This is somebody else: it runs the installed package only, whatever the app
contains, reads its rows once, and keeps what error feedback owes. Run as::

    python -m optiframe_comrade.backends.flower.persistent_client --runtime-api-address 127.0.0.1:9094 \\
        --superexec-auth-secret-file secret

Uses inner parts of Flower 1.41, as its own executor and `flwr-clientapp` do.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from optiframe_comrade.backends.flower import flower
from optiframe_comrade.backends.flower.loopback import only_loopback
from optiframe_comrade.backends.flower.protocol import RECORD, Values
from optiframe_comrade.messages import Fault

Answer: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], Values | Fault]
"""Gives the reply to what was asked, with the node's settings."""

_POLL = 0.1  # seconds between two looks for a message
_AUTHENTICATED = frozenset({"/flwr.proto.Runtime/AcquireTask"})


def serve(
    address: str,
    secret: bytes,
    parent: int | None = None,
    work: Callable[[Any, Answer], None] | None = None,
) -> None:
    """Answer messages until the process `parent` ends, or for ever.

    Parameters
    ----------
    address
        Of the node's Runtime API: host and port, on loopback.
    secret
        What the node was given by ``--superexec-auth-secret-file``.
    work
        What is done with a message; `work_honestly` unless given, for nodes that misbehave.

    Raises
    ------
    InvalidInput
        When the address is not on loopback.
    """
    only_loopback(address)
    import httpx
    from flwr.proto.runtime_pb2 import AcquireTaskRequest
    from flwr.supercore.constant import TaskType
    from flwr.supercore.interceptors import (
        RuntimeTokenHttpInterceptor,
        RuntimeVersionHttpInterceptor,
        SuperExecAuthHttpInterceptor,
    )
    from flwr.supercore.runtime import RuntimeHttpClient

    from optiframe_comrade.backends.flower import node

    connect = partial(RuntimeHttpClient.from_server_address, address, True, None)
    signed = SuperExecAuthHttpInterceptor(master_secret=secret, protected_methods=_AUTHENTICATED)
    memory: Values = {}
    loaded: dict[str, Any] = {}

    def rows(config: Mapping[str, Any]) -> Any:
        if "rows" not in loaded:
            loaded["rows"] = node.rows(config)
        return loaded["rows"]

    with connect([RuntimeVersionHttpInterceptor("SuperExec"), signed]) as executor:
        while parent is None or os.getppid() == parent:
            try:
                got = executor.AcquireTask(AcquireTaskRequest(supported_task_types=[TaskType.CLIENT_APP]))
            except httpx.TransportError:  # the node is not up yet, or no more
                time.sleep(_POLL)
                continue
            if not (got.HasField("task") and got.token):
                time.sleep(_POLL)
                continue
            version = RuntimeVersionHttpInterceptor("flwr-clientapp")
            with connect([version, RuntimeTokenHttpInterceptor(got.token)]) as client:
                (work or work_honestly)(client, partial(node.answer, memory=memory, read=rows))


def work_honestly(client: Any, answer: Answer) -> None:
    """Take one message from the node and give it the reply, or the error."""
    from flwr.app import ConfigRecord, Message, RecordDict
    from flwr.common.constant import ErrorCode, SubStatus
    from flwr.supernode.runtime.run_clientapp import pull_task_input, push_message, push_task_output

    message, context, _, _ = pull_task_input(client)
    try:
        values = answer(message.content.config_records[RECORD], context.node_config)
        if isinstance(values, Fault):
            while values.kind == "late":
                time.sleep(1.0)
            reply = _error(message, ErrorCode.CLIENT_APP_CRASHED, "an attack it was configured with")
        else:
            reply = Message(RecordDict({RECORD: ConfigRecord(values)}), reply_to=message)
    except Exception as error:  # a bad message must not end the node: the coordinator hears what is wrong
        reply = _error(message, ErrorCode.CLIENT_APP_RAISED_EXCEPTION, f"{type(error).__name__}: {error}")
    push_message(client, reply, context)
    push_task_output(client, context, SubStatus.COMPLETED, "")


def _error(message: Any, code: int, reason: str) -> Any:
    from flwr.app import Error, Message

    return Message(Error(code=code, reason=reason), reply_to=message)


def main(work: Callable[[Any, Answer], None] | None = None) -> None:
    """The command; `work` as in `serve`."""
    parser = argparse.ArgumentParser(
        prog="python -m optiframe_comrade.backends.flower.persistent_client", description=__doc__
    )
    parser.add_argument("--runtime-api-address", required=True, help="the node's --host and --port")
    parser.add_argument("--superexec-auth-secret-file", required=True, type=Path)
    parser.add_argument(
        "--parent-pid", type=int, default=None, help="end when this process is not the parent"
    )
    given = parser.parse_args()
    with flower():
        secret = given.superexec_auth_secret_file.read_bytes()
        serve(given.runtime_api_address, secret, given.parent_pid, work)


if __name__ == "__main__":
    main()
