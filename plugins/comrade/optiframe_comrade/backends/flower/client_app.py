"""The Flower ClientApp: what a node runs for each message."""

from __future__ import annotations

import time

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from optiframe_comrade.backends.flower.node import answer
from optiframe_comrade.backends.flower.protocol import RECORD
from optiframe_comrade.messages import Fault

_FOR_EVER = 1e6  # seconds a node sleeps whose attack is to hang

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    """Answer a broadcast. An exception becomes a fault of this node in the coordinator's books."""
    asked = message.content.config_records[RECORD]
    kept = context.state.config_records.get(RECORD)
    memory = dict(kept or {})
    values = answer(asked, context.node_config, memory)
    if isinstance(values, Fault):
        if values.kind == "late":
            time.sleep(_FOR_EVER)
        raise RuntimeError("an attack this node was configured with")
    context.state[RECORD] = ConfigRecord(memory)
    return Message(RecordDict({RECORD: ConfigRecord(values)}), reply_to=message)
