"""The certificates of a federation."""

from __future__ import annotations

import datetime
import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_ADDRESS = "127.0.0.1"


@dataclass(frozen=True)
class Certificate:
    """PEM files: the authority's certificate, the server's certificate and its private key."""

    authority: Path
    server: Path
    key: Path

    def options(self) -> list[str]:
        """As `flower-superlink` takes them."""
        files = {"ssl-ca-certfile": self.authority, "ssl-certfile": self.server, "ssl-keyfile": self.key}
        return [word for name, path in files.items() for word in (f"--{name}", str(path))]


def make_certificate(folder: Path, name: str = "localhost", days: int = 2) -> Certificate:
    """A new authority, and a certificate by it for this machine's address on loopback and for a DNS name.

    The authority's key is not kept: nobody can make another certificate that the nodes would believe.
    """
    now = datetime.datetime.now(datetime.UTC)

    def begun(
        subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))  # clocks differ
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        )

    ours, theirs = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP384R1())
    authority, server = _named("federation authority"), _named(_ADDRESS)
    uses = x509.KeyUsage(False, False, False, False, False, True, True, False, False)  # signs certificates
    root = (
        begun(authority, authority, ours.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(uses, critical=True)
        .sign(ours, hashes.SHA384())
    )
    address = x509.IPAddress(ipaddress.ip_address(_ADDRESS))
    where = x509.SubjectAlternativeName([x509.DNSName(name), address])
    issued = (
        begun(server, authority, theirs.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(where, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ours.public_key()), critical=False)
        .sign(ours, hashes.SHA384())
    )
    made = Certificate(folder / "ca.crt", folder / "server.pem", folder / "server.key")
    made.authority.write_bytes(root.public_bytes(Encoding.PEM))
    made.server.write_bytes(issued.public_bytes(Encoding.PEM))
    with os.fdopen(os.open(made.key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(theirs.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return made


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
