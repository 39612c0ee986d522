"""Takes a command with many options; its help has them under headings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from assay.contracts.setting import Heading

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
