"""Runs a program in its environment and with its streams; returns its exit status, prints errors on
standard error, and says what the operating system refused."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import resource
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO, cast

import click

from assay.contracts.stop import INTERRUPTED, Stopped
from assay.errors import ArgumentError, AssayError, MachineLimit, SystemUnderTestError, YouError
from assay.plugin_failures import plugin_failures
from assay.provision.machine.signals import stopped_by_signals
from assay.text.paths import shown_if_not_utf8
from assay.text.secrets import without_secrets
from assay.text.terminal import indented, visible_lines, with_ascii_forms
from assay.text.units import size

BUG = 4


def outcome_of(program: str, work: Callable[[], int | None]) -> int:
    """Runs ``work``; returns the exit status."""
    keep_own_rights()
    with standard_streams():
        try:
            with stopped_by_signals(_say_at_once), plugin_failures():
                status = work() or 0
                sys.stdout.flush()
                return status
        except (KeyboardInterrupt, click.Abort) as error:
            return _ended(error)
        except click.UsageError as error:
            # Here: it knows every setting, which no other end of a program needs.
            from assay.cli.options.usage_errors import sentence

            say_error(sentence(error), hint=_usage_hint(program, error))
            return YouError.exit_code
        except click.ClickException as error:
            say_error(error.format_message())
            return YouError.exit_code
        except Exception as error:
            return _failed(error)


def _failed(raised: Exception) -> int:
    """Prints the error; returns the exit status."""
    error = cause_of(raised) or raised
    if not isinstance(error, AssayError):
        say_bug(error)
        return BUG
    if error.message:
        say_error(error.message, hint=error.hint)
    for further in error.further if isinstance(error, YouError) else ():
        say("")
        say_error(further.message, hint=further.hint)
    return error.exit_code


def _say_at_once(line: str) -> None:
    """Prints a line from a signal handler, where buffered streams must not be used."""
    with contextlib.suppress(OSError):
        os.write(2, f"{line}\n".encode())


def _ended(error: BaseException) -> int:
    """Exit status after Ctrl-C or a termination signal, which click wraps in `Abort`."""
    cause = error.__cause__ if isinstance(error, click.Abort) else error
    if isinstance(cause, Stopped) and cause.reason.name:
        say(f"ended by {cause.reason.name}")
        return cause.reason.exit_code
    say("interrupted")
    return INTERRUPTED


def say(text: str) -> None:
    """Prints one or more lines on standard error, without the passwords in them."""
    sys.stderr.write(indented(without_secrets(text)) + "\n")
    sys.stderr.flush()


def is_at_terminal() -> bool:
    """Whether a user can be asked. A caller may have closed standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def raise_all(errors: Sequence[YouError]) -> None:
    """Raises the first one, with the others beside it; nothing where there is none."""
    for error in errors:
        error.further = errors[1:]
        raise error


def say_error(message: str, *, hint: str | None = None) -> None:
    """Prints ``error: …``, and after a blank line ``hint: …`` where there is a fix."""
    say(f"error: {message}")
    if hint:
        say("")
        say(f"hint: {hint}")


