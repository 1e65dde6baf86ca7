"""Takes replies from a Flower grid without letting a node's message do harm on the way.

Flower's own `pull_messages` puts every object of a message together before anyone may look: one
malformed message raises for all, an array that lists one chunk a million times is written out, and
a node that announces objects and never sends them holds the caller for up to two hours. Here a
reply is one small record: how many objects it consists of, of which kinds and of how many bytes is
looked at while it comes in, and nothing but that record is decoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, NamedTuple

import httpx
from flwr.app import ConfigRecord
from flwr.common.constant import ErrorCode
from flwr.proto.message_pb2 import ConfirmMessageReceivedRequest, PullObjectRequest, PullObjectResponse
from flwr.proto.runtime_pb2 import PullAppMessagesRequest, PullAppMessagesResponse
from flwr.supercore.inflatable.inflatable_object import iterate_object_tree
from flwr.supercore.protobuf.client import ProtobufRequestContext
from flwr.supercore.protobuf.constants import PROTOBUF_MEDIA_TYPE
from flwr.superlink.grid import HttpGrid
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # ships no types

from optiframe.errors import InvalidInput
from optiframe_comrade.messages import FaultKind

_OBJECTS = 4  # in an honest reply: the message, its record dict, and one record
_HEAD = 1 << 16  # bytes of an announcement; an honest one has some 500, an error as many as its text
_SLACK = 4096  # bytes the objects of a message take up besides the record's values


class Trouble(NamedTuple):
    """Why nothing usable came: the fault's kind and its text."""

    kind: FaultKind
    text: str


class TooLarge(Exception):
    """More bytes came than an honest reply has."""


class _Announced(NamedTuple):
    """A reply whose objects are still to come."""

    objects: list[str]
    message: str


