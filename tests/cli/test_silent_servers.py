"""A server that completes the login and then never answers is given up, with its address."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from assay import registry
from assay.errors import SystemDied
from assay.experiment.values import SystemChoice
from assay.systems import first_session


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


LOGIN = (
    _message(b"R", struct.pack("!I", 0))
    + _message(b"S", b"server_version\x0015.1\0")
    + _message(b"K", bytes(8))
    + _message(b"Z", b"I")
)
NOTICES = _message(b"N", b"SNOTICE\0C00000\0Mhello\0\0") * 100


@contextlib.contextmanager
def impostor(said: bytes) -> Iterator[int]:
    """Its port. It says ``said`` again and again behind the login."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                client, _ = listening.accept()
                with client:
                    client.recv(9999)
                    client.sendall(LOGIN)
                    while client.recv(9999):
                        while said:
                            client.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            thread.join(60)
            assert not thread.is_alive()


@pytest.mark.parametrize("said", [b"", NOTICES], ids=["silence", "notices"])
def test_a_server_that_does_not_answer_is_given_up(
    monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(first_session, "FIRST_ANSWER_S", 0.3)
    with impostor(said) as port:
        url = f"postgresql://u@127.0.0.1:{port}/d?sslmode=disable"
        expected = f"127.0.0.1:{port} accepted the session but did not answer a query within"
        with (
            pytest.raises(SystemDied, match=expected),
            registry.system("postgresql").attach(SystemChoice("postgresql", url=url)),
        ):
            pass
