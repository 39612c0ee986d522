"""Runs a program; returns its exit status, and prints errors on standard error.

0 done · 1 a measured run failed · 2 your mistake · 3 the system under test or the machine · 4 an
internal error · 130 interrupted · 128 + n ended by signal n (SIGHUP 129, SIGQUIT 131, SIGTERM
143). Of an experiment: `assay.record.runs.run_ends`.
Standard output is for data only (`assay.cli.process.streams`).
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable

import click

from assay.cli.process.process_environment import cause_of, keep_own_rights
from assay.cli.process.streams import standard_streams
from assay.contracts.stop import INTERRUPTED, Stopped
from assay.errors import AssayError, YouError
from assay.plugin_failures import plugin_failures
from assay.provision.machine.signals import stopped_by_signals
from assay.text.secrets import without_secrets
from assay.text.visible import indented

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
