"""A node's process that answers as a file tells it to: honestly, or in ways no honest node would.

Started in place of `optiframe_comrade.backends.flower.persistent_client`; the node's setting
`mode` names the file.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
from optiframe_comrade.backends.flower import persistent_client
from optiframe_comrade.backends.flower.protocol import RECORD


class Armed:
    """Writes a file where it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return exec, (f"open({self.path!r}, 'w').close()",)


def object_array(path: str) -> bytes:
    """An NPY file of an array of objects, which `np.load(allow_pickle=True)` unpickles."""
    file = io.BytesIO()
    np.save(file, np.array([Armed(path)], dtype=object), allow_pickle=True)
    return file.getvalue()


def content(mode: str, values: dict, path: str, times: int = 100_000):
    """What is sent in place of the honest values; a bomb lists its megabyte so many times."""
    from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict
    from flwr.app.message.arraychunk import ArrayChunk

    if mode == "nan":
        values["payload"] = (np.nan * np.frombuffer(values["payload"])).tobytes()
    elif mode == "negative":
        values["payload"] = (-5 * np.frombuffer(values["payload"])).tobytes()
    elif mode == "pickle":
        values |= {"type": "|O", "shape": [1], "payload": pickle.dumps(Armed(path))}
    elif mode == "parts":
        return RecordDict({f"record {number}": ConfigRecord(values | {"n": number}) for number in range(20)})
    elif mode == "huge":
        values["payload"] = bytes(1 << 26)
    elif mode == "object-array":
        armed = Array(dtype="object", shape=(1,), stype="numpy.ndarray", data=object_array(path))
        return RecordDict({RECORD: ArrayRecord({"update": armed})})
    elif mode == "bomb":
        # One chunk of a megabyte, said to come 100,000 times: 100 GB for whoever puts it together.
        chunk = ArrayChunk(memoryview(bytes(1 << 20)))
        bomb = RecordDict({RECORD: ArrayRecord({"update": Array(np.zeros(1))})})
        # Each record copies what it is given, without its chunks: so they are put in last.
        array = bomb.array_records[RECORD]["update"]
        array.__dict__["_chunks"] = [(chunk.object_id, chunk)] * times
        assert len(array.deflate()) > times  # it lists them all
        return bomb
    else:
        assert mode == "honest", mode
    return RecordDict({RECORD: ConfigRecord(values)})


def act(client, answer) -> None:
    from flwr.app import Message
    from flwr.common.constant import SubStatus
    from flwr.supernode.runtime.run_clientapp import pull_task_input, push_message, push_task_output

    message, context, _, _ = pull_task_input(client)
    config = context.node_config
    values = answer(message.content.config_records[RECORD], config)
    said = content(Path(config["mode"]).read_text(), values, config["mark"])
    push_message(client, Message(said, reply_to=message), context)
    push_task_output(client, context, SubStatus.COMPLETED, "")


if __name__ == "__main__":
    persistent_client.main(act)
