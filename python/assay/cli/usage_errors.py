"""Takes a mistake on the command line as click has it; returns a sentence that says what was
expected and what was found."""

from __future__ import annotations

import re

import click

from assay.text.alternatives import alternatives
from assay.text.nearest import nearest

EXPERIMENT_COMMANDS = ("run", "plan", "explain")
_URL = "part of the URL: --on SYSTEM://USER@HOST:PORT/DATABASE"
PGBENCH_OPTIONS = {
    "-n": "not needed: no table is vacuumed before a run; leave it out",
    "-N": "the test tpcb.simple-update",
    "-S": "the test tpcb.select-only",
    "-b": "a test: tpcb.tpcb-like, tpcb.simple-update or tpcb.select-only",
    "-C": "--connection 'per transaction'",
    "-l": "not needed: the record keeps the latencies of every run; see `assay report`",
    "-i": "not needed: `assay run tpcb --scale N` loads the tables",
    "-P": "--progress SECONDS",
    "-r": "--per-statement",
    "-h": _URL,
    "-p": _URL,
    "-U": _URL,
    "-d": _URL,
}
"""What is called otherwise here, or is not needed."""

_CHOICE = re.compile(r"(?P<found>.*) is not one of .*\.", re.DOTALL)


def sentence(error: click.UsageError) -> str:
    """``--arrival: expected closed, constant or poisson, found 'x'``."""
    if isinstance(error, click.MissingParameter):
        return _missing(error)
    if isinstance(error, click.BadParameter):
        said = _CHOICE.fullmatch(error.message)
        levels = _levels(error.param)
        what = f"expected {levels}, found {said['found']}" if said and levels else error.message
        name = _name(error)
        return f"{name}: {what}" if name else what
    if isinstance(error, click.NoSuchOption):
        meant = PGBENCH_OPTIONS.get(error.option_name)
        if meant and _context(error).info_name in EXPERIMENT_COMMANDS:
            return (
                f"there is no option {error.option_name}; pgbench's {error.option_name} is {meant}"
            )
        options = [one for param in _context(error).command.params for one in param.opts]
        near = nearest(error.option_name, [one for one in options if one[:2] == "--"])
        guess = f"; did you mean {near}?" if near else ""
        return f"there is no option {error.option_name}{guess}"
    if isinstance(error, click.BadOptionUsage):
        if "requires" in error.message:
            return f"{error.option_name}: expected a value, found none"
        if "does not take a value" in error.message:
            return f"{error.option_name}: expected no value"
    extra = re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", error.message, re.DOTALL)
    if extra:
        return f"expected no further argument, found {extra[1]}"
    return error.format_message()


def _missing(error: click.MissingParameter) -> str:
    levels = _levels(error.param)
    if isinstance(error.param, click.Argument):
        return f"expected {levels or error.param.make_metavar(_context(error))}, found nothing"
    return f"{_name(error)} is missing" + (f": expected {levels}" if levels else "")


def _context(error: click.UsageError) -> click.Context:
    return error.ctx or click.get_current_context()


def _levels(param: click.Parameter | None) -> str:
    if param is None or not isinstance(param.type, click.Choice):
        return ""
    return alternatives(map(str, param.type.choices))


def _name(error: click.BadParameter) -> str:
    """As it is typed."""
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    if isinstance(error.param, click.Argument):
        return ""
    return str(error.param_hint or "")
