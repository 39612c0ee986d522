"""Takes an error that names options of the command line; makes it name the arguments of
`assay.run`, which the same reader checks."""

from __future__ import annotations

import re

from assay.errors import AssayError

_ARGUMENTS = {
    "bib": "input_paths", "drain": "drain_s", "duration": "duration_s", "input": "input_paths",
    "latency-limit": "latency_limit_s", "offered-rate": "offered_rate_per_s",
    "probe-seconds": "probe_s",
    "ramp-up": "ramp_up_s", "script": "scripts", "warm-up": "warm_up_s",
}  # fmt: skip
"""Options whose argument has another name."""
_SETTING = re.compile(r"--set ([\w.]+)=([\w…]+)")
_CHOICE = re.compile(r"--(arrival|think-time|keying-time|isolation) (constant|poisson|closed|none)")
_OPTION = re.compile(r"--([a-z][a-z-]*)(?: (?=(\d\S*|[A-Z][A-Z_]*\b|'[^']*'|\w+=\S+)))?")
"""An option with its value, which is a number, a placeholder, in quotes, or with a group's name."""


def as_arguments(error: AssayError) -> None:
    """Changes the message and the hint."""
    error.message = _with_arguments(error.message)
    error.hint = None if error.hint is None else _with_arguments(error.hint)
    error.args = (error.message,)


def _with_arguments(text: str) -> str:
    """``duration_s=30`` for ``--duration 30``, ``clients`` for ``--clients``."""
    text = _SETTING.sub(r'set={"\1": \2}', text)
    text = _CHOICE.sub(lambda found: f'{_argument(found[1])}="{found[2]}"', text)
    return _OPTION.sub(
        lambda found: _argument(found[1]) + ("=" if found[2] is not None else ""), text
    )


def _argument(option: str) -> str:
    return _ARGUMENTS.get(option, option.replace("-", "_"))
