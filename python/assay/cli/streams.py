"""Takes the three standard streams as a program was given them; gives streams that can be closed,
full or a pipe without a reader, and that say so once and never in the middle of a measurement.

Standard output is for data: where it cannot be written, `OutputLost` says why. Standard error is
for people: what cannot be written there is dropped, and no result depends on it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from assay.errors import ArgumentError, AssayError, SystemUnderTestError

_HINT = "send it to a file or a pipe"
_MEASURED = "what was measured is in the record (`assay report`)"


class OutputLost(AssayError):
    """Standard output cannot be written. Without a message: its reader has enough (`… | head`)."""

    def __init__(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            super().__init__("")
            self.exit_code = 0
            return
        reason = os.strerror(error.errno) if error.errno else str(error)
        is_closed = error.errno == errno.EBADF
        super().__init__(
            "standard output is closed" if is_closed else f"writing standard output: {reason}",
            hint=_HINT if is_closed else f"free some space there, or {_HINT}",
        )
        self.exit_code = (ArgumentError if is_closed else SystemUnderTestError).exit_code


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Inside, ``sys.stdout`` and ``sys.stderr`` are such streams, and descriptors 0 to 2 are taken:
    a file opened later can never be in the place of a closed one."""
    before = sys.stdout, sys.stderr
    _take_descriptors()
    sys.stdout = cast(TextIO, Output(before[0]))
    sys.stderr = cast(TextIO, _Messages(before[1]))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextlib.contextmanager
def status_at_least(status: int) -> Iterator[None]:
    """Output that is lost inside does not hide that what was measured ended with ``status``, and
    is on record."""
    try:
        yield
    except OutputLost as lost:
        lost.exit_code = status or lost.exit_code
        lost.hint = f"{lost.hint}; {_MEASURED}" if lost.hint else None
        raise


class _Stream:
    """What both have of the stream that they stand for. Bytes do not pass here: whoever found a
    ``buffer`` could write beside us."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:
        return getattr(self._stream, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str | None:
        return getattr(self._stream, "errors", None)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def _discard(self) -> None:
        """From now on all goes nowhere, also what is in the buffer: Python flushes it at exit."""
        if self._stream is None:
            return
        with contextlib.suppress(OSError, ValueError):  # ValueError: a stream without a file
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)
            self._stream.flush()


class Output(_Stream):
    """Standard output, which raises `OutputLost`, and once it has done so always: some libraries
    try a stream first and pass over what it raises."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__(stream)
        self._lost: OSError | None = None

    def write(self, text: str) -> int:
        with self._raising():
            return self._given().write(text)

    def flush(self) -> None:
        with self._raising():
            if self._stream is not None:
                self._stream.flush()

    def fileno(self) -> int:
        """For those who write more than text; what is here already stands before it."""
        self.flush()
        with self._raising():
            return self._given().fileno()

    def reconfigure(self, **how: Any) -> None:
        change = getattr(self._stream, "reconfigure", None)
        if change is not None:
            change(**how)

    def _given(self) -> TextIO:
        if self._stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._stream

    @contextlib.contextmanager
    def _raising(self) -> Iterator[None]:
        if self._lost is not None:
            raise OutputLost(self._lost)
        try:
            yield
        except OSError as error:
            if isinstance(error, ValueError):  # io.UnsupportedOperation: a stream without a file
                raise
            self._lost = error
            self._discard()
            raise OutputLost(error) from error


class _Messages(_Stream):
    """Standard error, which loses what it cannot write."""

    def write(self, text: str) -> int:
        if self._stream is not None:
            try:
                self._stream.write(text)
            except OSError:
                self._discard()
        return len(text)

    def flush(self) -> None:
        if self._stream is not None:
            try:
                self._stream.flush()
            except OSError:
                self._discard()

    def fileno(self) -> int:
        if self._stream is None:
            return 2
        return self._stream.fileno()


def _take_descriptors() -> None:
    """A closed descriptor is the next one that a file gets: a message would be written into it."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDONLY if descriptor == 0 else os.O_WRONLY)
            os.dup2(null, descriptor, inheritable=True)
            if null != descriptor:
                os.close(null)
