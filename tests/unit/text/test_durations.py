"""A duration may have a unit, in options and in files; a plain number has the unit of its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ExperimentError
from assay.experiment import from_file as experiment_file
from assay.text import units
from assay.text.quantities import DURATION_S, LATENCY_LIMIT_MS, WAIT_S, Duration
from assay.text.units import size


@pytest.mark.parametrize(
    ("quantity", "word", "value"),
    [
        (DURATION_S, "5", 5.0),
        (DURATION_S, "1.5e1", 15.0),
        (DURATION_S, "5s", 5.0),
        (DURATION_S, "500ms", 0.5),
        (DURATION_S, "300ms", 0.3),
        (DURATION_S, "2min", 120.0),
        (DURATION_S, "0.5h", 1800.0),
        (WAIT_S, "0s", 0.0),
        (LATENCY_LIMIT_MS, "20", 20.0),
        (LATENCY_LIMIT_MS, "20ms", 20.0),
        (LATENCY_LIMIT_MS, "1.5s", 1500.0),
        (LATENCY_LIMIT_MS, "250us", 0.25),
        (LATENCY_LIMIT_MS, "250\u00b5s", 0.25),  # as labels have it
        (LATENCY_LIMIT_MS, "250\u03bcs", 0.25),
    ],
)
def test_a_duration_is_read(quantity: Duration, word: str, value: float) -> None:
    assert quantity.of_word(word) == value


@pytest.mark.parametrize("word", ["2m", "s", "-5s", "5 days", "1e3s", "0ms", "9999999h", "5ss"])
def test_an_invalid_duration_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"or with its unit \(500ms, 5s, 2min, 1h\), found"):
        DURATION_S.of_word(word)


def test_in_a_file(tmp_path: Path) -> None:
    written = tmp_path / "e.toml"
    head = 'workload = "tpcb"\n[drive]\n'
    written.write_text(
        head + 'duration_s = "2min"\nwarm_up_s = 3\nlatency_limit_s = "20ms"\n'
        'reconnect = { timeout_s = "1min" }\n'
    )
    driving = experiment_file.read(written)[0].driving
    assert driving == {
        "duration_s": 120.0,
        "warm_up_s": 3,
        "latency_limit_s": 0.02,
        "reconnect_timeout_s": 60.0,
    }
    written.write_text(head + 'duration_s = "2 minutes"\n')
    with pytest.raises(ExperimentError, match=r"e.toml:3: duration_s: expected a number of second"):
        experiment_file.read(written)


def test_a_number_in_a_file_is_shown_as_it_is_written(tmp_path: Path) -> None:
    written = tmp_path / "e.toml"
    for text, shown in {"1e3": "1e3", "1_000.5": "1_000.5", "[2, 1E1]": "1E1"}.items():
        key = "clients" if text.startswith("[") else "repetitions"
        written.write_text(f'workload = "tpcb"\n{key} = {text}\n')
        with pytest.raises(ExperimentError) as refused:
            experiment_file.read(written)
        assert f"{shown}: expected a whole number" in refused.value.message


def test_a_size_never_has_an_exponent() -> None:
    shown = [size(value) for value in (999, 20.5e6, 999.7e9, 1.1e15)]
    assert shown == ["999 B", "20.5 MB", "1 TB", "1100 TB"]


@pytest.mark.parametrize(
    ("value_ns", "unit", "shown"),
    [
        (166_900, "s", "0.000167"),
        (99_230, "s", "0.0000992"),
        (5_497_000, "s", "0.00550"),
        (51_630_000, "s", "0.0516"),
        (516_300_000, "s", "0.5163"),
        (36_800, "ms", "0.0368"),
        (130_700_000, "min", "0.00218"),
        (-48_000, "s", "-0.0000480"),
        (20, "µs", "0.0200"),
        (0, "s", "0"),
    ],
)
def test_all_times_of_a_column_are_in_the_unit_of_its_heading(
    value_ns: float, unit: str, shown: str
) -> None:
    assert units.time(value_ns, unit) == shown


def test_a_text_has_the_unit_that_fits_and_keeps_to_the_resolution() -> None:
    assert units.time(1_234, "ms", resolution_ns=100) == "0.0012"
    assert units.time_with_unit(1_234, "ms", resolution_ns=100) == "1.2 µs"
    assert units.time_with_unit(166_900, "s") == "167 µs"
    assert units.time_with_unit(1_234_000, "ms", resolution_ns=1000) == "1.23 ms"


@pytest.mark.parametrize(
    ("value", "shown"), [(0.053, "5.3 %"), (0.0501, "5.01 %"), (0.06, "6 %"), (0.63, "63 %")]
)
def test_a_share_beyond_a_limit_is_not_printed_as_the_limit(value: float, shown: str) -> None:
    assert units.share_beyond(value, 0.05) == shown
