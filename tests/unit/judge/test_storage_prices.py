"""Prices of storages and systems: how they are written, what is refused, and what a report makes of
them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import invented_records as invented
import observations
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Driving, StorageChoice, StoragePrice, SystemChoice, SystemPrice
from assay.experiment.choices import identity, prices
from assay.experiment.from_command_line import Words, experiment
from assay.judge import verdict
from assay.judge.run import VALID
from assay.judge.verdict import RateKept
from assay.report.build import build
from assay.report.values import Section

STORAGES = (
    StorageChoice("disk (throttled)", "throttled"),
    StorageChoice("ssd", "here"),
    StorageChoice("a=b", "tmpfs"),
)
SYSTEMS = identity.named_systems(
    [
        SystemChoice("sqlite"),
        SystemChoice("mariadb", settings={"innodb_buffer_pool_size": "64MB"}),
        SystemChoice("mariadb", settings={"innodb_buffer_pool_size": "1GB"}),
        SystemChoice("postgresql", called="old"),
    ]
)


def test_a_price_names_its_storage_and_may_name_its_currency() -> None:
    for word, expected in (
        ("ssd=0.60/GB", {"ssd": StoragePrice(0.6)}),
        ("disk=5e-2 $/gb, ssd=1$/GB",
         {"disk (throttled)": StoragePrice(0.05, "$"), "ssd": StoragePrice(1, "$")}),
        ("tmpfs=3/GB", {"a=b": StoragePrice(3)}),
        ("a=b=3EUR/GB", {"a=b": StoragePrice(3, "EUR")}),
    ):  # fmt: skip
        assert prices.of_words([word], STORAGES, SYSTEMS) == (expected, {})


def test_what_is_no_price_is_refused() -> None:
    for word, says in (
        ("sdd=1/GB", "did you mean 'ssd'"),
        ("ssd=-1/GB", "found '-1'"),
        ("ssd=0/GB", "found '0'"),
        ("ssd=inf/GB", "expected a number"),
        ("ssd=1", "expected --price STORAGE=0.60/GB"),
        ("ssd=1/TB", "expected --price STORAGE=0.60/GB"),
        ("1/GB", "expected --price STORAGE=0.60/GB"),
        ("ssd=1/GB,ssd=2/GB", "two prices"),
        ("sqlite=1,sqlite=2", "sqlite has two prices"),
        ("mariadb=1", "several systems; known: mariadb"),
        ("sqlit=1", "not a system of this experiment; did you mean 'sqlite'?"),
        ("sqlite=0", "found '0'"),
        ("sqlite=1/GB", "is a system, not a storage; its price is that of the whole: "),
    ):
        with pytest.raises(ArgumentError) as raised:
            prices.of_words([word], STORAGES, SYSTEMS)
        assert says in f"{raised.value.message}; {raised.value.hint}"


def test_a_file_says_prices_and_words_override_them(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    text = (
        'workload = "tpcb"\nsystems = ["null"]\nstorages = ["disk", "ssd"]\n'
        '[storage.disk]\nkind = "here"\nprice_per_gb = 0.05\ncurrency = "EUR"\n'
        '[storage.ssd]\nkind = "tmpfs"\nprice_per_gb = 1\ncurrency = "EUR"\n'
    )
    file.write_text(text)
    asked, _ = experiment(Words(str(file), price=("ssd=0.5EUR/GB",)))
    assert asked.prices == {"disk": StoragePrice(0.05, "EUR"), "ssd": StoragePrice(0.5, "EUR")}
    other, _ = experiment(Words(str(file), storage=("ssd=here,new=tmpfs",)))
    assert other.prices == {"ssd": StoragePrice(1, "EUR")}
    with pytest.raises(ArgumentError, match="need one currency: disk in EUR and ssd in USD"):
        experiment(Words(str(file), price=("ssd=0.5USD/GB",)))
    for wrong, line, says in (
        (text.replace("0.05", "-0.05"), 6, "price_per_gb = .*: expected a number"),
        (text.replace("0.05", '"low"'), 6, "price_per_gb = .*: expected a number"),
        (text.replace('"EUR"', '"a b"'), 7, "expected a currency"),
        (text.replace("price_per_gb = 0.05\n", ""), 6, "currency without a price"),
    ):
        file.write_text(wrong)
        with pytest.raises(ExperimentError, match=says) as raised:
            experiment(Words(str(file)))
        assert raised.value.line == line


def test_prices_of_systems_are_of_those_of_the_experiment(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    text = (
        'workload = "tpcb"\nsystems = ["sqlite", "duckdb"]\n'
        'price = ["sqlite=900EUR", "duckdb=800EUR"]\n'
    )
    file.write_text(text)
    asked, _ = experiment(Words(str(file), price=("duckdb=700EUR",)))
    assert asked.system_prices == {
        "sqlite": SystemPrice(900, "EUR"), "duckdb": SystemPrice(700, "EUR")
    }  # fmt: skip
    other, _ = experiment(Words(str(file), on=("null", "sqlite")))
    assert other.system_prices == {"sqlite": SystemPrice(900, "EUR")}
    with pytest.raises(ArgumentError, match="need one currency: here in USD and sqlite in EUR"):
        experiment(Words(str(file), on=("sqlite",), price=("here=0.5USD/GB",)))
    for wrong, says in (
        (text.replace("duckdb=", "mysql="), "'mysql' is not a system of this experiment"),
        (text.replace("duckdb=", "sqlite="), "sqlite has two prices"),
        (text.replace("800EUR", "800USD"), "need one currency"),
    ):
        file.write_text(wrong)
        with pytest.raises(ExperimentError, match=says) as raised:
            experiment(Words(str(file)))
        assert raised.value.line == 3


def searched(tmp_path: Path, seconds: dict[int, float], bytes_per_unit: float | None) -> Any:
    """The report of a search over ``scale`` for at most 10 s, on SQLite for 1,000 EUR and on
    PostgreSQL without a price."""
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL])
    runs = [
        replace(
            run, position=position,
            cell=replace(run.cell, parameters={"scale": scale}, fingerprint=f"{scale}{position}"),
        )
        for position, (run, scale) in enumerate(
            (run, scale) for run in planned.runs for scale in seconds
        )
    ]  # fmt: skip
    asked = replace(
        planned.experiment, goal="elapsed < 10s", goal_over="scale",
        system_prices={"sqlite": SystemPrice(1000, "EUR")},
    )  # fmt: skip
    with invented.at_once(tmp_path / "records.sqlite") as store:
        whole = replace(planned, experiment=asked, runs=tuple(runs))
        of_unit = {} if bytes_per_unit is None else {"scale": bytes_per_unit}
        invented.begin(store, whole, workload={"bytes_per_unit": of_unit})
        for run in runs:
            took_s = seconds[int(run.cell.parameters["scale"])]
            invented.write_run(store, run, int(took_s * invented.S))
        store.end_experiment()
        return build(store.latest())


@pytest.mark.parametrize(
    ("seconds", "found", "per_mb", "size"),
    [
        ({100: 5.0, 400: 20.0}, 200.0, 12.5, "80.0"),  # at the limit
        ({100: 5.0, 400: 9.0}, 400.0, 6.25, "160"),  # the highest that met it
        ({100: 15.0, 400: 20.0}, None, None, "-"),
    ],
)
def test_the_price_of_a_system_is_divided_by_what_a_goal_found(
    tmp_path: Path, seconds: dict[int, float], found: float | None, per_mb: float | None, size: str
) -> None:
    report = searched(tmp_path, seconds, 400_000.0)
    sqlite, other = report.tidy["tables"]["goals"]
    assert sqlite["found_bytes"] == (found and pytest.approx(found * 400_000))
    assert sqlite["price_per_unit"] == (found and pytest.approx(1000 / found))
    assert sqlite["price_per_mb"] == (per_mb and pytest.approx(per_mb))
    assert (sqlite["system_price"], sqlite["currency"]) == (1000, "EUR")
    assert (other["system_price"], other["price_per_mb"]) == (None, None)
    (table,) = (
        one for part in report.sections for one in part.tables if one.name.endswith("_goal")
    )
    shown = {
        column.heading: [row.cells[place].shown for row in table.rows]
        for place, column in enumerate(table.columns)
    }
    assert shown["price, EUR"] == ["1000", "-"]
    assert shown["price/MB, EUR"] == [f"{per_mb:g}" if per_mb else "-", "-"]
    assert shown["size, MB"][0] == size


def test_speed_ups_are_those_over_the_first_storage_that_was_measured(tmp_path: Path) -> None:
    choices = [StorageChoice(name, "here", f"/{name}") for name in ("refused", "slow", "fast")]
    planned = invented.plan([invented.SQLITE], choices)
    priced = {name: StoragePrice(1) for name in ("refused", "slow", "fast")}
    experiment = replace(planned.experiment, prices=priced)
    elapsed_s = {"slow": 4, "fast": 2}
    with invented.at_once(tmp_path / "records.sqlite") as store:
        invented.begin(store, replace(planned, experiment=experiment))
        for run in planned.runs:
            name = run.cell.storage.name
            if name in elapsed_s:
                invented.write_run(store, run, elapsed_s[name] * invented.S)
            else:
                store.begin_run(run)
                store.end_run("refused", "no such device")
        store.end_experiment()
        found = build(store.latest())
    (table,) = (
        one for section in found.sections for one in section.tables if one.name.endswith("_prices")
    )
    speed_ups = [row.cells[-5].shown.partition(" ")[0] for row in table.rows]
    assert speed_ups == ["refused", "first", "2.00"]


def priced(
    tmp_path: Path, elapsed_s: dict[str, list[float]], required_per_s: float | None
) -> tuple[Section, list[dict[str, object]]]:
    """The section of prices, and the rows of cells. 16 transactions each, in so many seconds."""
    prices_of = {"disk": 0.05, "ssd": 0.5, "memory": 2.5}
    planned = invented.plan(
        [invented.SQLITE], [StorageChoice(name, "here", f"/{name}") for name in elapsed_s],
        repetitions=len(next(iter(elapsed_s.values()))),
    )  # fmt: skip
    asked = replace(
        planned.experiment,
        prices={name: StoragePrice(prices_of[name], "EUR") for name in elapsed_s},
        required_rate_per_s=required_per_s,
    )
    elapsed = {("sqlite", name, 8): each for name, each in elapsed_s.items()}
    made = build(
        invented.experiment(tmp_path / "r.sqlite", replace(planned, experiment=asked), elapsed)
    )
    (section,) = (
        one for one in made.sections if any(table.name.endswith("_prices") for table in one.tables)
    )
    return section, made.tidy["tables"]["cells"]


def test_without_a_rate_that_is_required_no_storage_is_recommended(tmp_path: Path) -> None:
    section, cells = priced(tmp_path, {"disk": [20.0], "ssd": [16.0]}, None)
    assert "none is recommended: `--required-rate`" in " ".join(section.lines)
    assert "gives more for the money" not in str(section.tables)
    assert [row["keeps_required_rate"] for row in cells] == [None, None]
    first, second = ([cell.shown for cell in row.cells] for row in section.tables[0].rows)
    assert (first[3:5], second[3:7]) == (["0.05", "first"], ["0.5", "1.25", "10.0", "0.125"])
    assert [(row["storage_price_per_gb"], row["currency"]) for row in cells] == [
        (0.05, "EUR"), (0.5, "EUR"),
    ]  # fmt: skip
    with pytest.raises(ArgumentError, match="no storage has a price"):
        experiment(Words("tpcb", on=("null",), required_rate_per_s=500))


def test_the_cheapest_storage_that_keeps_the_required_rate_is_recommended(tmp_path: Path) -> None:
    times = {"disk": [32.0, 32.0], "ssd": [15.0, 16.0], "memory": [12.0, 12.0]}
    section, cells = priced(tmp_path, times, 1.0)
    (line,) = section.lines
    assert line == (
        "1/s: the cheapest that keeps it is sqlite, ssd, 8 clients: 1.033/s, 0.5 EUR/GB, "
        "its data 0.0103 EUR"
    )
    assert [row.cells[-1].shown for row in section.tables[0].rows] == ["no", "yes", "yes"]
    assert [row["keeps_required_rate"] for row in cells] == [False, True, True]
    assert [row["required_rate_per_s"] for row in cells] == [1.0] * 3


def test_what_was_not_kept_in_each_repetition_is_not_recommended(tmp_path: Path) -> None:
    section, cells = priced(tmp_path, {"disk": [15.0, 17.0]}, 1.0)
    assert section.lines == ("1/s: none is recommended, nothing is known to keep it",)
    (row,) = section.tables[0].rows
    assert (row.cells[-1].shown, cells[0]["keeps_required_rate"]) == ("not decided [1]", None)
    (tmp_path / "r.sqlite").unlink()
    section, _ = priced(tmp_path, {"disk": [17.0, 17.0]}, 1.0)
    assert section.lines == ("1/s: none is recommended, none keeps it",)


@pytest.mark.parametrize(
    ("offered_per_s", "elapsed_s", "expected"),
    [(0.5, 32.0, RateKept.OPEN), (1.0, 16.4, RateKept.YES), (1.0, 20.0, RateKept.NO)],
)
def test_an_open_loop_keeps_what_was_offered(
    offered_per_s: float, elapsed_s: float, expected: RateKept
) -> None:
    driving = Driving(duration_s=16, arrival="constant", offered_rate_per_s=offered_per_s)
    observed = observations.observation(
        elapsed_ns=int(elapsed_s * invented.S), outcomes=observations.outcomes(ok=16)
    )
    answer, why = verdict.rate_kept([(driving, observed)], VALID, 1.0)
    assert (answer, bool(why)) == (expected, expected is RateKept.OPEN)
