"""Takes a command with many options; its help has them under headings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "What to run": (
        "on", "storage", "erase", "price", "required_rate_per_s", "cache", "set", "script", "scale",
        "input", "encoding", "keep_going", "feed", "only", "quick", "is_new",
    ),
    "The server's machine": ("memory", "cpus", "rtt"),
    "Clients and time": (
        "clients", "client_program", "threads", "duration_s", "transactions", "warm_up_s",
        "ramp_up_s", "drain_s",
    ),
    "Arrivals and pauses": (
        "arrival", "offered_rate_per_s", "latency_limit_s", "think_time", "keying_time",
    ),
    "Sessions and transactions": (
        "protocol", "isolation", "connection", "reconnect", "retries", "per_statement",
        "allow_shell",
    ),
    "Repetitions": ("repetitions", "precision", "budget_s", "order", "seed"),
    "Loading": ("load_sessions", "verify", "datasets"),
    "Storages": ("probe_s", "no_probe", "no_durability"),
    "Output": ("log", "log_sample", "form", "detail", "progress_s", "records"),
}  # fmt: skip
"""Headings of `--help`, and the options under each by their names in the program."""
_LONGEST_NAME = 26
"""Columns of an option with its value; a longer one has its text below."""


class Grouped(click.Command):
    """A command with many options: its help has them under headings."""

    def option_groups(self, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Each heading with its options and their texts, without those headings that have none."""
        found = {one.name: one for one in self.params if isinstance(one, click.Option)}
        others = [name for name in found if name not in sum(HEADINGS.values(), ())]
        for heading, names in {**HEADINGS, "Others": others}.items():
            options = [found[name] for name in names if name in found]
            if heading == "Output" and (own := self.get_help_option(ctx)):
                options.append(own)
            if records := [record for one in options if (record := one.get_help_record(ctx))]:
                yield heading, records

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, records in self.option_groups(ctx):
            with formatter.section(heading):
                # Padded, so that the texts of all headings begin in the same column.
                padded = [(f"{name:<{_LONGEST_NAME}}", text) for name, text in records]
                formatter.write_dl(padded, col_max=_LONGEST_NAME)
