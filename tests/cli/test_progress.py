"""Progress of a run, and the files that it writes beside its report."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from assay.cli.output import progress as progress_module
from assay.cli.output import report_output
from assay.cli.output.progress import Lines, Live, progress, repeated
from assay.cli.program import run_program
from assay.contracts.driving import Driving
from assay.contracts.engine import DriveProgress, LoadProgress
from assay.contracts.events import (
    ClientsAtWork,
    FilesCopied,
    RowsSent,
    RunBegun,
    RunEnded,
    StageBegun,
    TimeNeeded,
    Warned,
)
from assay.contracts.observation import Interval
from assay.errors import SystemUnderTestError
from assay.experiment import settings_catalogue
from commands import run_in
from waiting import wait_until

RUN = RunBegun(
    position=4,
    of=12,
    test_name="parallel",
    system_label="sqlite",
    storage_name="here",
    clients=8,
    driving=Driving(),
    levels={"cache": "as-is", "client_program": "engine"},
    repetition=2,
)
LOADED = LoadProgress("t", 500, 10, 12, 0.1)
DRIVEN = DriveProgress(1.0, done=3, scheduled=6, ok=2, failed=1, clients_running=8)


def driven(**changes: Any) -> ClientsAtWork:
    return ClientsAtWork(structs.replace(DRIVEN, **changes))


def a_second(ok: int, p99_ns: int) -> tuple[Interval, ...]:
    none = dict.fromkeys(Interval.__struct_fields__, 0)
    unknown = dict.fromkeys(("latency", "schedule_lag", "schedule_lag_p99_ns"))
    of_line: dict[str, Any] = {"group": "", "ok": ok, "clients_connected": 8, "p99_ns": p99_ns}
    line = Interval(**(none | unknown | of_line))
    return (line,)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def tell_a_run(stream: io.StringIO) -> None:
    with progress(stream) as shown:
        shown(Warned("read [this]"))
        shown(RUN)
        shown(StageBegun("load"))
        shown(RowsSent(LOADED))
        shown(RowsSent(LOADED, bytes_total=40))
        shown(StageBegun("drive parallel"))
        shown(driven())
        shown(driven(scheduled=None))
        shown(RunEnded(4, "done", None))
        shown(RunEnded(4, "failed", "the server went away"))


def test_a_repetition_that_is_measured_again_is_named_by_its_number_and_not_by_a_place() -> None:
    stream = io.StringIO()
    with progress(stream) as shown:
        shown(structs.replace(RUN, position=12, repetition=4, in_place_of=2))
    assert stream.getvalue() == "repetition 2 again: parallel, sqlite, here, 8 clients\n"


def test_a_log_gets_lines_and_no_bars() -> None:
    stream = io.StringIO()
    tell_a_run(stream)
    assert (
        stream.getvalue()
        == """\
warning: read [this]
run 5 of 12: parallel, sqlite, here, 8 clients, repetition 2
  load
  drive parallel
