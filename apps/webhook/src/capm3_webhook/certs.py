"""A throw-away certificate authority and server certificate, for the testbed, benchmarks and tests.

Apart from `tls`, which only reads files: in a cluster cert-manager makes them.
"""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
import pathlib
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 30


@dataclasses.dataclass(frozen=True)
class Authority:
    """A CA that can sign server certificates."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        """What goes into ``caBundle``."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def authority(now: datetime.datetime) -> Authority:
    """A new CA, valid for 30 days from `now`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "capm3 throw-away CA")])
    made = _builder(name, name, key.public_key(), now)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    made = made.add_extension(usage, critical=True)
    made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return Authority(made.sign(key, hashes.SHA256()), key)


def write_pair(ca: Authority, folder: pathlib.Path, hosts: Sequence[str], now: datetime.datetime) -> None:
    """Writes ``tls.crt`` and ``tls.key`` (and ``ca.crt``) for the given host names and IP addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
    made = _builder(name, ca.certificate.subject, key.public_key(), now)
    made = made.add_extension(x509.SubjectAlternativeName([_name(host) for host in hosts]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    made = made.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    made = made.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False)
    certificate = made.sign(ca.key, hashes.SHA256())
    folder.mkdir(parents=True, exist_ok=True)
    private = folder / "tls.key"
    private.touch(mode=0o600)
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (folder / "tls.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "ca.crt").write_bytes(ca.pem)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
    )


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
