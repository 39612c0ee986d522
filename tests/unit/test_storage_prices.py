"""Prices of storages: how they are written, what is refused, and what a report makes of them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import invented_records as invented
import pytest

from assay.errors import ArgumentError, ExperimentError
from assay.experiment import StorageChoice, StoragePrice, prices
from assay.experiment.words import Words, experiment
from assay.record import Store
from assay.report.build import build
from commands import Assay

STORAGES = (
    StorageChoice("disk (throttled)", "throttled"),
    StorageChoice("ssd", "here"),
    StorageChoice("a=b", "tmpfs"),
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ssd=0.60/GB", {"ssd": StoragePrice(0.6)}),
        ("ssd=0.60EUR/GB", {"ssd": StoragePrice(0.6, "EUR")}),
        ("disk=5e-2 $/gb, ssd=1$/GB",
         {"disk (throttled)": StoragePrice(0.05, "$"), "ssd": StoragePrice(1, "$")}),
        ("tmpfs=3/GB", {"a=b": StoragePrice(3)}),
        ("a=b=3/GB", {"a=b": StoragePrice(3)}),
    ],
)  # fmt: skip
def test_a_price_names_its_storage_and_may_name_its_currency(
    word: str, expected: dict[str, StoragePrice]
) -> None:
    assert prices.of_words([word], STORAGES) == expected


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("sdd=1/GB", "did you mean 'ssd'"),
        ("ssd=-1/GB", "found '-1'"),
        ("ssd=0/GB", "found '0'"),
        ("ssd=cheap/GB", "expected a number"),
        ("ssd=inf/GB", "expected a number"),
        ("ssd=1", "expected --price STORAGE=0.60/GB"),
        ("ssd=1/TB", "expected --price STORAGE=0.60/GB"),
        ("1/GB", "expected --price STORAGE=0.60/GB"),
        ("ssd=1/GB,ssd=2/GB", "two prices"),
    ],
)
def test_what_is_no_price_is_refused(word: str, says: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        prices.of_words([word], STORAGES)
    assert says in f"{raised.value.message} {raised.value.hint}"


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


def test_speed_ups_are_those_over_the_first_storage_that_was_measured(tmp_path: Path) -> None:
    choices = [StorageChoice(name, "here") for name in ("refused", "slow", "fast")]
    planned = invented.plan([invented.SQLITE], choices)
    priced = {name: StoragePrice(1) for name in ("refused", "slow", "fast")}
    experiment = replace(planned.experiment, prices=priced)
    elapsed_s = {"slow": 4, "fast": 2}
    with Store(tmp_path / "records.sqlite") as store:
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


@pytest.mark.slow
def test_a_report_divides_the_speed_up_by_the_price(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text("@Misc{a, title = {A}}\n")
    ended = assay(
        "run", "bibsql.sequential", "--on", "sqlite", "--storage", "disk=here,memory=tmpfs",
        "--set", "copies=1", "--price", "disk=0.1EUR/GB,memory=0.4EUR/GB", "--input", "a.bib",
        "--format", "json",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    runs = ended.document["tables"]["runs"]
    assert [(run["storage_price_per_gb"], run["currency"]) for run in runs] == [
        (0.1, "EUR"), (0.4, "EUR"),
    ]  # fmt: skip
    shown = re.sub(r" \[\d\]", "", assay("report", "latest", "--detail", COLUMNS="200").out)
    _, _, table = shown.partition("Speed-up and price of each storage in EUR")
    rows = [line.split() for line in table.splitlines()]
    [first] = [row for row in rows if "disk" in row][1:2]
    [second] = [row for row in rows if "memory" in row][:1]
    assert first[3:5] == ["0.1", "first"]
    speed_up, price_ratio, by_price = float(second[4]), float(second[-5]), float(second[-4])
    assert price_ratio == 4
    assert by_price == pytest.approx(speed_up / 4, abs=0.01)
    written = assay("report", "latest", "--format", "csv").out
    [disk, memory] = csv.DictReader(io.StringIO(written))
    assert (disk["storage_price_per_gb"], memory["currency"]) == ("0.1", "EUR")