def say_bug(error: Exception) -> None:
    """Prints an internal error in one line, and writes its traceback to a file for a bug report."""
    say_error(f"internal error in Assay: {type(error).__name__}: {error}")
    import tempfile

    # A full temporary directory must not hide the error.
    with (
        contextlib.suppress(OSError),
        tempfile.NamedTemporaryFile(
            "w",
            prefix="assay-bug-",
            suffix=".txt",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as file,
    ):
        file.write(without_secrets("".join(traceback.format_exception(error))))
        say("")
        say(f"hint: please report it with {file.name}")


def _usage_hint(program: str, error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else program
    if isinstance(error, click.NoSuchOption) and error.option_name[1:].isdecimal():
        return "experiments and runs are numbered from 1: see `assay list runs`"
    return f"`{command} --help` lists the arguments and options"


_OWN_RIGHTS = 0o700
_PROC = Path("/proc/self")
_OF_A_NAME = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EISDIR: "it is a directory",
    errno.ELOOP: "it is a symbolic link in a loop of links",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOTDIR: "a part of the path is not a directory",
    errno.EROFS: "the file system is read-only",
}
"""What makes another path necessary: Assay never names one of these by itself."""
_OF_THE_MACHINE = {
    errno.EDQUOT: "the disk quota of this user is used up",
    errno.EFBIG: "a file reached the limit of the size of files",
    errno.EIO: "the device failed (input/output error)",
    errno.EMFILE: "this process has too many open files",
    errno.ENFILE: "this machine has too many open files",
    errno.ENODEV: "there is no such device",
    errno.ENOSPC: "the disk is full",
    errno.ENXIO: "there is no such device",
    errno.ESTALE: "its file system is no longer there",
    errno.ETXTBSY: "it is a program that runs",
}
_TOO_MANY_DIGITS = "Exceeds the limit ("
"""The beginning of what `int` says of a text, and `str` of a number, that is too long."""
_NO_TEMPORARY = "No usable temporary directory"
"""The beginning of what `tempfile` says."""


def keep_own_rights() -> None:
    """Clears the owner's bits of the umask: with ``umask 777`` Assay could not open its own files.
    The bits of group and others stay."""
    mask = os.umask(0o077)
    os.umask(mask & ~_OWN_RIGHTS)


def cause_of(error: Exception) -> AssayError | None:
    """What about the process's surroundings explains an error; None: nothing."""
    if _has_no_working_directory():
        return ArgumentError(
            "the working directory has been removed", hint="cd to a directory that exists"
        )
    if isinstance(error, AssayError):
        return None
    if isinstance(error, MemoryError):
        return _no_memory()
    if isinstance(error, OSError) and not _PROC.exists():
        return MachineLimit(
            "expected the kernel's files in /proc, found none", hint="mount -t proc proc /proc"
        )
    if refused := _refused(error):
        return refused
    if isinstance(error, ValueError) and str(error).startswith(_TOO_MANY_DIGITS):
        return ArgumentError(
            f"expected numbers of at most {sys.get_int_max_str_digits():,} digits, found a longer "
            "one",
            hint="write a shorter number in the arguments, or in the file that they name",
        )
    if isinstance(error, ValueError) and _has_no_time_zone():
        return ArgumentError(
            f"expected a time zone less than 24 hours from UTC, found TZ={os.environ.get('TZ')}",
            hint="set TZ to a name such as Europe/Zurich or UTC, or unset it",
        )
    return None


def _refused(error: Exception) -> AssayError | None:
    """What the operating system refused to do with a file. None: a path that Assay should not have
    used, or another error."""
    # `Path.resolve` raises a RuntimeError in place of the error that says so.
    reason = error.__context__ if isinstance(error, RuntimeError) else error
    if not isinstance(reason, OSError):
        return None
    if str(reason.strerror).startswith(_NO_TEMPORARY):
        return MachineLimit(
            "expected a directory for temporary files, found none that can be written",
            hint="set TMPDIR to a directory that you may write",
        )
    number, path = reason.errno or 0, reason.filename
    place = f"{os.fsdecode(path)}: " if isinstance(path, str | bytes) else ""
    if number in _OF_A_NAME and place:
        return ArgumentError(f"{place}{_OF_A_NAME[number]}", hint="use another path")
    if number in _OF_THE_MACHINE:
        return MachineLimit(f"{place}{_OF_THE_MACHINE[number]}")
    return None


def _no_memory() -> MachineLimit:
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit_bytes == resource.RLIM_INFINITY:
        return MachineLimit("no memory is left", hint="stop other programs, or use less data")
    return MachineLimit(
        f"no memory is left: the limit of this process is {size(limit_bytes)} of address space",
        hint="`ulimit -v unlimited` removes the limit",
    )


def _has_no_time_zone() -> bool:
    try:
        datetime.now().astimezone()
    except ValueError:
        return True
    return False


def _has_no_working_directory() -> bool:
    """Whether the working directory has been removed, so that relative paths do not resolve."""
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return True
    return False


def refuse_other_encodings(words: Iterable[str]) -> None:
    """Raises `ArgumentError` for an argument that is not UTF-8: records, reports and the engine
    hold names as text."""
    for word in words:
        if shown := shown_if_not_utf8(word):
            raise ArgumentError(
                f"expected arguments in UTF-8, found {shown}",
                hint="set LC_ALL=C.UTF-8, without PYTHONUTF8=0; rename a file whose name is in "
                "another encoding",
            )


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
        """For `assay.text.terminal.as_it_is`."""
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
