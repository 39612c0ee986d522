"""One report, invented and complete, in each form."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay.contracts.storage_facts import StorageFacts
from assay.experiment import SystemChoice
from assay.record import ExperimentRecord
from assay.report.build import build
from assay.report.cells import cell_runs
from assay.report.forms import csv as csv_form
from assay.report.forms import json as json_form
from assay.report.forms import markdown as markdown_form
from assay.report.forms import table as table_form
from assay.report.forms import upright
from assay.report.forms.csv import write_rows
from assay.report.values import (
    Report,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    WarningNote,
    count,
    text,
)

DECLARED = {
    "report": {
        "parallel": {
            "title": "Parallel SQL benchmark",
            "reproduces": "Beebe 2011, Table 2",
            "blocks": "clients",
            "unit": "s",
            "speed_up": True,
        }
    },
    "published": {
        "parallel": {
            "source": "N. H. F. Beebe, 2011, Table 2",
            "conditions": "other machines",
            "unit": "s",
            "columns": ["disk", "Fusion-io"],
            "rows": [
                {"system": "MySQL", "clients": 8, "values": [178, 184], "speed_up": [0.96]},
                {"system": "PostgreSQL", "clients": 8, "values": [240, 45], "speed_up": [5.33]},
                {"system": "PostgreSQL", "clients": 16, "values": [757, 135], "speed_up": [5.61]},
            ],
        }
    },
}
ELAPSED = {
    ("postgresql", "here", 8): (4.0, 4.2, 4.1),
    ("mariadb", "here", 8): (8.0, 8.1, 10.0),
    ("postgresql", "ssd", 8): (2.0, 2.1, 2.05),
    ("mariadb", "ssd", 8): (7.9, 8.0, 8.1),
    ("postgresql", "here", 16): (8.0, 8.2, 8.4),
    ("mariadb", "here", 16): (16.0, 16.2, 16.1),
    ("postgresql", "ssd", 16): (4.0, 4.2, 4.1),
    ("mariadb", "ssd", 16): (12.3, 12.4, 12.5),
}

RESULT = """\
Test parallel

Parallel SQL benchmark (Beebe 2011, Table 2)
system                                 here, s               ssd, s  speed-up
─────────────────────────────────────────────────────────────────────────────
clients = 8
postgresql                 4.100 (4.000-4.200)  2.050 (2.000-2.100)      2.00
mariadb engine=MyISAM  8.100 (8.000-10.00) [1]  8.000 (7.900-8.100)  1.01 [1]

clients = 16
postgresql                 8.200 (8.000-8.400)  4.100 (4.000-4.200)      2.00
mariadb engine=MyISAM      16.10 (16.00-16.20)  12.40 (12.30-12.50)      1.30

                       published  published  published
system                      disk  Fusion-io   speed-up
──────────────────────────────────────────────────────
clients = 8
postgresql                   240         45       5.33
mariadb engine=MyISAM        178        184       0.96

clients = 16
postgresql                   757        135       5.61
mariadb engine=MyISAM
  time from the first client's start to the last client's end; median of 3
  repetitions (smallest-largest); speed-up: first storage ÷ other storage
  published: N. H. F. Beebe, 2011, Table 2, in s (other machines)
  published beside mariadb engine=MyISAM: MySQL
  [1] indicative: repetitions differ by 20 %

"""
FIRST_RESULT = """\
bibliographies in SQL
experiment  1, begun 2023-11-14 22:13 UTC, seed 1
workload    bibsql, version ffffffffffff
data        real, 13 files of the beebe collection: 9733 items, 16343 rows
machine     Invented 9000, 8 processors, 16 GB memory, Invented Linux 12, kernel
            6.1.0
assay       0.1.0, engine built as release

Test checks

checks
system    here, s
─────────────────
sqlite  1.500 [1]
  time from the first client's start to the last client's end
  [1] indicative: one repetition

Transaction outcomes
outcome  ok 2  aborted 0  failed 0  unknown 0  skipped 0 = scheduled 2

Each run
                elapsed,
run system rep.        s   TPS ok aborted failed unknown skipped scheduled state
────────────────────────────────────────────────────────────────────────────────
  1 sqlite    1    1.500 1.333  2       0      0       0       0         2 done

Service of each client

