"""Certificates for servers with TLS, made by openssl: an authority, a server's, a client's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.provision.machine.users import server_user
from programs import OPENSSL, need_program

_DAYS = ("-days", "2")


@dataclass(frozen=True)
class Certificates:
    """Each name stands for ``NAME.crt`` and ``NAME.key`` in the folder."""

    folder: Path

    def crt(self, name: str) -> Path:
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"


@contextmanager
def certificates(client: str) -> Iterator[Certificates]:
    """``authority``, ``server`` (for the host localhost), ``client`` (of that user), ``stranger``
    (signed by another authority), ``alone`` (self-signed), ``nameless`` (signed, with a CN and no
    subjectAltName), ``address`` and ``elsewhere`` (for the hosts 127.0.0.1 and 10.0.0.7) and
    ``old`` (X.509 version 1)."""
    need_program(OPENSSL)
    with TemporaryDirectory(prefix="assay-test-tls-", dir="/var/tmp") as folder:
        made = Certificates(Path(folder))
        made.folder.chmod(0o755)
        for authority in ("authority", "stranger"):
            _request(made, authority, authority, "-x509", *_DAYS)
        _request(made, "alone", "localhost", "-x509", *_DAYS, "-addext", _HOST)
        _signed(made, "server", "localhost", _HOST)
        _signed(made, "client", client, "extendedKeyUsage=clientAuth")
        _signed(made, "nameless", "localhost", "basicConstraints=CA:FALSE")
        _signed(made, "address", "localhost", "subjectAltName=IP:127.0.0.1")
        _signed(made, "elsewhere", "localhost", "subjectAltName=IP:10.0.0.7")
        _signed(made, "old", "localhost", "")
        user = server_user()
        for name in ("server", "alone", "nameless", "address", "elsewhere", "old"):
            os.chown(made.key(name), user.uid, user.gid)
        yield made


_HOST = "subjectAltName=DNS:localhost"


def _request(made: Certificates, name: str, subject: str, *more: str) -> None:
    files = ("-keyout", str(made.key(name)), "-out", str(made.crt(name)))
    _openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={subject}", *files, *more)
    made.key(name).chmod(0o600)


def _signed(made: Certificates, name: str, subject: str, extension: str) -> None:
    _request(made, name, subject)
    request, extensions = made.folder / f"{name}.csr", made.folder / f"{name}.ext"
    made.crt(name).rename(request)
    extensions.write_text(f"{extension}\n")
    signer = ("-CA", str(made.crt("authority")), "-CAkey", str(made.key("authority")))
    files = ("-in", str(request), "-out", str(made.crt(name)))
    extended = ("-extfile", str(extensions)) if extension else ()
    _openssl("x509", "-req", "-set_serial", str(len(name)), *_DAYS, *signer, *extended, *files)


def _openssl(*words: str) -> None:
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
