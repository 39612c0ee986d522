"""Help of every command, and the commands that start no server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from assay.cli.program import COMMANDS, HELP_NAMES, group, run_program


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {one}", command.commands[one]) for one in command.commands)


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_help_has_a_line_an_example_and_every_option(
    name: str, command: click.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program([*name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert f"Example:\n    assay {name}" in text
    assert command.help is not None
    assert command.help.split("\n\n")[0].endswith(".")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in COMMANDS)


def test_a_plan_takes_every_option_of_a_run() -> None:
    """So that the one word can be changed into the other."""
    options = {name: {one.name for one in command.params} for name, command in commands()}
    assert options["plan"] == options["run"]
    words = "plan tpcb --on sqlite --no-probe --progress 1 --verify"
    assert run_program(words.split()) == 0


def test_a_plan_is_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    words = "plan bibsql.parallel --on sqlite --clients 1,8 --repetitions 2 --format json"
    assert run_program(words.split()) == 0
    out, said = capsys.readouterr()
    assert "space on here: about " in said
    runs = json.loads(out)
    assert [(run["repetition"], run["clients"]) for run in runs] == [(1, 1), (1, 8), (2, 8), (2, 1)]


def test_statements_alone_make_a_file_for_a_client(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["explain", "bibsql", "--on", "sqlite", "--format", "sql"]) == 0
    text = capsys.readouterr().out
    assert text.count(";\n") == 28
    assert "\\expect" not in text
    assert text.startswith("-- S01: ISBN without ISBN-13\nselect filename, label from bibtab\n")


def test_lists_name_everything_available(capsys: pytest.CaptureFixture[str]) -> None:
    for what, known in (("systems", "sqlite"), ("workloads", "bibsql.limit"), ("storages", "here")):
        assert run_program(["list", what, "--format", "json"]) == 0
        assert known in capsys.readouterr().out


def test_existing_files_are_not_downloaded_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.load.bibsql import beebe

    for name in beebe.manifest().files:
        (tmp_path / name).write_text("% nothing\n")
    assert run_program(["get", "beebe", "--to", str(tmp_path)]) == 0
    out, expected = capsys.readouterr()
    assert out == f"{tmp_path}\n"
    assert "tugboat.bib has 10 bytes, expected 3,842,964" in expected


@pytest.mark.parametrize("columns", ["1", "0", "-1", "abc", "20", "1000000", ""])
def test_help_works_at_any_terminal_width(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.chdir(tmp_path)
    Path("one.sql").write_text("select 1;\n")
    words = ["run", "one.sql", "--on", "null", "--transactions", "1"]
    assert run_program([*words, "--records", "r.sqlite"]) == 0
    assert run_program(["report", "--records", "r.sqlite", "--detail"]) == 0
    assert run_program(["run", "--help"]) == 0


@pytest.mark.parametrize(
    "words", ["list runs --records pipe", "merge pipe", "merge r.sqlite --records pipe"]
)
def test_a_pipe_is_refused_as_a_record(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    run = ["run", "one.sql", "--on", "null", "--transactions", "1", "--records", "r.sqlite"]
    Path("one.sql").write_text("select 1;\n")
    assert run_program(run) == 0
    capsys.readouterr()
    assert run_program(words.split()) == 2
    assert "pipe: expected a file of records" in capsys.readouterr().err


def test_a_latency_limit_is_none_or_long_enough_to_be_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = ["plan", "tpcb", "--on", "null", "--latency-limit"]
    assert run_program([*plan, "0"]) == 0
    assert run_program([*plan, "1e-9"]) == 2
    assert "expected 0 or a number of milliseconds from 0.001" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["run", "plan", "explain"])
def test_every_option_stands_under_a_heading_with_a_short_text(name: str) -> None:
    command = import_module(f"assay.cli.commands.{name}").command
    context = click.Context(
        command, info_name=name, terminal_width=100, show_default=True, help_option_names=HELP_NAMES
    )
    shown = command.get_help(context)
    assert "Others:" not in shown
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help and len(option.help) <= 140, option.name
            assert f"  {option.opts[0]}" in shown