Transactions per client, and in flight at the end
run                             1
system                     sqlite
clients                         1
rep.                            1
─────────────────────────────────
least                           2
median                          2
most                            2
in flight                       0
at work          nothing measured
by Little's law  nothing measured
  least, median, most: measured transactions that ended, by client; in flight:
  still running when the last transaction had begun; oldest: for how long
  at work: clients, on average; by Little's law: clients = throughput x (latency
  + pause), the same number if no transaction is missing

Result checks
checks  2 of 2 right; the same rows everywhere: 2 of 2

Rows found on 13 files of the beebe collection
check  title                 expected  sqlite  same rows
────────────────────────────────────────────────────────
S01    ISBN without ISBN-13       156     156  yes
S02    confused ISBN-13             0       0  yes
  same rows: in every answer to every client, of every system (by digest)

Latency

Per pass (every transaction type once, in order)
system  run  n  p50, ms  p90, ms  p95, ms  p99, ms  p99.9, ms  max, ms
──────────────────────────────────────────────────────────────────────
sqlite    1  1      n<6     n<36     n<72    n<368     n<3688     1500
  of the repetition with the median elapsed time; n<36: too few samples

Percentiles
                                 p50,  p90,  p95,   p99,  p99.9,   max,
system  clients  transaction  n    ms    ms    ms     ms      ms     ms
───────────────────────────────────────────────────────────────────────
sqlite        1  all ok       2   n<6  n<36  n<72  n<368  n<3688  120.0
sqlite        1  S01          1   n<6  n<36  n<72  n<368  n<3688  60.00
sqlite        1  S02          1   n<6  n<36  n<72  n<368  n<3688  120.0
  Closed loop: latency is measured from the actual start
  n<…: too few samples, so many are needed
  percentiles: 3 digits, and not finer than 512 ns; max: as measured

CPU and memory

CPU time, context switches and bytes per transaction; memory in total
                 client                                       server
                   CPU,  user,  system,   context               CPU,
system  clients      µs     µs       µs  switches  memory         µs
────────────────────────────────────────────────────────────────────
sqlite        1   22500  15000     7500     5.500   30 MB  in client
  client: this process with all its threads; a system embedded in it is included

Server processes

Threads, memory and open files during the run
system  processes  threads  resident  virtual  open files  files    most handles
────────────────────────────────────────────────────────────────────────────────
sqlite          9       11     98 MB   597 MB         250      2  249 bibtab.MYD
  largest value of any sample; open files: inside the data directory
  a file that is open twice counts twice in open files, and once in files; most
  handles: the greatest number of open handles on a single file

Data load

Size on disk and load time
system  size on disk  load, s  index, s  analyze, s  items/s  rows/s
────────────────────────────────────────────────────────────────────
sqlite       20.5 MB   0.9733    0.4000      0.1000    10000   16791
  size on disk: of the loaded database, catalogue and transaction log included;
  of a server by URL its tables and indexes alone
  per second of load: rows sent in one transaction, before there are indexes

Setup

Systems
system  version       reached by
─────────────────────────────────────────────
sqlite  sqlite 1.2.3  in the client's process

Storages
storage  kind  file system  device     size  mount options
──────────────────────────────────────────────────────────
here     here  ext4         /dev/sda1  1 TB  rw

How the clients were driven
test    protocol  arrival  passes
─────────────────────────────────
checks  simple    closed   1

warning     one-repetition: each cell was run once: the variation between
            repetitions is unknown
            fix: --repetitions 5 or more
warning     few-samples: too few samples for some percentiles (p50, p90, p95,
            p99: 1 sample of a transaction type, p99 needs 368)
            fix: more clients, or more passes
warning     fits-in-memory: the data set fits in memory: few reads reach the
            storage (20.5 MB of 16 GB)
            fix: to measure the storage, load more rows than the machine has
            memory
warning     from-the-future: hover boards
record      records.sqlite, experiment 1
"""


def fixed(experiment: ExperimentRecord) -> ExperimentRecord:
    """Without what differs from one test run to the next."""
    return structs.replace(
        experiment, begun_unix_ns=1_700_000_000 * invented.S, path=Path("records.sqlite")
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two systems, two storages, two client counts, three repetitions."""
    planned = invented.plan(
        [invented.POSTGRESQL, invented.MARIADB],
        [invented.HERE, invented.SSD],
        clients=(8, 16),
        repetitions=3,
    )
    path = tmp_path_factory.mktemp("records") / "records.sqlite"
    experiment = invented.experiment(path, planned, ELAPSED, workload=DECLARED)
    return build(fixed(experiment))


