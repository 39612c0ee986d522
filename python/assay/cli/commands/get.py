"""``assay get``: downloads a data set."""

from __future__ import annotations

from pathlib import Path

import click

from assay import registry
from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.process import say
from assay.load.row_sources.protocol import Download
from assay.text.phrases import did_you_mean


class DataSets(click.Group):
    """Its error about an unknown data set suggests the nearest name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            raise click.UsageError(
                f"there is no data set {args[0]!r} to get; {did_you_mean(args[0], names)}",
                ctx,
            )
        return super().resolve_command(ctx, args)


@click.group("get", cls=DataSets)
def command() -> None:
    """Download a data set for workloads.

    Workloads that need it find it there; `--to FOLDER` keeps it elsewhere, for
    `assay run --input FOLDER`.

    \b
    Example:
      assay get beebe
    """


def _command(download: Download) -> click.Command:
    @click.command(
        download.name,
        help=f"Get {download.help}\n\n\b\nExample:\n  assay get {download.name} --to folder",
    )
    @click.option(
        "--to",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Folder for the files. [default: the user's data folder]",
    )
    @click.option(
        "--force",
        cls=DestroyingOption,
        is_flag=True,
        help="Download files again that already exist, and replace them.",
    )
    def get(to: Path | None, force: bool) -> None:
        click.echo(download.get(to, say, force))

    return get


for _name in registry.row_sources():
    for _download in registry.row_source(_name).downloads:
        command.add_command(_command(_download))
