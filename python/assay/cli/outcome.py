"""Takes what a program does; gives its exit status, and says on standard error what went wrong.

0 done · 1 the run failed · 2 you · 3 the system under test · 4 a bug of ours · 130 interrupted ·
128 + n ended by signal n.
Standard output is for data alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import click

from assay.errors import AssayError, YouError
from assay.provision.signals import Terminated, raise_on_termination

INTERRUPTED = 130
BUG = 4


def outcome_of(program: str, work: Callable[[], int | None]) -> int:
    """Runs ``work`` and turns however it ends into an exit status."""
    try:
        with raise_on_termination():
            status = work() or 0
            sys.stdout.flush()
            return status
    except BrokenPipeError:
        # Whoever read our output has enough (`… | head`): no error, and nothing more to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, click.Abort) as error:
        return _ended(error)
    except click.UsageError as error:
        say_error(error.format_message(), hint=_usage_hint(program, error))
        return YouError.exit_code
    except click.ClickException as error:
        say_error(error.format_message())
        return YouError.exit_code
    except AssayError as error:
        say_error(error.message, hint=error.hint)
        return error.exit_code
    except Exception as error:
        say_bug(error)
        return BUG


def _ended(error: BaseException) -> int:
    """Exit status of a program that a person or a signal ended; click wraps what it catches."""
    cause = error.__cause__ if isinstance(error, click.Abort) else error
    if isinstance(cause, Terminated):
        say(f"ended by {cause.number.name}")
        return cause.exit_code
    say("interrupted")
    return INTERRUPTED


def say(line: str) -> None:
    """A line for the person at the terminal."""
    click.echo(line, err=True)


def say_error(message: str, *, hint: str | None = None) -> None:
    """``error: …``, and after a blank line ``hint: …`` where there is a cure."""
    say(f"error: {message}")
    if hint:
        say(f"\nhint: {hint}")


def say_bug(error: Exception) -> None:
    """One line about a bug; the traceback goes to a file that can be sent in."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="assay-bug-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write("".join(traceback.format_exception(error)))
    say(f"error: this is a bug in Assay: {type(error).__name__}: {error}")
    say(f"\nhint: please report it with {Path(file.name)}")


def _usage_hint(program: str, error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else program
    return f"`{command} --help` says what can stand here"
