"""Takes an experiment; prompts for the passwords that its servers need, and returns it with them.

It tries to connect first, and prompts only if the server requires a password. Without a terminal it
does not prompt, and the run fails with a message about the missing password.
"""

from __future__ import annotations

import getpass
import sys
import warnings
from contextlib import ExitStack, suppress
from dataclasses import replace

from assay import registry
from assay.cli.output.report_output import said_meanwhile
from assay.contracts import server_url
from assay.contracts.systems.abilities import ReachedByUrl
from assay.errors import AssayError, PasswordNeeded
from assay.experiment import Experiment, SystemChoice


def with_passwords(experiment: Experiment) -> Experiment:
    """The experiment, with the typed passwords in its URLs."""
    if not any(system.url for system in experiment.systems) or not _has_terminal():
        return experiment
    return replace(experiment, systems=tuple(map(_with_password, experiment.systems)))


def _has_terminal() -> bool:
    if not sys.stderr.isatty():
        return False
    with suppress(OSError), open("/dev/tty"):  # noqa: PTH123  (a device, not a regular file)
        return True
    return False


def _with_password(choice: SystemChoice) -> SystemChoice:
    if choice.url is None:
        return choice
    user = server_url.parts(choice.url).user
    place = f"{choice.name} {user}{'@' if user else ''}{server_url.place(choice.url)}"
    with said_meanwhile(f"connecting to {place} …"):
        is_needed = _needs_password(choice)
    if not is_needed:
        return choice
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", getpass.GetPassWarning)
        try:
            typed = getpass.getpass(f"Password for {place}: ")
        except EOFError:
            return choice  # connecting will fail with a message about the password
    if not typed:
        none = {**choice.url_origins, "password_from": "none was typed"}
        return replace(choice, url_origins=none)
    return replace(
        choice,
        url=server_url.with_password(choice.url, typed),
        url_origins={**choice.url_origins, "password_from": "typed"},
    )


def _needs_password(choice: SystemChoice) -> bool:
    """Whether the server requires a password. Other errors are reported by the run."""
    with ExitStack() as stack:
        try:
            system = registry.system(choice.name)
            if isinstance(system, ReachedByUrl):
                stack.enter_context(system.attach(choice))
        except PasswordNeeded:
            return True
        except AssayError:
            return False
    return False
