"""Refuses every address but loopback: with Flower 1.41 one port serves nodes and control."""

from __future__ import annotations

import contextlib
import ipaddress
import socket

from optiframe.errors import InvalidInput

_OURS = ipaddress.ip_network("127.0.0.0/8")
_ANOTHER = "127.0.0.2"  # on Linux loopback as well; who listens on 127.0.0.1 alone does not answer there
_PATIENCE = 1.0  # seconds for a connection within this machine


def only_loopback(address: str) -> str:
    """The address, a host with or without a port, if it is on loopback (IPv4).

    Raises
    ------
    InvalidInput
        When it is not, with the reason.
    """
    host = address.split(":", maxsplit=1)[0] if address.count(":") == 1 else address
    try:
        fine = ipaddress.ip_address(host) in _OURS
    except ValueError:  # a name
        fine = host == "localhost"
    if not fine:
        raise _refused(address)
    return address


def only_loopback_answers(address: str) -> None:
    """Check that whoever listens at an address, host and port, does so on loopback alone.

    Flower gives 127.0.0.1 as the address of a SuperLink that listens on 0.0.0.0, so its port is tried
    at another address of this machine.

    Raises
    ------
    InvalidInput
        When the address is not on loopback, or the port answers elsewhere, too.
    """
    port = int(only_loopback(address).rpartition(":")[2])
    for host in (_ANOTHER, *_outward()):
        if host == address.rpartition(":")[0]:
            continue
        with contextlib.suppress(OSError), socket.create_connection((host, port), _PATIENCE):
            raise _refused(f"0.0.0.0:{port}")


def _outward() -> list[str]:
    """The address by which this machine would reach others; nothing is sent to find it."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address set aside for documentation
        return [str(probe.getsockname()[0])]
    return []  # no way to others: nobody comes by it either


def _refused(address: str) -> InvalidInput:
    return InvalidInput(
        f"{address} can be reached from other machines. Flower 1.41 serves nodes and control on one port: "
        "whoever reaches it can run code of their own on this machine, ask the other nodes for replies and "
        "register a key. Listen on 127.0.0.1 only (flower-superlink --host 127.0.0.1), on a machine whose "
        "users you trust"
    )
