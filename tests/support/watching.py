"""``assay watch`` of a test, and clients of it that are no browser."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import forked_programs
from forked_programs import Started
from running import started, wait_for_second
from waiting import HANG_S


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Event:
    name: str
    id: str
    data: Any


@dataclass(frozen=True)
class Watched:
    """A server that is there."""

    process: Started
    url: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.url).query)["token"][0]

    def path(self, path: str, more: str = "") -> str:
        return f"{path}?token={self.token}{more}"

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: str | None = None,
        headers: Mapping[str, str] = {},
    ) -> Answer:
        """One request, with these headers in place of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
        with closing(connection):
            connection.putrequest(method, path, skip_host="host" in headers)
            for name, value in headers.items():
                connection.putheader(name, value)
            if body is not None and "content-length" not in headers:
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(None if body is None else body.encode())
            found = connection.getresponse()
            return Answer(found.status, dict(found.getheaders()), found.read().decode())

    def post(self, path: str, body: object, **headers: str) -> Answer:
        """With the token in its header; what is no text as JSON."""
        text = body if isinstance(body, str) else json.dumps(body)
        named = {"x-assay-token": self.token, **headers}
        return self.ask(path, method="POST", body=text, headers=named)

    def deaf_reader(self) -> socket.socket:
        """Asks for the stream, and never reads it."""
        deaf = socket.create_connection(("127.0.0.1", self.port))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host = f"Host: 127.0.0.1:{self.port}"
        deaf.sendall(f"GET {self.path('/events')} HTTP/1.1\r\n{host}\r\n\r\n".encode())
        return deaf

    def events(self, last: str = "") -> Iterator[Event]:
        """Until the server ends the stream."""
        headers = {"Last-Event-ID": last} if last else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
        with closing(connection):
            connection.request("GET", self.path("/events"), headers=headers)
            stream = connection.getresponse()
            assert stream.status == 200
            fields: dict[str, str] = {}
            while True:
                try:
                    line = stream.readline().decode()
                except (http.client.IncompleteRead, ConnectionError):
                    return
                if not line:
                    return
                if line != "\n":
                    name, _, value = line.rstrip("\n").partition(": ")
                    fields[name] = value
                elif "event" in fields:
                    yield Event(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
                    fields = {}


@contextmanager
def watched(folder: Path, *words: str) -> Iterator[Watched]:
    """Of the record in that folder."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    with forked_programs.start(
        "assay", ["watch", *words], folder=folder, environment=environment
    ) as process:
        try:
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), process.communicate(timeout=HANG_S)
            yield Watched(process, url)
        finally:
            process.kill()


def script(folder: Path) -> None:
    """What is run while it is watched."""
    (folder / "one.sql").write_text("select 1;\n")


@contextmanager
def under_way(folder: Path, *words: str) -> Iterator[tuple[Started, Watched]]:
    """A run whose clients are at work, and the server of its page, which is up before the run: on
    a busy machine a short run would be over before a later one answers."""
    script(folder)
    with watched(folder) as server, started(folder, "run", "one.sql", *words) as run:
        wait_for_second(folder)
        yield run, server
