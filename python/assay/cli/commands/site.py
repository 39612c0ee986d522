"""``assay site``: makes a static site of a folder of capsules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.process.outcome import say
from assay.errors import ArgumentError, InputError
from assay.text.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.report.gallery.gallery import ListedCapsule

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
def command(folder: Path, output: Path, title: str, force: bool) -> None:
    """Make a static site of a folder of capsules.

    FOLDER holds files of `assay pack`, NAME.assay. Each is verified. The first page
    is a table of them, which a reader filters and sorts in the browser: experiment,
    workload, systems, storage, machine, date, main number, verdict. Each has its
    report as a page, its file, and the command that runs it again. The reports are
    made anew from the records in the capsules. The site is plain files for any web
    server, and asks no other site for anything.

    \b
    Example:
      assay site results/ -o public/
    """
    from assay.record.capsule import layout

    capsules = _capsules(folder, layout.ENDING)
    if output.exists() and not output.is_dir():
        raise InputError("expected a folder of the site, found a file", file=output)
    if output.exists() and any(output.iterdir()) and not force:
        raise InputError(
            "is not empty, and is not overwritten", file=output, hint="--force replaces its files"
        )
    files: dict[str, bytes] = {}
    entries = []
    for path in capsules:
        entry, of_capsule = _entry(path)
        entries.append(entry)
        files |= of_capsule
    from assay.report.gallery import gallery

    newest_first = sorted(entries, key=lambda capsule: -capsule.facts.begun_unix_ns)
    files[_INDEX] = gallery.page(title, newest_first).encode()
    _write(output, files)
    say(f"{counted(len(entries), 'result')} in {output / _INDEX}")


def _capsules(folder: Path, ending: str) -> list[Path]:
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing there"
        raise ArgumentError(f"expected a folder of capsules, found {found}: {folder}")
    capsules = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    if not capsules:
        raise ArgumentError(
            f"expected capsules, NAME{ending}, in {folder}, found none",
            hint="`assay pack EXPERIMENT -o FOLDER/NAME.assay` makes one",
        )
    return capsules


def _entry(path: Path) -> tuple[ListedCapsule, Mapping[str, bytes]]:
    """What the page says of a capsule, and its files. The report and all that is said of it are
    made of the record, as a capsule of someone else might hold any page."""
    import tempfile

    from assay.record import Store
    from assay.record.capsule import layout
    from assay.record.capsule.verifying import verified
    from assay.report.gallery.facts import facts_of
    from assay.report.gallery.gallery import ListedCapsule
    from assay.report.gallery.report_page import report_page
    from assay.text.files import shared_files

    capsule = verified(path)
    with tempfile.TemporaryDirectory(prefix="assay-site-") as name:
        file = Path(name, layout.RECORD)
        file.write_bytes(capsule.read(layout.RECORD))
        with Store(file, must_exist=True) as store:
            record = store.latest()
    _, content = shared_files.read(path, layout.MOST_BYTES)
    report = f"{path.name.removesuffix(layout.ENDING)}.html"
    if report == _INDEX:
        raise InputError(f"its report would be {_INDEX}", file=path, hint="give it another name")
    entry = ListedCapsule(facts_of(record), report, path.name, len(content), layout.digest(content))
    return entry, {
        report: report_page(record),
        path.name: content,
    }


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """The first page last, when all that it leads to is there."""
    from assay.cli.process import written_files

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=folder) from error
    for name, content in files.items():
        written_files.write(folder / name, content, force=True)
