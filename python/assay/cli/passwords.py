"""Takes an experiment; asks on the terminal for the passwords that its servers need.

A server is asked first whether it needs one. Without a terminal nothing is asked, and the run says
what is missing.
"""

from __future__ import annotations

import getpass
import sys
import warnings
from contextlib import ExitStack, suppress
from dataclasses import replace

from assay import registry, server_url
from assay.errors import AssayError, PasswordNeeded
from assay.experiment import Experiment, SystemChoice
from assay.systems.abilities import ReachedByUrl


def with_passwords(experiment: Experiment) -> Experiment:
    """The experiment, in whose URLs stand the passwords that were typed."""
    if not any(one.url for one in experiment.systems) or not _has_terminal():
        return experiment
    return replace(experiment, systems=tuple(map(_with_password, experiment.systems)))


def _has_terminal() -> bool:
    if not sys.stderr.isatty():
        return False
    with suppress(OSError), open("/dev/tty"):  # noqa: PTH123  (a device, not a file of anybody)
        return True
    return False


def _with_password(choice: SystemChoice) -> SystemChoice:
    if choice.url is None or not _needs_password(choice):
        return choice
    user = server_url.parts(choice.url).user
    place = f"{choice.name} {user}{'@' if user else ''}{server_url.place(choice.url)}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", getpass.GetPassWarning)
        try:
            typed = getpass.getpass(f"Password for {place}: ")
        except EOFError:
            return choice  # the server says what is missing
    return replace(
        choice,
        url=server_url.with_password(choice.url, typed),
        url_origins={**choice.url_origins, "password_from": "typed"},
    )


def _needs_password(choice: SystemChoice) -> bool:
    """Whether the server says so. What else is wrong the run says itself."""
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
