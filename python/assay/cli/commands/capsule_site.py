"""``assay capsule site``: makes a static site of a folder of capsules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.process import say
from assay.errors import ArgumentError, AssayError, InputError, YouError
from assay.text.units import counted

if TYPE_CHECKING:
    from assay.record import ExperimentRecord
    from assay.record.capsule.capsule_file import Capsule
    from assay.report.gallery import ListedCapsule

_INDEX = "index.html"


@click.command("site")
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option(
    "--output",
    "-o",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("site"),
    help="Folder of the site, which is made.",
)
@click.option("--title", metavar="TEXT", default="Results", help="Of the first page.")
@click.option(
    "--force", cls=DestroyingOption, is_flag=True, help="Replace the site's files in that folder."
)
def command(folder: Path, output: Path, title: str, force: bool) -> int:
    """Make a static site of a folder of capsules.

    FOLDER holds files of `assay capsule pack`, NAME.assay. Each is verified; one that was
    changed, or is no capsule, is left out, and said with the reason. The first page
    is a table of them, which a reader filters and sorts in the browser: experiment,
    workload, systems, storage, machine, date, main number, verdict. Each has its
    report as a page, its file, and the command that runs it again. The reports are
    made anew from the records in the capsules. The site is plain files for any web
    server, and asks no other site for anything.

    Exit status: 0 all are on it, 2 a file was left out, or there is nothing to show.

    \b
    Example:
      assay capsule site results/ -o public/
    """
    from assay.cli.output import report_output
    from assay.record.capsule import capsule_file
    from assay.report import gallery

    capsules = _capsules(folder, capsule_file.ENDING)
    if output.exists() and not output.is_dir():
        raise InputError("expected a folder of the site, found a file", file=output)
    if output.exists() and any(output.iterdir()) and not force:
        raise InputError(
            "is not empty, and is not overwritten", file=output, hint="--force replaces its files"
        )
    entries: list[ListedCapsule] = []
    last: AssayError | None = None
    for path in capsules:
        try:
            capsule, record = _read(path)
        except AssayError as error:
            say(f"left out: {error.message}")
            last = error
        else:
            entries.append(_written(capsule, record, output))
    if not entries:
        raise ArgumentError(
            f"expected a capsule of Assay in {folder}, found none that can be shown",
            hint=last.hint if last else None,
        )
    newest_first = sorted(entries, key=lambda capsule: -capsule.facts.begun_unix_ns)
    # Last, when all that it leads to is there.
    report_output.write_file(
        output / _INDEX, gallery.gallery_page(title, newest_first).encode(), force=True
    )
    number = len(capsules) - len(entries)
    without = f"; {counted(number, 'file')} left out" if number else ""
    say(f"{counted(len(entries), 'result')} in {output / _INDEX}{without}")
    return YouError.exit_code if number else 0


def _capsules(folder: Path, ending: str) -> list[Path]:
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing there"
        raise ArgumentError(f"expected a folder of capsules, found {found}: {folder}")
    capsules = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    if not capsules:
        raise ArgumentError(
            f"expected capsules, NAME{ending}, in {folder}, found none",
            hint="`assay capsule pack EXPERIMENT -o FOLDER/NAME.assay` makes one",
        )
    return capsules


def _read(path: Path) -> tuple[Capsule, ExperimentRecord]:
    from assay.record.capsule.opening import opened_capsule

    if _report_of(path) == _INDEX:
        raise InputError(f"its report would be {_INDEX}", file=path, hint="give it another name")
    with opened_capsule(path) as found:
        return found


def _written(capsule: Capsule, record: ExperimentRecord, folder: Path) -> ListedCapsule:
    """Its files are; returns what the first page says of it. The report and all that is said of it
    are made of the record, as a capsule of someone else might hold any page."""
    from assay.cli.output import report_output
    from assay.report.gallery import ListedCapsule, facts_of, report_page

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=folder) from error
    name, report = capsule.path.name, _report_of(capsule.path)
    entry = ListedCapsule(facts_of(record), report, name, capsule.size_bytes, capsule.sha256)
    report_output.write_file(folder / report, report_page(record), force=True)
    with report_output.file_written(folder / name, force=True) as descriptor:
        capsule.copy(descriptor)
    return entry


def _report_of(path: Path) -> str:
    from assay.record.capsule import capsule_file

    return f"{path.name.removesuffix(capsule_file.ENDING)}.html"
