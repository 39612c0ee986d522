"""An option that would have no effect is refused, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.program import run_program


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script and a bibliography."""
    (tmp_path / "one.sql").write_text("select 1;\n")
    (tmp_path / "two.sql").write_text("select 2;\n")
    (tmp_path / "x.db").touch()
    (tmp_path / "small.bib").write_text("@Misc{a, title = {b}}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


DRIVING = (
    "--duration 1", "--transactions 1", "--warm-up 1", "--ramp-up 1", "--arrival closed",
    "--offered-rate 5", "--think-time none", "--latency-limit 1", "--retries 1", "--reconnect",
    "--isolation serializable", "--connection kept", "--per-statement", "--allow-shell",
    "--threads 1", "--protocol simple", "--drain 1",
)  # fmt: skip


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("one.sql", ("--input small.bib", "--encoding latin-1", "--keep-going", "--feed two.sql")),
        ("tpcb", ("--input small.bib", "--encoding utf-8", "--keep-going")),
        ("tpcb --script one.sql", ("--feed two.sql",)),
        ("bibsql.limit", (*DRIVING, "--cache cold", "--input small.bib", "--keep-going")),
        ("bibsql.update", (*DRIVING, "--clients 2")),
        ("e831.reliability", ("--duration 1", "--cache cold")),
        ("tpcb --on sqlite:///x.db", ("--storage tmpfs",)),
    ],
)
def test_options_of_an_experiment(
    target: str, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    on = [] if "--on" in target else ["--on", "null"]
    for option in options:
        assert run_program(["plan", *target.split(), *on, *option.split()]) == 2, option
        message = capsys.readouterr().err
        refused = option.split()[0]
        assert message.startswith(f"error: {refused} does not apply to "), message
        assert f"hint: leave {refused} out" in message


def test_keys_of_an_experiment_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "e.toml").write_text('workload = "tpcb"\nsystems = "null"\ninput = "small.bib"\n')
    assert run_program(["plan", "e.toml"]) == 2
    assert (
        "error: e.toml:3: input does not apply to tpcb.tpcb-like: its rows are not read"
        in capsys.readouterr().err
    )


def test_an_option_that_applies_to_one_of_the_tests_is_accepted() -> None:
    words = ["plan", "bibsql.checks,limit,update", "--on", "null", "--bib", "small.bib"]
    assert run_program([*words, "--clients", "2", "--duration", "1"]) == 0
    assert run_program(["plan", "e831.*", "--on", "null", "--duration", "1"]) == 0


@pytest.mark.parametrize(
    "words",
    [
        "run one.sql --on null --verify",
        "run one.sql --on null --load-sessions 2",
        "run one.sql --on null --datasets .",
        "run bibsql --on null --load-sessions 2",
        "list systems --records x",
        "list runs --datasets .",
        "null-server --protocol mysql --unix socket --host localhost",
        "generate tpcb --table pgbench_tellers --dialect oracle",
        "generate tpcb --table pgbench_tellers --format sql --dialect sqlite --no-header",
    ],
)
def test_options_of_other_commands(
    words: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATASETS", "folder")
    assert run_program(words.split()) == 2
    out, message = capsys.readouterr()
    assert out == ""
    assert " does not apply to " in message
    assert not (here / "socket").exists()


def test_a_folder_for_copies_in_the_environment_is_no_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_DATASETS", "folder")
    words = ["run", "one.sql", "--on", "null", "--transactions", "1", "--records", "r.sqlite"]
    assert run_program(words) == 0
