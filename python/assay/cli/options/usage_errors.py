"""Takes a mistake on the command line; returns a sentence that says what was expected and what was
given; and the help of commands with many options, under headings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from assay import registry
from assay.cli.options.typed_words import meaning_of_option, typed_words
from assay.contracts.setting import Heading
from assay.errors import AssayError
from assay.text import paths, pattern
from assay.text.phrases import nearest

_LONGEST_NAME = 26
"""Columns of an option with its value; a longer one has its text below."""


class Headed(click.Option):
    """An option under a heading."""

    def __init__(self, *given: Any, heading: Heading = Heading.OTHERS, **further: Any) -> None:
        super().__init__(*given, **further)
        self.heading = heading


class Grouped(click.Command):
    """A command with many options: its help has them under headings."""

    def option_groups(self, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Each heading with its options and their texts, without those headings that have none."""
        by_heading: dict[Heading, list[click.Option]] = {heading: [] for heading in Heading}
        for option in self.params:
            if not isinstance(option, click.Option):
                continue
            heading = option.heading if isinstance(option, Headed) else Heading.OTHERS
            by_heading[heading].append(option)
        for heading, options in by_heading.items():
            if heading is Heading.OUTPUT and (own := self.get_help_option(ctx)):
                options.append(own)
            if records := [record for one in options if (record := one.get_help_record(ctx))]:
                yield heading, records

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, records in self.option_groups(ctx):
            with formatter.section(heading):
                # Padded, so that the texts of all headings begin in the same column.
                padded = [(f"{name:<{_LONGEST_NAME}}", text) for name, text in records]
                formatter.write_dl(padded, col_max=_LONGEST_NAME)


class DestroyingOption(Headed):
    """Allows something to be erased or replaced: never suggested for another word."""


_CHOICE = pattern(r"(?P<found>.*) is not one of .*\.", re.DOTALL)


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
        if meant := meaning_of_option(
            error.option_name, [one for param in params for one in param.opts]
        ):
            return f"there is no option {error.option_name}; {meant}"
        from assay.experiment.settings_validation import setting_known_as

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
        if "--input" in options and (joined := _how_several(extra[1], _context(error))):
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


def _how_several(words: str, context: click.Context) -> str:
    """How several workloads or scripts are measured or checked; empty: the first of the words is
    neither."""
    word = words if paths.exists(Path(words)) else words.partition(" ")[0]
    is_check = context.info_name == "check" and "--explain" not in typed_words(context)
    if is_check and (registry.is_workload(word) or paths.is_file(Path(word))):
        return f"check each by itself: assay check {shlex.quote(word)}"
    if registry.is_workload(word):
        return registry.ONE_WORKLOAD
    from assay.workload import ad_hoc_script

    if ad_hoc_script.is_script(word) and paths.is_file(Path(word)):
        scripts = filter(ad_hoc_script.is_script, typed_words(context))
        first = next((one for one in scripts if one != word), "FIRST")
        return f"{first},{word} measures each script, -f {first} -f {word} a mix of them"
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
    from assay.text.phrases import alternatives

    return alternatives(map(str, param.type.choices))


def _name(error: click.BadParameter) -> str:
    """As it is typed, or the variable of the environment that has the value."""
    if isinstance(error.param, click.Option) and isinstance(error.param.envvar, str):
        name = error.param.name or ""
        if _context(error).get_parameter_source(name) is click.core.ParameterSource.ENVIRONMENT:
            return error.param.envvar
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    if isinstance(error.param, click.Argument):
        return ""
    return str(error.param_hint or "")