run 5 failed: the server went away
"""
    )


def test_a_terminal_keeps_warnings_and_failures_and_gets_its_cursor_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    tell_a_run(stream)
    written = stream.getvalue()
    assert "warning: read [this]" in written
    assert "run 5 failed: the server went away" in written
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l"), "the cursor is shown again"
    assert re.search(r"\x1b\[2K\W*$", written), "the bar's line is cleared at the end"


def test_a_run_that_ends_by_time_says_how_long_it_takes_and_what_it_is_doing() -> None:
    driving = Driving(duration_s=30.0, warm_up_s=5.0, arrival="poisson", offered_rate_per_s=100.0)
    after = TimeNeeded(230.0, is_known=True)
    timed = replace(RUN, driving=driving, drives_s=(35.0,), after=after)
    lines, terminal = io.StringIO(), Terminal()
    for stream in (lines, terminal):
        with progress(stream) as shown:
            shown(timed)
            shown(StageBegun("drive parallel"))
            shown(driven(scheduled=None, elapsed_s=3.0))
            shown(driven(scheduled=None, elapsed_s=20.0))
    assert "8 clients, 100 offered/s, repetition 2\n  drive parallel, about 35 s\n" in (
        lines.getvalue()
    )
    assert re.search("measuring: 0 TPS.* about 4 min left", terminal.getvalue())


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_throughput_and_p99_of_the_last_second_are_shown() -> None:
    live = Live()
    report = structs.replace(DRIVEN, elapsed_s=10.0, seconds=a_second(26_091, 1_040_000))
    assert live.numbers(report) == "26091 TPS, p99 1.04 ms, 8 clients, 1 failed"
    assert live.numbers(DRIVEN) == "26091 TPS, p99 1.04 ms, 8 clients, 1 failed", "until the next"
    report = structs.replace(report, seconds=a_second(5, 1_040_000))
    assert live.numbers(report) == "5.000 TPS, 8 clients, 1 failed", "a p99 of 5 is none"


def test_the_time_left_is_that_of_this_run_and_of_those_after_it() -> None:
    clock = Clock()
    live = Live(clock)
    timed = replace(RUN, drives_s=(30.0,))
    report = structs.replace(DRIVEN, elapsed_s=10.0, scheduled=None)
    after = TimeNeeded(60.0, is_known=True)

    def left(own: TimeNeeded, after: TimeNeeded, run: RunBegun = timed) -> str:
        live.run(replace(run, own=own, after=after))
        live.stage("drive parallel")
        clock.now_s += 15.0  # 5 of them passed before the clients began
        return live.left(report)

    assert left(TimeNeeded(), after) == "about 80 s left"
    assert left(TimeNeeded(), TimeNeeded(60.0)) == "at least 80 s left"
    # The run took 45 s before: it goes on behind its clients.
    assert left(TimeNeeded(45.0, is_known=True), after) == "about 90 s left"
    # And where it takes longer than before, its clients tell.
    assert left(TimeNeeded(12.0, is_known=True), after) == "about 80 s left"
    # Another step follows, whose time is not known.
    two_steps = replace(RUN, drives_s=(30.0, None))
    assert left(TimeNeeded(), after, two_steps) == "at least 80 s left"


def test_the_time_left_of_clients_that_end_by_counts_is_that_of_their_transactions() -> None:
    live = Live(Clock())
    live.run(replace(RUN, drives_s=(None,), after=TimeNeeded(is_known=True)))
    live.stage("drive parallel")
    report = structs.replace(DRIVEN, done=100, scheduled=400)

    def left(elapsed_s: float, scheduled: int | None = 400) -> str:
        return live.left(structs.replace(report, elapsed_s=elapsed_s, scheduled=scheduled))

    assert left(0.2) == "time left not known yet"
    assert left(20.0) == "about 60 s left"
    assert left(20.0, None) == "time left not known yet"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_names_and_numbers_are_shortened_and_the_time_left_is_whole(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = Terminal()
    name = "drive parallel-look-ups-of-persons-by-name with two-clients-and-a-writer"
    with progress(stream) as shown:
        shown(replace(RUN, drives_s=(30.0,), after=TimeNeeded(3600.0)))
        shown(StageBegun(name))
        shown(driven(scheduled=None, elapsed_s=20.0))
    lines = re.findall(r"[^\r\n]*at least 60 min left[^\r\n]*", stream.getvalue())
    assert lines, stream.getvalue()
    shown_line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", lines[-1]).rstrip()
    assert len(shown_line) <= columns
    assert ("dri" in shown_line) and ((name in shown_line) == (columns == 200))
    assert ("…" in shown_line) == (columns < 200)


def test_throughput_of_the_last_second_is_computed_where_it_is_not_reported() -> None:
    live = Live()
    live.run(RUN)
    reports = [
        structs.replace(DRIVEN, elapsed_s=at, ok=ok)
        for at, ok in ((1.0, 100), (1.5, 150), (2.0, 400))
    ]
    assert [live.numbers(report).partition(",")[0] for report in reports] == [
        "8 clients",
        "8 clients",
        "300.0 TPS",
    ]


def test_a_log_gets_a_line_from_time_to_time() -> None:
    def lines(every_s: float) -> list[str]:
        stream = io.StringIO()
        with progress(stream, every_s) as shown:
            shown(RUN)
            shown(StageBegun("drive parallel"))
            for tenth in range(1, 251):
                shown(driven(elapsed_s=tenth / 10, scheduled=None))
        return stream.getvalue().splitlines()[2:]

    assert [line.partition(":")[0].strip() for line in lines(10)] == ["10 s", "20 s"]
    assert lines(0) == []


def test_a_log_says_from_time_to_time_how_far_a_load_is() -> None:
    def lines(every_s: float) -> list[str]:
        stream, now_s = io.StringIO(), 100.0
        shown = Lines(stream, every_s, lambda: now_s)
        shown(StageBegun("load"))
        for second in range(1, 26):
            now_s = 100.0 + second
            shown(RowsSent(structs.replace(LOADED, rows=40 * second), rows_total=1000))
        shown(StageBegun("copy the data"))
        now_s += 12
        shown(FilesCopied(5_000_000, 20_000_000))
        for _ in range(130):  # nothing is reported, as by a probe or a check
            now_s += 1
            shown.still()
        return stream.getvalue().splitlines()

    assert lines(10) == [
        "  load",
        "  10 s: 400 rows, 40 %, in t",
        "  20 s: 800 rows, 80 %, in t",
        "  copy the data",
        "  12 s: 5 MB of 20 MB copied",
        "  72 s: copy the data",
        "  132 s: copy the data",
    ]
    assert lines(0) == ["  load", "  copy the data"]


def test_the_last_line_of_long_work_is_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "_SILENT_S", 0.01)
    said: list[str] = []
    with repeated(said.append) as report:
        report("installing duckdb")
        wait_until(lambda: len(said) > 2, "the line is said again")
    assert said[0] == "installing duckdb" and re.fullmatch(r"\d+ s: installing duckdb", said[1])


def test_throughput_is_shown_during_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.sql").write_text("select 1;\n")
    words = "run one.sql --on null --clients 8 --think-time constant:1ms --duration 7 --progress 1"
    assert run_program(words.split()) == 0
    printed = capsys.readouterr().err
    # A busy machine says a second too late for its percentiles.
    line = r"^  \d s: [\d,.]+k? TPS, (p99 [\d.]+ m?µ?s, )?8 clients; about"
    assert re.search(line, printed, re.M), printed


WITH_PAUSES = ["run", "one.sql", "--on", "null", "--clients", "2", "--duration", "6",
       "--think-time", "constant:2ms"]  # fmt: skip
NO_PROBES = ["--no-probe", "--no-durability"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("one.sql").write_text("select 1;\n", encoding="utf-8")
        assert run_program([*WITH_PAUSES, *NO_PROBES, "--format", "csv"]) == 0
    return folder


@pytest.fixture
def here(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(recorded)
    return recorded


def test_a_command_that_is_printed_can_be_typed_with_any_path() -> None:
    assert settings_catalogue.of_records(Path("my records/r")) == " --records 'my records/r'"


def test_a_page_is_written_to_a_file_that_is_replaced_only_with_force(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "--format", "html", "--output", "page.html"]
    assert run_program(words) == 0
    out, said = capsys.readouterr()
    assert out == "" and said == "written to page.html\n"
    page = (here / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</body></html>\n")
    assert run_program(words) == 2
    assert "already exists" in capsys.readouterr().err
    assert run_program([*words, "--force"]) == 0


def test_charts_are_written_as_svg_and_png(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["report", "--charts", "pictures"]) == 0
    assert " charts in pictures" in capsys.readouterr().err
    files = {path.name for path in (here / "pictures").iterdir()}
    assert {name.rpartition(".")[0] + end for name in files for end in (".svg", ".png")} == files
    assert any("timeline" in name for name in files)
    assert run_program(["report", "--charts", "pictures"]) == 2
    assert "--force" in capsys.readouterr().err


def test_charts_that_cannot_be_written_leave_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written, write = [], report_output.write_file

    def until_full(file: Path, content: bytes, *, force: bool) -> None:
        if len(written) == 3:
            raise SystemUnderTestError(f"{file}: cannot be written: No space left on device")
        write(file, content, force=force)
        written.append(file)

    monkeypatch.setattr(report_output, "write_file", until_full)
    (here / "kept").mkdir()
    for folder in ("full", "kept"):
        written.clear()
        assert run_program(["report", "--charts", folder]) == 3
        assert "No space left" in capsys.readouterr().err and len(written) == 3
    assert not (here / "full").exists()
    assert list((here / "kept").iterdir()) == []


@pytest.mark.usefixtures("here")
def test_force_alone_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["report", "--force"]) == 2
    assert "--output or --charts" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["assay-records.sqlite", "link", "other", "assay-records.sqlite-wal"]
)
def test_no_output_replaces_a_record_file(
    here: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = here / "assay-records.sqlite"
    (here / "other").write_bytes(record.read_bytes())
    (here / "link").unlink(missing_ok=True)
    (here / "link").symlink_to(record.name)
    before = record.read_bytes()
    for words in (["report"], ["generate", "tpcb", "--table", "pgbench_branches"]):
        assert run_program([*words, "--output", name, "--force"]) == 2
        assert "is a record file" in capsys.readouterr().err
    assert record.read_bytes() == before == (here / "other").read_bytes()


def test_a_hyphen_and_a_pipe_are_standard_output(here: Path) -> None:
    for file in ("-", "/dev/stdout"):
        found = run_in(here, "report", "--format", "json", "--output", file)
        assert found.returncode == 0, found.stderr
        assert json.loads(found.stdout)["version"]
        assert not Path("-").exists()