@pytest.fixture
def quick(tmp_path: Path) -> Report:
    """One system, one run."""
    planned = invented.plan([invented.SQLITE], test="checks", clients=(1,))
    warnings = [("fits-in-memory", "20.5 MB of 16 GB"), ("from-the-future", "hover boards")]
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 1.5, warnings=warnings)
    return build(fixed(experiment))


def written(form: Any, report: Report, detail: bool | None = None) -> str:
    stream = io.StringIO()
    form.render(report, stream, detail=detail)
    return stream.getvalue()


def test_the_papers_table_has_the_published_numbers(report: Report) -> None:
    text = written(table_form, report)
    begin, end = text.index("Test parallel"), text.index("Transaction out")
    assert text[begin:end] == RESULT


def test_a_report_of_one_run_is_complete(quick: Report) -> None:
    assert written(table_form, quick) == FIRST_RESULT


def test_a_large_table_leaves_out_details_with_a_note(report: Report) -> None:
    brief, full = written(table_form, report), written(table_form, report, detail=True)
    assert "2 tables of details left out; --detail shows them" in brief
    assert "Each run" not in brief
    assert "Each run" in full
    assert "left out" not in full


@pytest.mark.slow
def test_a_table_is_never_wider_than_80_columns_and_loses_nothing(tmp_path: Path) -> None:
    storages = [
        replace(invented.SSD, name=f"storage-{letter}", directory=f"/{letter}")
        for letter in "abcdefg"
    ]
    planned = invented.plan([invented.MARIADB], storages, repetitions=2)
    report = build(invented.experiment(tmp_path / "r.sqlite", planned, 1234.5, workload=DECLARED))
    text = written(table_form, report, detail=True)
    assert max(len(line) for line in text.splitlines()) <= 80
    for storage in storages:
        assert storage.name in text
    result = text[text.index("Test parallel") : text.index("Transaction out")]
    assert result.count("1234 (1234-1234)") == len(storages)


def test_names_with_options_are_broken_in_headings_before_a_table_is_split(tmp_path: Path) -> None:
    names = [f"loop[fs={name},size=2G]" for name in ("ext4", "xfs", "btrfs")]
    storages = [replace(invented.SSD, name=name, directory=f"/{name}") for name in names]
    planned = invented.plan([invented.SQLITE], storages)
    declared = {"report": DECLARED["report"]}
    report = build(invented.experiment(tmp_path / "r.sqlite", planned, 1.0, workload=declared))
    text = written(table_form, report)
    result = text[text.index("Test parallel") : text.index("Transaction out")]
    assert len(re.findall("^─", result, re.MULTILINE)) == 1
    assert re.search(r"^ +\[fs=ext4, +\[fs=xfs, +\[fs=btrfs, +loop +loop$", result, re.MULTILINE)


def test_texts_are_broken_at_the_ends_of_words() -> None:
    """Only what is longer than its column is broken within a word."""
    storages = ("modelled[profile=scsi-15k,size=128M]", "loop[size=128M,mount=nobarrier]")
    rows = [Row((text("1"), text(name), count(1234567890))) for name in storages]
    columns = (
        ReportColumn("run"),
        ReportColumn("storage"),
        *(ReportColumn("x" * 40, is_number=True),),
    )
    section = Section("s", (), (ReportTable("t", "t", columns, tuple(rows), label_columns=2),))
    made = Report("r", (1,), Path("r"), {}, (section,), (), 1)
    stream = io.StringIO()
    table_form.render(made, stream)
    words = {"modelled[profile=scsi-15k,", "size=128M]", "loop[size=128M,mount=nobarrier]"}
    assert words <= set(stream.getvalue().split()), stream.getvalue()
    version = "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) at 127.0.0.1"
    assert list(upright.lines_of(version, 13)) == [
        "PostgreSQL", "15.18 (Debian", "15.18-0+", "deb12u1) at", "127.0.0.1",
    ]  # fmt: skip


def test_details_behind_a_bracket_have_none_of_their_own() -> None:
    assert WarningNote("n", "little of it (vacuum)", ("4 s",), "").sentence == (
        "little of it (vacuum): 4 s"
    )


def test_nothing_but_a_terminal_gets_colour(quick: Report) -> None:
    for form in (table_form, markdown_form, csv_form, json_form):
        assert "\x1b" not in written(form, quick)


