"""Claims of a paper are judged from repetitions: same order, reversed, not separated, growing,
kept to, or not comparable with the reason."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay.contracts.experiment import Scaled
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ExperimentError
from assay.experiment import SystemChoice
from assay.judge.statistics import estimate
from assay.record import ExperimentRecord
from assay.report.papers import claims, published_measured
from assay.report.papers.claim_cases import ClaimCase, JudgedClaim
from assay.report.papers.judged_claims import judged_claims
from assay.report.values import CLAIMS
from assay.text.toml_file import TomlTable
from assay.workload import reader

DISK_IS_SLOWER = {
    "text": "solid state is faster",
    "source": "Table 1",
    "test": "parallel",
    "order": [{"storage": "ssd"}, {"storage": "here"}],
    "ratio": 2.0,
}
HERE, SSD = ("sqlite", "here", 8), ("sqlite", "ssd", 8)
BOTH = (invented.HERE, invented.SSD)
SLOWER = {HERE: (9.0, 10.0, 11.0), SSD: (4.5, 5.0, 5.5)}


def recorded(
    path: Path,
    claim: dict[str, Any] = DISK_IS_SLOWER,
    elapsed: Any = SLOWER,
    planned: invented.Plan | None = None,
    **changes: Any,
) -> ExperimentRecord:
    planned = planned or invented.plan([invented.SQLITE], BOTH, repetitions=3)
    workload = {"claims": [claim], **changes.pop("workload", {})}
    return invented.experiment(path / "r.sqlite", planned, elapsed, workload=workload, **changes)


def found(
    path: Path, claim: dict[str, Any], elapsed: Any, storages: Any = BOTH, **plan: Any
) -> list[JudgedClaim]:
    planned = invented.plan([invented.SQLITE], storages, **{"repetitions": 3, **plan})
    return judged_claims(recorded(path, claim, elapsed, planned))


@pytest.mark.parametrize(
    ("here", "ssd", "word"),
    [
        ((9.0, 10.0, 11.0), (4.5, 5.0, 5.5), "same ratio"),
        ((4.5, 5.0, 5.5), (9.0, 10.0, 11.0), "reversed"),
        ((4.5, 9.0, 11.0), (5.0, 8.0, 9.0), "no order seen"),
    ],
)
def test_an_order_is_judged_where_the_repetitions_separate_the_cells(
    tmp_path: Path, here: Any, ssd: Any, word: str
) -> None:
    (one,) = found(tmp_path, DISK_IS_SLOWER, {HERE: here, SSD: ssd})
    assert (one.word, one.why) == (word, "")
    assert one.number is not None and one.number.is_known
    assert one.published == "ssd < here (x 2)"


def _judged_of(record: ExperimentRecord) -> tuple[str, str]:
    (one,) = judged_claims(record)
    return one.word, one.why


@pytest.mark.parametrize(("kind", "notes"), [("modelled", 1), ("here", 0)])
def test_an_order_on_a_modelled_storage_is_marked_as_such(
    tmp_path: Path, kind: str, notes: int
) -> None:
    record = recorded(tmp_path, deployment={"storage": StorageFacts("here", kind, "/")})
    section = published_measured.section(replace(record, reproduces="A Paper"))
    assert section is not None
    (claims,) = (table for table in section.tables if table.name == CLAIMS)
    assert sum(note.startswith("modelled storage: ") for note in claims.notes) == notes


def test_a_setting_of_one_of_several_systems_is_compared_as_a_factor(tmp_path: Path) -> None:
    """In reports it is a part of the system's name, since the systems have settings of their
    own."""
    sizes = [("postgresql", "64MB"), ("mariadb", "64MB"), ("mariadb", "128MB")]
    systems = [SystemChoice(name, options={"buffer": size}) for name, size in sizes]
    planned = invented.plan(systems, BOTH, repetitions=3)
    claim = {**DISK_IS_SLOWER, "ratio": "4"}
    claim["order"] = [
        {"storage": "ssd", "buffer": "64MB"},
        {"storage": "here", "buffer": "128MB"},
        {"storage": "here", "buffer": "64MB"},
    ]
    seconds = {"ssd": {"64MB": 1.0, "128MB": 1.0}, "here": {"64MB": 4.0, "128MB": 2.0}}
    with invented.at_once(tmp_path / "r") as store:
        number = invented.begin(store, planned, workload={"claims": [claim]})
        for run in planned.runs:
            size = run.cell.system.options["buffer"]
            invented.write_run(store, run, round(seconds[run.cell.storage.name][size] * invented.S))
        store.end_experiment()
        of_postgresql, one = judged_claims(store.experiment(number))
    assert of_postgresql.of == "postgresql"
    assert of_postgresql.sentence == "open: buffer 128MB was not measured"
    assert (one.of, one.sentence) == ("mariadb", "confirmed")
    assert one.measured == "x 4.00 (repetitions alike)"


@pytest.mark.parametrize(
    "claim",
    [
        DISK_IS_SLOWER,
        {**DISK_IS_SLOWER, "order": None, "equal": DISK_IS_SLOWER["order"], "ratio": None},
        {**DISK_IS_SLOWER, "order": None, "ratio": None, "at_most": 9, "key": "elapsed_ns"},
    ],
)
def test_runs_beside_other_programs_decide_no_claim(tmp_path: Path, claim: dict[str, Any]) -> None:
    said = {key: value for key, value in claim.items() if value is not None}
    record = recorded(tmp_path, said)
    assert _judged_of(record)[0] != "not decided"
    beside = replace(record, runs=tuple(invented.disturbed(run, 0.23) for run in record.runs))
    why = "other programs used 23 % of the processors in the worst of 6 such runs"
    assert _judged_of(beside) == ("not decided", why)


def test_selects_from_the_device_that_read_nothing_from_it_are_not_comparable(
    tmp_path: Path,
) -> None:
    record = recorded(tmp_path)
    words = []
    for read_bytes in (0, 10_000_000):
        facts = {"reads_device": True, "embedded_read_bytes": read_bytes, "server_cost": None}
        runs = (invented.changed(run, "observation", **facts) for run in record.runs)
        words.append(_judged_of(replace(record, runs=tuple(map(invented.judged_again, runs)))))
    (bad, why), (good, _) = words
    assert bad == "not comparable" and why.endswith("nothing was read from the device")
    assert good == "same ratio"


def test_what_changes_from_block_to_block_is_in_no_ratio(tmp_path: Path) -> None:
    """The machine becomes slower with each repetition, which holds a run of each cell."""
    elapsed = {HERE: (1.2, 2.41, 4.79), SSD: (1.0, 2.0, 4.0)}
    claim = {**DISK_IS_SLOWER, "ratio": "1.2"}
    (one,) = found(tmp_path, claim, elapsed)
    assert one.word == "same ratio"


def test_ends_in_the_opposite_order_are_seen_where_neighbours_are_not_apart(tmp_path: Path) -> None:
    claim = {**DISK_IS_SLOWER, "order": [{"clients": 1}, {"clients": 2}, {"clients": 4}]}
    elapsed = {
        ("sqlite", "here", 1): (10.0, 10.1, 10.2),
        ("sqlite", "here", 2): (1.0, 4.0, 16.0),
        ("sqlite", "here", 4): (1.0, 1.1, 1.2),
    }
    (one,) = found(tmp_path, claim, elapsed, [invented.HERE], clients=(1, 2, 4))
    assert one.word == "partly reversed"


@pytest.mark.parametrize(
    ("ratios", "published", "word"),
    [
        ((1.05, 1.08), 1.06, "same ratio"), ((1.9, 2.1), 1.06, "same direction"),
        ((1.01, 1.6), 1.06, "same direction"), ((0.99, 1.08), 1.06, "no order seen"),
        ((1.9, 2.1), 0.96, "reversed"), ((0.001, 0.01), 0.01, "same direction"),
        ((1.9, 2.1), 1.0, "different"), ((0.95, 1.1), 1.0, "about equal"),
        ((0.95, 1.4), 1.0, "not decided"),
    ],
)  # fmt: skip
def test_a_published_speed_up_of_1_claims_no_order(
    ratios: tuple[float, float], published: float, word: str
) -> None:
    measured = estimate.ConfidenceInterval(1.0, *ratios)
    assert claims.judgement_of_speed_up(measured, published).word == word


@pytest.mark.parametrize(
    ("printed", "interval", "said"),
    [
        ("60.58…", (58.0, 63.0), "confirmed"),
        ("60.58…", (1.05, 0.98, 1.12), "open: the repetitions do not separate the cells"),
        ("60.58…", (1.05, 1.01, 1.09), "direction confirmed: 1.05 (1.01 to 1.09), printed 60.58"),
        ("60.58…", (0.7, 0.9), "contradicted: reversed"),
        (
            "60.58…",
            (2.0, 1800.0),
            "direction confirmed: 60.0 (2.00 to 1800), printed 60.58: "
            "the interval is too wide to confirm that",
        ),
        (60.58, (58.0, 63.0), "confirmed"),  # as an earlier Assay recorded it
        ("3 to 5.6", (2.4, 2.48), "direction confirmed: 2.44 (2.40 to 2.48), printed 3 to 5.6"),
        ("3 to 5.6", (5.6, 5.9), "confirmed"),
        ("0.369 / 0.208", (1.78, 1.9), "confirmed"),
        ("0.369 / 0.208", (1.79, 1.9), "direction confirmed: 1.84 (1.79 to 1.90), printed 1.77"),
        ("2", (1.2, 1.49), "direction confirmed: 1.34 (1.20 to 1.49), printed 2"),
        ("2", (1.6, 2.4), "confirmed"),
    ],
)
def test_a_printed_ratio_is_judged_by_its_size(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    printed: str | float,
    interval: tuple[float, ...],
    said: str,
) -> None:
    *value, low, high = interval
    middle = value[0] if value else (low * high) ** 0.5
    measured = estimate.ConfidenceInterval(middle, low, high)
    monkeypatch.setattr(ClaimCase, "ratio", lambda *_: measured)
    (one,) = found(tmp_path, {**DISK_IS_SLOWER, "ratio": printed}, SLOWER)
    assert one.sentence == said


@pytest.mark.parametrize("ratio", ["", "about 5", "5.6 to 3", "1 / 0", "-2", "1e3"])
def test_a_ratio_that_cannot_be_read_is_named_with_its_forms(ratio: str) -> None:
    table = TomlTable(Path("published.toml"), "", ("claims", 0), {**DISK_IS_SLOWER, "ratio": ratio})
    with pytest.raises(ExperimentError, match="expected"):
        claims.read(table)


def test_one_repetition_shows_no_order(tmp_path: Path) -> None:
    elapsed = {HERE: (10.0,), SSD: (1.0,)}
    (one,) = found(tmp_path, DISK_IS_SLOWER, elapsed, repetitions=1)
    assert one.sentence == "open: one repetition"


@pytest.mark.parametrize(
    ("levels", "why"),
    [
        ({}, "one storage only (here)"),
        ({"system": "postgresql"}, "postgresql was not measured"),
        ({"clients": 16}, "clients 16 was not measured"),
    ],
)
def test_what_was_not_measured_is_not_comparable(
    tmp_path: Path, levels: dict[str, Any], why: str
) -> None:
    claim = {**DISK_IS_SLOWER, "where": levels}
    (one,) = found(tmp_path, claim, 2.0, [invented.HERE])
    assert (one.word, one.why) == ("not comparable", why)


@pytest.mark.parametrize(
    ("needs_full", "word"), [(["scale"], "not comparable"), (["rows"], "same direction")]
)
def test_a_claim_about_the_full_size_is_not_judged_at_a_smaller_one(
    tmp_path: Path, needs_full: list[str], word: str
) -> None:
    elapsed = {HERE: (10.0,) * 3, SSD: (1.0,) * 3}
    whole = recorded(tmp_path, {**DISK_IS_SLOWER, "needs_full": needs_full}, elapsed)
    scaled = Scaled("parallel", "scale", "1", "0.002")
    asked = dataclasses.replace(whole.experiment, scaled=(scaled,))
    (one,) = judged_claims(replace(whole, experiment=asked))
    assert one.word == word
    if word == "not comparable":
        assert one.why == "scale 0.002 here, the claim is about 1"


@pytest.mark.parametrize(
    ("expected", "word"), [(1.0, "same growth"), (0.2, "grows faster"), (2.0, "grows slower")]
)
def test_growth_is_judged_by_its_exponent(tmp_path: Path, expected: float, word: str) -> None:
    elapsed = {
        ("sqlite", "here", clients): (clients * 0.98, clients * 1.0, clients * 1.02)
        for clients in (1, 10, 100)
    }
    claim = {
        "text": "time grows with the clients",
        "source": "Table 2",
        "test": "parallel",
        "growth": "clients",
        "exponent": expected,
    }
    (one,) = found(tmp_path, claim, elapsed, [invented.HERE], clients=(1, 10, 100))
    assert one.word == word
    assert one.number is not None and one.number.value == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("most", "word"), [(3.0, "confirmed"), (1.0, "contradicted: 3 of 3 runs above 1.000 s")]
)
def test_a_limit_is_kept_to_by_every_run(tmp_path: Path, most: float, word: str) -> None:
    claim = {
        "text": "t", "source": "s", "test": "parallel", "key": "elapsed_ns", "at_most": most * 1e9
    }  # fmt: skip
    (one,) = found(tmp_path, claim, 2.0, [invented.HERE])
    assert one.sentence == word


def test_values_that_are_not_above_0_are_shown_where_they_have_no_ratio(tmp_path: Path) -> None:
    record = recorded(tmp_path, {**DISK_IS_SLOWER, "key": "drained_ns"}, 1.0)
    drained = iter((-48_000, 21_000, 104_000, 5_000_000, 5_000_000, 5_000_000))
    in_order = sorted(record.runs, key=lambda run: (run.storage != "ssd", run.repetition))
    runs = [invented.changed(run, "observation", drained_ns=next(drained)) for run in in_order]
    (one,) = judged_claims(replace(record, runs=tuple(runs)))
    assert one.sentence == ("open: measured -48.0 µs, 21.0 µs, 104 µs, so that there is no ratio")


def test_a_ratio_and_its_interval_are_of_the_same_means(tmp_path: Path) -> None:
    here, ssd = (1.0, 4.0, 4.0), (2.0, 2.0, 16.0)  # medians say half, geometric means more
    (one,) = found(tmp_path, DISK_IS_SLOWER, {HERE: here, SSD: ssd})
    ratio = one.number
    assert ratio is not None and ratio.low is not None and ratio.high is not None
    assert ratio.value == pytest.approx((16 / 64) ** (1 / 3))
    assert ratio.low * ratio.high == pytest.approx(ratio.value**2)  # in its middle


@pytest.mark.parametrize(
    ("key", "word"),
    [("all_ok.latency.p50_ns", "no order seen"), ("all_ok.latency.mean_ns", "same direction")],
)
def test_percentiles_that_are_a_bucket_apart_show_no_order(
    tmp_path: Path, key: str, word: str
) -> None:
    """Also where the repetitions of each cell are in one bucket: p50 is 20.00 and 20.02 ms."""
    elapsed = {HERE: (1.001,) * 3, SSD: (1.0,) * 3}
    (one,) = found(tmp_path, {**DISK_IS_SLOWER, "key": key}, elapsed)
    assert one.word == word


def test_memory_of_the_clients_process_is_not_judged_as_that_of_the_system(tmp_path: Path) -> None:
    claim = {
        "text": "memory grows", "source": "s", "test": "parallel", "key": "samples.resident_bytes",
        "growth": "clients", "exponent": 1,
    }  # fmt: skip
    bound = {**claim, "growth": None, "exponent": None, "at_most": 1}
    for one in (claim, {name: given for name, given in bound.items() if given is not None}):
        (judgement,) = found(tmp_path, one, 2.0, [invented.HERE], clients=(1, 10, 100))
        assert judgement.word == "not comparable"
        assert "client's process" in judgement.why


def shipped(workload: str, part: str) -> dict[str, Any]:
    """The claim of a shipped workload whose text has this part."""
    (claim,) = (dict(one) for one in reader.read(workload).claims if part in one["text"])
    return claim


@pytest.mark.parametrize(
    ("equal", "overtaken", "said"),
    [
        (4, 0, "confirmed"),
        (0, 4, "open: 4 were not decided"),
        (3, 1, "open: 1 was not decided"),
        (2, 1, "contradicted: 1 of 1 run not 4"),
    ],
)
def test_dumps_that_were_overtaken_confirm_nothing(
    tmp_path: Path, equal: int, overtaken: int, said: str
) -> None:
    """4 sets were updated at once: so many dumps are equal, and so many could not be compared."""
    claim = shipped("e831", "in all cases")
    planned = invented.plan([invented.POSTGRESQL], test="reliability", clients=(4,))
    counts = {"reference": {"equal_dumps": equal, "overtaken": overtaken}}
    (one,) = judged_claims(recorded(tmp_path, claim, 1.0, planned, observation=counts))
    assert one.sentence == said


@pytest.mark.parametrize(
    ("part", "word"),
    [
        ("in all cases", "does not hold"),  # the claim is that no answers are wrong
        ("at least 3 sets", "not comparable"),
    ],
)
def test_a_bound_of_invalid_runs_is_open_unless_the_claim_is_about_their_answers(
    tmp_path: Path, part: str, word: str
) -> None:
    planned = invented.plan([invented.POSTGRESQL], test="reliability", clients=(4,))
    counts = {"equal_dumps": 3, "overtaken": 0, "least_at_once": 1}
    record = recorded(
        tmp_path, shipped("e831", part), 1.0, planned, observation={"reference": counts},
        checks=invented.checks({"S01": 1}), verdict=("invalid", "wrong answers: S01"),
    )  # fmt: skip
    (one,) = judged_claims(record)
    assert one.word == word
    if word == "not comparable":
        assert one.why.endswith("is invalid: wrong answers: S01")


def test_a_claim_about_256_clients_is_open_where_8_were_run(tmp_path: Path) -> None:
    claim = shipped("bibsql", "none of 256 connections")
    found = {"limit": 8, "opened": 8, "refused_at": None, "error": None}
    planned = invented.plan([invented.POSTGRESQL], test="limit", clients=(8,))
    run_of_8 = {"kind": "limit", "upto": 8, "default": found, "raised": found}
    with invented.at_once(tmp_path / "r") as store:
        number = invented.begin(store, planned, workload={"claims": [claim]})
        store.begin_run(planned.runs[0])
        store.provisioned(invented.deployment(planned.runs[0].cell))
        store.observed(invented.observed(run_of_8))
        store.end_run("done")
        store.end_experiment()
        (one,) = judged_claims(store.experiment(number))
    assert one.sentence == "open: 8 clients here, the claim is about 256 or more"


@pytest.mark.parametrize(("memory_bytes", "is_open"), [(10**9, True), (10**6, False)])
def test_a_claim_about_more_data_than_memory_is_open_where_they_fit(
    tmp_path: Path, memory_bytes: int, is_open: bool
) -> None:
    claim = {**DISK_IS_SLOWER, "beyond_memory": True}
    record = recorded(tmp_path, claim, machine={"memory_bytes": memory_bytes})
    runs = tuple(map(invented.judged_again, record.runs))
    word, why = _judged_of(replace(record, runs=runs))
    assert word == ("not comparable" if is_open else "same ratio")
    assert why.endswith("the claim is about more data than memory") == is_open


def test_sizes_that_the_paper_does_not_have_are_left_out_of_its_growth(tmp_path: Path) -> None:
    """It has 8 to 256 clients: 1, 2 and 4 say nothing about that."""
    claim = shipped("bibsql", "PostgreSQL's clients")
    published = {"parallel": reader.read("bibsql").published["parallel"]}
    report = reader.read("bibsql").report
    words = []
    storage = StorageFacts("here", "here", "/", facts={"is_rotational": False})
    for clients in [(1, 2, 4, 8), (2, 8, 12, 16)]:
        planned = invented.plan([invented.POSTGRESQL], repetitions=2, clients=clients)
        elapsed = {("postgresql", "here", count): (count, count * 1.01) for count in clients}
        folder = tmp_path / str(clients[0])
        folder.mkdir()
        record = recorded(
            folder, claim, elapsed, planned, deployment={"storage": storage},
            workload={"published": published, "report": report},
        )  # fmt: skip
        (one,) = judged_claims(record)
        words.append(one.sentence)
    assert words[0] == "open: 1 size measured from 8 to 256, expected 3 at least"
    assert one.measured.endswith("clients from 8 to 16")
    assert one.published == "at least exponent 1.58, of the printed values from 8 to 16"


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"least": 1.5}, "confirmed"),
        ({"least": 3.0}, "contradicted: less than x 3"),
        ({"most": 1.5}, "contradicted: more than x 1.5"),
        ({"least": 2.0}, "open: the interval reaches over the limit"),
    ],
)
def test_how_many_times_is_judged_by_its_bounds(
    tmp_path: Path, bounds: dict[str, float], said: str
) -> None:
    claim = {**DISK_IS_SLOWER, "times": DISK_IS_SLOWER["order"], **bounds}
    del claim["order"], claim["ratio"]
    elapsed = {HERE: (9.0, 10.0, 11.0), SSD: (4.5, 4.9, 5.5)}
    (one,) = found(tmp_path, claim, elapsed)
    assert one.sentence == said
