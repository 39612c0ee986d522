"""Takes a mistake on the command line as click has it; returns a sentence that says what was
expected and what was found."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path

import click

from assay import registry
from assay.cli.options.grouped_help import Headed
from assay.cli.options.other_tools import meaning
from assay.cli.options.typed_words import typed_words
from assay.errors import AssayError
from assay.text.files import paths
from assay.text.nearest import nearest


class DestroyingOption(Headed):
    """Allows something to be erased or replaced: never suggested for another word."""


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
        params = _context(error).command.params
        if parameter := _parameter(error.option_name, _context(error)):
            return f"there is no option {error.option_name}; {parameter}"
        if meant := meaning(error.option_name, [one for param in params for one in param.opts]):
            return f"there is no option {error.option_name}; {meant}"
        from assay.experiment.settings.other_names import setting_known_as

        setting = setting_known_as(error.option_name.removeprefix("--"))
        if setting is not None and any(setting.option in param.opts for param in params):
            return f"there is no option {error.option_name}; did you mean {setting.option}?"
        safe = [param for param in params if not isinstance(param, DestroyingOption)]
        options = [one for param in safe for one in param.opts if one[:2] == "--"]
        near = nearest(error.option_name, options)
        guess = f"; did you mean {near}?" if near else ""
        return f"there is no option {error.option_name}{guess}"
    if isinstance(error, click.BadOptionUsage):
        if "requires" in error.message:
            return f"{error.option_name}: expected a value, found none"
        if "does not take a value" in error.message:
            return f"{error.option_name}: expected no value"
    extra = re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", error.message, re.DOTALL)
    if extra:
        found = f"expected no further argument, found {extra[1]}"
        options = [one for param in _context(error).command.params for one in param.opts]
        if "--input" in options and (joined := _how_several(extra[1])):
            found += f"; {joined}"
        elif "--records" in options and paths.exists(Path(extra[1])):
            found += f"; a record file is named with --records {shlex.quote(extra[1])}"
        return found
    return error.format_message()


def _parameter(option: str, context: click.Context) -> str:
    """``--set warehouses=2``, where the option has the name of a parameter of the workload that the
    command names; empty: it has not."""
    words = typed_words(context)
    if not any("--set" in param.opts for param in context.command.params):
        return ""
    name = option.removeprefix("--").replace("-", "_")
    place = next((n for n, word in enumerate(words) if word.partition("=")[0] == option), None)
    if place is None:
        return ""
    value = words[place].partition("=")[2] or next(iter(words[place + 1 :]), "")
    value = "VALUE" if not value or value.startswith("-") else value
    from assay.workload import reader

    for word in words:
        workload = word.partition(".")[0]
        if workload not in registry.workloads():
            continue
        with suppress(AssayError):
            if name in reader.read(workload).parameters:
                return f"a parameter of {workload} is given as --set {name}={value}"
    return ""


def _how_several(words: str) -> str:
    """How several workloads or scripts are measured; empty: the first of the words is neither."""
    word = words if paths.exists(Path(words)) else words.partition(" ")[0]
    if registry.is_workload(word):
        return registry.ONE_WORKLOAD
    from assay.workload import ad_hoc_script

    if ad_hoc_script.is_script(word) and paths.is_file(Path(word)):
        return f"FIRST,{word} measures each script, -f FIRST -f {word} a mix of them"
    return ""


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
    from assay.text.alternatives import alternatives

    return alternatives(map(str, param.type.choices))


def _name(error: click.BadParameter) -> str:
    """As it is typed."""
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    if isinstance(error.param, click.Argument):
        return ""
    return str(error.param_hint or "")
