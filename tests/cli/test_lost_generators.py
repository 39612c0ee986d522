"""A run whose clients are driven by load generators, from the experiment to its verdict."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

import assay
from assay.api.results import Result
from assay.judge.warnings import kinds
from assay.record import DEFAULT_FILE_NAME
from running import wait_for_second

pytestmark = pytest.mark.slow

SERVER = "null[protocol=postgresql,delay=constant:2ms]"


def _generators() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if "engine_process" in " ".join(child.cmdline()):
                found.append(child)
    return found


def _report(result: Result) -> str:
    """Without its lines."""
    return " ".join(result.report().split())


def _driven(
    folder: Path,
    on_lost: str,
    killed: int = 1,
    duration_s: int = 5,
    end: Callable[[psutil.Process], None] = psutil.Process.kill,
) -> Result:
    """With so many of two generators killed, or ended so, while clients work."""
    before = _generators()

    def kill() -> None:
        wait_for_second(folder)
        for one in [one for one in _generators() if one not in before][-killed:]:
            end(one)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        return assay.run(
            "tpcb", on=SERVER, clients=4, generators=2, on_lost=on_lost, warm_up_s=0,
            duration_s=duration_s, records=folder / DEFAULT_FILE_NAME,
        )  # fmt: skip
    finally:
        killer.join()


def test_where_a_generator_is_lost_the_run_is_invalid_and_kept(tmp_path: Path) -> None:
    result = _driven(tmp_path, "end")
    (run,) = result.runs
    assert run.verdict == "invalid"
    report = _report(result)
    assert re.search(r"failed \(load machine \d of 2 lost after \d+ s\)", report)
    assert "Load generators" in report
    assert "generator-lost" not in report, "no others went on"


def test_where_a_loss_is_noticed_when_the_others_have_ended_the_run_is_invalid(
    tmp_path: Path,
) -> None:
    """It is after three seconds of silence."""
    result = _driven(tmp_path, "end", duration_s=3, end=psutil.Process.suspend)
    (run,) = result.runs
    assert run.verdict == "invalid"
    assert re.search(r"failed \(load machine \d of 2 lost after \d+ s\)", _report(result))


@pytest.mark.parametrize("on_lost", ["end", "continue"])
def test_where_all_generators_are_lost_the_run_is_invalid_and_kept(
    on_lost: str, tmp_path: Path
) -> None:
    result = _driven(tmp_path, on_lost, killed=2)
    (run,) = result.runs
    assert run.verdict == "invalid"
    report = _report(result)
    assert re.search(
        r"failed \(load machine 1 of 2 lost after \d+ s, load machine 2 of 2 lost after \d+ s\)",
        report,
    )
    assert "Load generators" in report, "what they had reported is there"


def test_where_the_others_continue_the_run_is_indicative(tmp_path: Path) -> None:
    result = _driven(tmp_path, "continue")
    (run,) = result.runs
    assert run.verdict == "indicative"
    assert "generator-lost" in _report(result)


def test_clocks_that_may_be_apart_are_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "CLOCKS_UNCERTAIN_NS", 0)
    result = assay.run(
        "tpcb", on=SERVER, clients=2, generators=[1, 2], transactions=20, warm_up_s=0,
        records=tmp_path / "r.sqlite",
    )  # fmt: skip
    one, other = result.runs
    assert (one.outcomes.ok, other.outcomes.ok) == (40, 40)
    report = _report(result)
    assert "clocks-apart" in report
    assert "load machine 2 is known to ±" in report
    assert [row["generators"] for row in result.table("runs")] == [1, 2]
