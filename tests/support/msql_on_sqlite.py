"""A server with the packets of mSQL, for tests: SQLite executes the statements, one at a time.

It is written from the description of the protocol and shares no code with the driver. A statement
that mSQL does not have (aggregates, transactions, several statements) is refused.
"""

from __future__ import annotations

import re
import socketserver
import sqlite3
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NOT_IN_MSQL = re.compile(
    r"\b(?:begin|commit|rollback|group|having|union|case|exists|join|limit|count|sum|in)\b", re.I
)
_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'", re.S)
MAX_PACKET_BYTES = 32 * 1024


class _Refused(Exception):
    pass


class MsqlServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.lock = threading.Lock()
        self.statements: list[str] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def execute(self, text: str) -> sqlite3.Cursor:
        """Raises `_Refused`."""
        self.statements.append(text)
        if found := _NOT_IN_MSQL.search(_LITERAL.sub("''", text)):
            raise _Refused(f"Parse error near {found[0]!r}")
        try:
            return self.database.execute(_LITERAL.sub(_doubled, text))
        except sqlite3.Error as error:
            words = str(error).replace("no such", "Unknown")
            raise _Refused(words.replace("UNIQUE", "Non unique value:")) from error


class _Session(socketserver.BaseRequestHandler):
    server: MsqlServer

    def handle(self) -> None:
        self._send("0:4:1.0.16\n")
        name = self._packet()
        if not name:
            return
        assert name.endswith("\n"), "the client sends its name and a newline"
        self._send("1")
        while text := self._packet():
            command, _, argument = text.partition(":")
            if command == "1":
                return
            if command == "2":
                known = argument == "e831"
                self._send("1" if known else f'-1:Unknown database "{argument}"\n')
            elif command == "3":
                with self.server.lock:
                    self._answer(argument)
            else:
                self._send("-1:Unknown command\n")

    def _answer(self, statement: str) -> None:
        try:
            found = self.server.execute(statement)
        except _Refused as refused:
            self._send(f"-1:{refused}\n")
            return
        if found.description is None:
            self._send("1")
            return
        names = [column[0] for column in found.description]
        self._send(f"1:{len(names)}")
        for row in found:
            self._send("".join("-2:" if value is None else _field(value) for value in row))
        self._send("-100\n")
        for name in names:
            self._send("".join(map(_field, ("data", name, "1", "4", "N", "N"))))
        self._send("-100\n")

    def _send(self, text: str) -> None:
        content = text.encode()
        self.request.sendall(struct.pack("<I", len(content)) + content)

    def _packet(self) -> str:
        """Empty once the client has gone."""
        head = self._bytes(4)
        if not head:
            return ""
        (length,) = struct.unpack("<I", head)
        assert length <= MAX_PACKET_BYTES, length
        return self._bytes(length).decode()

    def _bytes(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            part = self.request.recv(count - len(content))
            if not part:
                return b""
            content += part
        return content


def _field(value: object) -> str:
    text = str(value)
    return f"{len(text.encode())}:{text}"


def _doubled(literal: re.Match[str]) -> str:
    plain = re.sub(r"\\(.)", r"\1", literal[0][1:-1], flags=re.S)
    return "'" + plain.replace("'", "''") + "'"


@contextmanager
def msql_server() -> Iterator[MsqlServer]:
    """A server on a free port of this machine until the end of the block."""
    with MsqlServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