def test_markdown_rows_have_as_many_cells_as_their_heads(report: Report) -> None:
    text = written(markdown_form, report)
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(tables) > 10
    for table in tables:
        assert len({line.count("|") - line.count("\\|") for line in table}) == 1, table
    assert "| **clients = 16** |" in text
    assert "~" not in text.replace("\\~", ""), "a bare ~ would strike text out"


def test_titles_are_escaped_in_markdown(report: Report) -> None:
    text = written(markdown_form, structs.replace(report, title="<script>alert(1)</script>"))
    assert text.startswith("# \\<script>alert(1)\\</script>\n")


def test_a_text_that_spreadsheets_would_execute_is_none_in_csv() -> None:
    texts = ["=1+1", "+x", "-x", "@x", "\tx", "a=1", "-1", "+1e3"]
    stream = io.StringIO()
    write_rows(stream, 1, ["n", "text"], [{"n": -1.5, "text": text} for text in texts])
    rows = list(csv.DictReader(stream.getvalue().splitlines()))
    assert [row["n"] for row in rows] == ["-1.5"] * len(texts)
    assert [row["text"] for row in rows[:4]] == ["'=1+1", "'+x", "'-x", "'@x"]
    assert [row["text"] for row in rows[5:]] == ["a=1", "-1", "+1e3"]


def test_a_row_is_found_by_its_name(tmp_path: Path) -> None:
    """Other columns are narrowed first: no name is broken, and no table of 80 columns is cut in
    two."""
    system = SystemChoice("postgresql", url="postgresql://u@127.0.0.1/d")
    planned = invented.plan([system], test="checks", clients=(1,))
    text = written(table_form, build(invented.experiment(tmp_path / "r.sqlite", planned, 1.5)))
    assert text.count("postgresql at 127.0.0.1") == len(re.findall("postgresql at", text))
    for section in text.split("\n\n"):
        assert len(re.findall("^ *─", section, re.MULTILINE)) <= 1, section


def test_a_terminal_is_used_in_its_width(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TERM", "xterm")
    wide = Terminal()
    table_form.render(report, wide)
    plain = re.sub("\x1b[^m]*m", "", wide.getvalue())
    assert 100 < max(len(line) for line in plain.splitlines()) <= 140


def test_the_storage_of_a_server_by_url_is_not_seen(tmp_path: Path) -> None:
    system = SystemChoice("postgresql", url="postgresql://u@127.0.0.1/d")
    planned = invented.plan([system], test="checks", clients=(1,))
    storage = StorageFacts.of_url()
    record = invented.experiment(
        tmp_path / "r.sqlite",
        planned,
        1.5,
        deployment={"storage": storage},
    )
    tables = {one.name: one for part in build(record).sections for one in part.tables}
    (row,) = tables["storages"].rows
    assert (row.cells[0].shown, row.cells[-1].shown) == ("not seen", "-")
    assert cell_runs.cells(record, record.runs)[0].name == "postgresql at 127.0.0.1, 1 client"


def test_the_title_of_a_block_widens_no_column_and_is_whole(tmp_path: Path) -> None:
    long = replace(invented.SSD, name=f"loop[{'option=value,' * 9}]")
    planned = invented.plan([invented.POSTGRESQL, invented.SQLITE], [invented.HERE, long])
    declared = {"report": {"parallel": {"title": "T", "rows": "clients", "columns": "system"}}}
    found = invented.experiment(tmp_path / "r.sqlite", planned, 2.0, workload=declared)
    text = written(table_form, build(found))
    part = text[text.index("\nT\n") : text.index("Storages compared")]
    assert f"storage={long.name}" in "".join(part.split())
    assert max(map(len, part.splitlines())) <= 80
    assert part.count("2.000") == 4
    assert len(re.findall("^ *─", part, re.MULTILINE)) == 1, "it is not cut in two"


@pytest.mark.parametrize("width", [50, 80, 100, 200])
def test_few_runs_stand_side_by_side_before_a_table_is_cut(
    tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    planned = invented.plan([invented.POSTGRESQL, invented.SQLITE])
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 2.0)
    stream = io.StringIO()
    table_form.render(build(experiment), stream, detail=True)
    shown = stream.getvalue()
    assert max(map(len, shown.splitlines())) <= width
    part = shown.partition("Each run\n")[2].partition("\n\n")[0]
    assert part.count("system") == 1, "labels stand there once, so it is not cut"
    assert len(re.findall("postgresql", part)) == 1