class Inbox:
    """The replies of one round, as they come in.

    Parameters
    ----------
    grid
        The grid a ServerApp is given by a SuperLink.
    limit
        Bytes a reply's record may have at most.

    Raises
    ------
    InvalidInput
        For a grid of Flower's simulation, which has no wire to guard.
    """

    def __init__(self, grid: Any, limit: int) -> None:
        if not isinstance(grid, HttpGrid):
            raise InvalidInput(
                f"a {type(grid).__name__} is not a connection to a SuperLink; to simulate workers "
                'take backend = "in-process"'
            )
        self.grid, self.limit = grid, limit
        # `PullMessages` hands out each announcement once, so those not yet complete are kept here.
        self._announced: dict[str, _Announced] = {}

    def take(self, number: str) -> Mapping[str, Any] | Trouble | None:
        """The values replied to the message of that number, or what is wrong; None: nothing yet."""
        try:
            taken = self._take(number)
        except httpx.HTTPStatusError as error:
            if not error.response.is_server_error:
                raise
            # The SuperLink is up, and this message alone is asked for here.
            return Trouble("malformed", f"sent a message at which the SuperLink fails ({error!s:.60})")
        if isinstance(taken, Trouble) and number in self._announced:
            self._confirm(self._announced[number].message)  # let the SuperLink forget it
        return taken

    def _take(self, number: str) -> Mapping[str, Any] | Trouble | None:
        if number not in self._announced:
            announced = self._announcement(number)
            if not isinstance(announced, _Announced):
                return announced
            self._announced[number] = announced
        objects, message = self._announced[number]
        if len(objects) >= _OBJECTS:
            return Trouble("malformed", "sent a message of more parts than a reply has")
        record: bytes | None = None
        for each in objects:
            try:
                content = self._object(each)
            except TooLarge:
                return Trouble("too-large", f"sent more than {self.limit} bytes, the most that are due")
            if content is None:
                return None
            kind = content[:64].split(b" ", maxsplit=1)[0]
            if kind == b"ConfigRecord" and record is None:
                record = content
            elif kind not in (b"Message", b"RecordDict"):
                return Trouble("malformed", f"sent an object of kind {kind[:20]!r} where one record is due")
        self._confirm(message)
        return _decoded(record)

    def _announcement(self, number: str) -> _Announced | Trouble | None:
        question = PullAppMessagesRequest(message_ids=[number])
        try:
            got = PullAppMessagesResponse.FromString(
                self._read("pull-messages", "PullMessages", question, _HEAD)
            )
            for message, tree in zip(got.messages_list, got.message_object_trees, strict=True):
                if message.metadata.reply_to_message_id != number:
                    continue
                if message.HasField("error"):
                    return said(message.error.code, message.error.reason)
                objects = [each.object_id for each in islice(iterate_object_tree(tree), _OBJECTS)]
                return _Announced(objects, message.metadata.message_id)
        except (TooLarge, DecodeError, RecursionError):  # a tree of parts too wide, or too deep
            return Trouble("malformed", "sent a message of more parts than a reply has")
        return None

    def _object(self, number: str) -> bytes | None:
        """An object's bytes; None while it has not come."""
        question = PullObjectRequest(node=self.grid.node, run_id=self.grid.run.run_id, object_id=number)
        came = self._read("pull-object", "PullObject", question, self.limit + _SLACK)
        answer = PullObjectResponse.FromString(came)
        return answer.object_content if answer.object_found and answer.object_available else None

    def _read(self, path: str, method: str, question: Any, limit: int) -> bytes:
        """What the SuperLink answers; raises `TooLarge`, having read no more than the limit."""
        # As Flower's `RuntimeHttpClient` does, but reading as it comes.
        client = self.grid._runtime_client

        def send() -> Any:
            request = client._client.build_request(
                "POST",
                f"{client._base_url}/v1/runtime/{path}",
                content=question.SerializeToString(deterministic=True),
                headers={
                    "content-type": PROTOBUF_MEDIA_TYPE,
                    "accept": PROTOBUF_MEDIA_TYPE,
                    "accept-encoding": "identity",
                },
                timeout=client._client.timeout,
            )
            context = ProtobufRequestContext(f"/flwr.proto.Runtime/{method}", question, request)
            response = client._send(context, stream=True)
            response.raise_for_status()
            return response

        response = self.grid._retry_invoker.invoke(send)
        came = bytearray()
        try:
            for chunk in response.iter_raw(1 << 16):
                came += chunk
                if len(came) > limit:
                    raise TooLarge(limit)
        finally:
            response.close()
        return bytes(came)

    def _confirm(self, message: str) -> None:
        self.grid._runtime_client.ConfirmMessageReceived(
            ConfirmMessageReceivedRequest(
                node=self.grid.node, run_id=self.grid.run.run_id, message_object_id=message
            )
        )


def _decoded(record: bytes | None) -> Mapping[str, Any] | Trouble:
    if record is None:
        return Trouble("malformed", "sent a message without a record")
    try:
        return dict(ConfigRecord.inflate(record))
    except Exception as error:  # protobuf and Flower raise what they like for bytes that mean nothing
        return Trouble("malformed", f"sent a record that cannot be read: {error!s:.80}")


def said(code: int, reason: str) -> Trouble:
    """What Flower says of a message that was not answered."""
    words: Mapping[int, str] = {
        ErrorCode.LOAD_CLIENT_APP_EXCEPTION: "cannot load its app",
        ErrorCode.CLIENT_APP_RAISED_EXCEPTION: "failed in its computation",
        ErrorCode.NODE_UNAVAILABLE: "is gone",
        ErrorCode.CLIENT_APP_CRASHED: "crashed",
        ErrorCode.INVALID_FAB: "does not trust the app",
    }
    late = code in (ErrorCode.MESSAGE_UNAVAILABLE, ErrorCode.REPLY_MESSAGE_UNAVAILABLE)
    kind: FaultKind = "late" if late else "crashed"
    text = words.get(code, "did not answer in time" if late else "failed")
    shown = "".join(
        each if each.isprintable() else " " for each in reason[:160]
    )  # a hostile node may have written it
    return Trouble(kind, f"{text} ({shown})" if shown else text)
