"""The start of the program: what a command does not need is not imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from assay.cli.program import COMMANDS, group

HEAVY = ("scipy", "numpy", "altair", "vl_convert", "pandas", "starlette", "uvicorn")
IMPORTED = """
import atexit, sys
sys.argv = ["assay", *sys.argv[1:]]
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from assay.cli import main
main()
"""


def imported(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *words], capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


MOST_MODULES = {
    ("--version",): 6,
    ("--help",): 30,
    ("completion", "bash"): 32,
    ("run", "--help"): 150,
    ("run", "one.sql", "--on", "sqlite", "--transactions", "10", "--no-probe"): 460,
}
"""Of Assay, that a command imports."""


@pytest.mark.parametrize("words", MOST_MODULES, ids=" ".join)
def test_a_command_imports_few_modules(
    words: tuple[str, ...], working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(working_folder)
    (working_folder / "one.sql").write_text("select 1;\n")
    found = {name for name in imported(*words) if name.partition(".")[0] == "assay"}
    assert len(found) <= MOST_MODULES[words]


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("list", "systems"),  # asks each for its version
        ("run", "--help"),
        ("compare", "--help"),
        ("watch", "--help"),
    ],
)
def test_no_heavy_library_is_imported_at_the_start(words: tuple[str, ...]) -> None:
    assert {name for name in imported(*words) if name.partition(".")[0] in HEAVY} == set()


def test_the_list_of_commands_imports_neither_commands_nor_systems() -> None:
    found = imported("--help")
    assert not {name for name in found if name.startswith("assay.systems.")}
    assert not {name for name in found if name in {f"assay.cli.{one}" for one in COMMANDS}}


def test_the_list_of_commands_has_the_first_sentence_of_each() -> None:
    context = click.Context(group)
    for name, sentence in COMMANDS.items():
        command = group.get_command(context, name)
        assert command is not None and command.help is not None
        assert " ".join(command.help.split("\n\n")[0].split()) == sentence
