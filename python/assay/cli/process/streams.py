"""Takes the standard streams of the process; returns streams that handle a closed descriptor, a
full device and a pipe without a reader, with one error and never in the middle of a measurement,
and characters that their encoding lacks.

Standard output is for data: `OutputLost` is raised when it cannot be written. Standard error is for
people: what cannot be written there is dropped, and no result depends on it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from assay.errors import ArgumentError, AssayError, SystemUnderTestError
from assay.text.ascii_forms import with_ascii_forms
from assay.text.visible import visible_lines

_HINT = "send it to a file or a pipe"
_MEASURED = "the results are in the record (`assay report`)"


class OutputLost(AssayError):
    """Standard output cannot be written. No message if the reader closed the pipe (`… | head`)."""

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
    """Replaces ``sys.stdout`` and ``sys.stderr`` inside, and opens descriptors 0 to 2 where they
    are closed: a file opened later must not get one of these numbers."""
    before = sys.stdout, sys.stderr
    _take_descriptors()
    sys.stdout = cast(TextIO, Output(_without_short_writes(before[0])))
    sys.stderr = cast(TextIO, _Messages(before[1]))
    with_ascii_forms(sys.stdout)
    with_ascii_forms(before[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _without_short_writes(stream: TextIO | None) -> TextIO | None:
    """The stream with a buffer, which writes until all is written. With ``PYTHONUNBUFFERED`` (as
    images for containers set it) Python has none: where a device is full after a part of a text,
    the rest would be lost without an error."""
    if stream is None or not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    return open(
        stream.fileno(),
        "w",
        buffering=1,  # each line at once, as `PYTHONUNBUFFERED` asks
        encoding=stream.encoding,
        errors=stream.errors,
        closefd=False,
    )


@contextlib.contextmanager
def status_at_least(status: int) -> Iterator[None]:
    """An `OutputLost` raised inside keeps the exit status of the run, and its hint says that the
    results are in the record."""
    try:
        yield
    except OutputLost as lost:
        lost.exit_code = status or lost.exit_code
        lost.hint = f"{lost.hint}; {_MEASURED}" if lost.hint else None
        raise


class _Stream:
    """The common part of both: wraps a text stream. It has no ``buffer``, so that no bytes can be
    written past it."""

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
        """Redirects the stream to /dev/null, including what is buffered: Python flushes at exit."""
        if self._stream is None:
            return
        with contextlib.suppress(OSError, ValueError):  # ValueError: a stream without a file
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)
            self._stream.flush()


class Output(_Stream):
    """Standard output. Whatever a command prints, and wherever it is from (a server, a record or a
    capsule of someone else), no control character is in it, but in data: see `as_it_is`. After the
    first failure every call raises `OutputLost`: some libraries try a stream first and ignore its
    exception."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__(stream)
        self._lost: OSError | None = None

    @property
    def as_it_is(self) -> Data:
        """For `assay.text.visible.as_it_is`."""
        return Data(self)

    def write(self, text: str) -> int:
        return self.write_data(visible_lines(text))

    def write_data(self, text: str) -> int:
        with self._raising():
            return self._given().write(text)

    def flush(self) -> None:
        with self._raising():
            if self._stream is not None:
                self._stream.flush()

    def fileno(self) -> int:
        """The descriptor, for writing bytes; flushes first, to keep the order."""
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
    """Standard error, which drops what it cannot write."""

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


class Data:
    """Standard output for what is written as it is."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(self, text: str) -> int:
        return self._output.write_data(text)


def _take_descriptors() -> None:
    """Opens closed descriptors 0 to 2: otherwise the next file would get one of these numbers, and
    messages would be written into it."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDONLY if descriptor == 0 else os.O_WRONLY)
            os.dup2(null, descriptor, inheritable=True)
            if null != descriptor:
                os.close(null)
