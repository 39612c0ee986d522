"""Claims are judged on what the quick runs of the papers' experiment files measured: each record of
`tests/data/papers` is of such a run."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from assay.record import ExperimentRecord, Run, Store
from assay.report.cells import cell_runs
from assay.report.papers.claims import claims
from assay.report.papers.claims.claim_case import JudgedClaim
from assay.report.papers.claims.claims import Claim, Term
from assay.report.papers.claims.judged_claims import judged
from assay.workload import reader

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[2] / "data" / "papers"
PAPERS = sorted(file.name.partition(".")[0] for file in DATA.glob("*.sqlite.xz"))
NOT_MEASURED = ("was not measured", "was not run", "one storage only", "it was not measured")


def record(path: Path, paper: str) -> ExperimentRecord:
    """With the claims of today: what was measured is kept, and they may change."""
    file = path / "records.sqlite"
    file.write_bytes(lzma.decompress((DATA / f"{paper}.sqlite.xz").read_bytes()))
    with Store(file) as store:
        kept = store.experiment(1)
    today = reader.read(kept.workload["name"]).for_record()
    workload: Any = {
        **kept.workload, "claims": today["claims"], "published": today["published"]
    }  # fmt: skip
    return replace(kept, workload=workload)


def measured_claims(experiment: ExperimentRecord) -> Iterator[Claim]:
    """Those of which each term has a measured run; of a claim that does not compare systems, of one
    system."""
    runs = [run for run in experiment.runs if run.is_measured]
    for claim in claims.of_record(experiment.workload):
        of_systems = len({str(term.levels.get("system")) for term in claim.terms}) > 1
        systems = [None] if of_systems else [*dict.fromkeys(run.system for run in runs)]
        for system in systems:
            own = [run for run in runs if system in (None, run.system)]
            if all(any(_is_of(run, term) for run in own) for term in claim.terms):
                yield claim
                break


def _is_of(run: Run, term: Term) -> bool:
    return all(_has(run, factor, level) for factor, level in term.levels.items())


def _has(run: Run, factor: str, wanted: Any) -> bool:
    if isinstance(wanted, tuple | list):
        return any(_has(run, factor, one) for one in wanted)
    system = run.cell["system"]
    memory = (system.get("machine") or {}).get("memory_bytes")
    driver = run.deployment.address.driver if run.deployment else ""
    levels: dict[str, set[Any]] = {
        "test": {run.test},
        "system": {run.system, driver},
        "storage": {run.storage},
        "storage_role": {cell_runs.role(run)},
        "clients": {run.clients},
        "cache": {run.levels["cache"]},
        "memory": {"none" if memory is None else f"{memory >> 20}MB"},
        "machine": {run.machine_name},
    }
    asked = {**(system.get("options") or {}), **(system.get("settings") or {}), **run.parameters}
    found = levels.get(factor, {asked.get(factor)})
    return str(wanted).casefold() in {str(one).casefold() for one in found}


@pytest.mark.parametrize("paper", PAPERS)
def test_what_was_measured_is_judged(paper: str, tmp_path: Path) -> None:
    experiment = record(tmp_path, paper)
    by_claim: dict[str, list[JudgedClaim]] = {}
    for one in judged(experiment):
        by_claim.setdefault(one.claim.text, []).append(one)
    of_measured = [*measured_claims(experiment)]
    assert of_measured, "none of the claims is about what was measured"
    for claim in of_measured:
        reasons = [one.reason for one in by_claim[claim.text]]
        print(claim.text, reasons)
        assert not all(any(word in why for word in NOT_MEASURED) for why in reasons), claim.text


def test_twice_the_memory_of_one_of_two_systems_is_compared(tmp_path: Path) -> None:
    """The buffer is an option of each system, and a part of its name in reports."""
    experiment = record(tmp_path, "scalzo-2001-tpcc")
    of_both = [one for one in judged(experiment) if "twice the memory" in one.claim.text]
    of = {one.of: one for one in of_both}
    assert set(of) == {"postgresql", "mariadb"}
    assert of["postgresql"].reason.startswith("postgresql was not measured: ")
    assert of["mariadb"].number is not None
