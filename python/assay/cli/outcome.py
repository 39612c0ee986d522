"""Takes what a program does; gives its exit status, and says on standard error what went wrong.

0 done · 1 a measured run failed · 2 your mistake · 3 the system under test or the machine · 4 an
internal error · 130 interrupted · 128 + n ended by signal n.
Standard output is for data alone; what becomes of it is in `assay.cli.streams`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
from collections.abc import Callable

import click

from assay.cli.streams import standard_streams
from assay.cli.surroundings import (
    has_no_working_directory,
    keep_own_rights,
    no_working_directory,
)
from assay.errors import AssayError, YouError
from assay.provision.signals import Terminated, raise_on_termination
from assay.text.visible import indented

INTERRUPTED = 130
BUG = 4


def outcome_of(program: str, work: Callable[[], int | None]) -> int:
    """Runs ``work`` and turns however it ends into an exit status."""
    keep_own_rights()
    with standard_streams():
        try:
            with raise_on_termination(_say_at_once):
                status = work() or 0
                sys.stdout.flush()
                return status
        except (KeyboardInterrupt, click.Abort) as error:
            return _ended(error)
        except click.UsageError as error:
            # click sets its lists apart with tabs.
            message = error.format_message().expandtabs(4)
            say_error(message, hint=_usage_hint(program, error))
            return YouError.exit_code
        except click.ClickException as error:
            say_error(error.format_message())
            return YouError.exit_code
        except Exception as error:
            return _failed(error)


def _failed(raised: Exception) -> int:
    """Says what went wrong; gives the exit status."""
    error = no_working_directory() if has_no_working_directory() else raised
    if not isinstance(error, AssayError):
        say_bug(error)
        return BUG
    if error.message:
        say_error(error.message, hint=error.hint)
    return error.exit_code


def _say_at_once(line: str) -> None:
    """A line from within a signal's handler, where no buffered stream may be touched."""
    with contextlib.suppress(OSError):
        os.write(2, f"{line}\n".encode())


def _ended(error: BaseException) -> int:
    """Exit status of a program that a person or a signal ended; click wraps what it catches."""
    cause = error.__cause__ if isinstance(error, click.Abort) else error
    if isinstance(cause, Terminated):
        say(f"ended by {cause.number.name}")
        return cause.exit_code
    say("interrupted")
    return INTERRUPTED


def say(text: str) -> None:
    """A line for the person at the terminal, or a few."""
    sys.stderr.write(indented(text) + "\n")
    sys.stderr.flush()


def say_error(message: str, *, hint: str | None = None) -> None:
    """``error: …``, and after a blank line ``hint: …`` where there is a cure."""
    say(f"error: {message}")
    if hint:
        say("")
        say(f"hint: {hint}")


def say_bug(error: Exception) -> None:
    """One line about a bug; the traceback goes to a file that can be sent in."""
    say_error(f"this is a bug in Assay: {type(error).__name__}: {error}")
    # No room in the temporary directory must not hide what happened.
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
        file.write("".join(traceback.format_exception(error)))
        say("")
        say(f"hint: please report it with {file.name}")


def _usage_hint(program: str, error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else program
    if isinstance(error, click.NoSuchOption) and error.option_name[1:].isdecimal():
        return "experiments and runs are numbered from 1: see `assay list runs`"
    return f"`{command} --help` says what can stand here"
