"""Takes a workload with the numbers that its paper printed; returns them as records, as if they had
been measured here: each printed value stands where a run has the value that a claim reads.

A claim whose numbers stand in no table of the paper, but in a sentence, has cells with the numbers
of that sentence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

import invented_records as invented
from assay.contracts import factors
from assay.contracts.factors import ServerMachine
from assay.contracts.storage_facts import StorageFacts
from assay.experiment import Experiment, StorageChoice, SystemChoice
from assay.plan import Cell, Plan, PlannedRun, fingerprint
from assay.plan.cell_names import MACHINE
from assay.record import ExperimentRecord, Store
from assay.record.reader import joined_experiments
from assay.report.declared import published
from assay.report.declared import published as published_tables
from assay.report.declared.published import Published, Quantity
from assay.report.papers.claims import BOUNDS, Claim, ClaimKind, Term
from assay.text import units
from assay.workload.values import Workload

REPETITIONS = 2
ONE_MACHINE = "the machine"
_MANY = 64
_VALUE_PATHS = {
    "": "elapsed_ns",
    "elapsed": "elapsed_ns",
    "latency": "all_ok.latency.mean_ns",
    "size_on_disk": "data.size_on_disk_bytes",
    "throughput": "throughput",
}
_ELAPSED_NS = 100 * invented.S
"""Of a cell of which no time is printed."""
Levels = Mapping[str, Any]
Values = dict[str, float]
"""Path → value, in the units of records."""


@dataclass(frozen=True)
class PrintedCell:
    """What a paper printed of one cell."""

    machine: str
    levels: Levels
    values: Values = field(default_factory=dict)
    shares: Values = field(default_factory=dict)
    """Path → share of the elapsed time."""
    source: str = ""
    of_ratios: bool = False
    """Its values are ratios to those of the same test, and can be compared with these alone."""

    def has(self, term: Term) -> bool:
        """Whether what the term reads was printed of it, and it has the levels of the term."""
        printed = {**self.values, **self.shares}
        return all(path in printed for path in paths(term.quantity)) and self.has_levels(term)

    def has_levels(self, term: Term) -> bool:
        return all(_is(level, self.levels.get(factor)) for factor, level in term.levels.items())


def _is(wanted: Any, level: Any) -> bool:
    if isinstance(wanted, list | tuple):
        return any(_is(one, level) for one in wanted)
    return str(wanted).casefold() == str(level).casefold()


def paths(quantity: Quantity) -> tuple[str, ...]:
    return quantity.keys or (_VALUE_PATHS[quantity.value],)


def of_claim(
    workload: Workload, printed: list[PrintedCell], claim: Claim
) -> dict[str, list[PrintedCell]]:
    """By machine: the printed cells that it is about, where all of its terms have some, on a
    machine that is large enough; of a claim between machines those of all. Of several papers those
    of the one whose author the claim names."""
    found: dict[str, list[PrintedCell]] = {}
    author = claim.source.split()[0]
    printed = [one for one in printed if author in one.source] or printed
    if any(MACHINE in term.levels for term in claim.terms):
        of_terms = [cell for term in claim.terms for cell in printed if cell.has(term)]
        return {"all": of_terms} if of_terms else {}
    for machine in dict.fromkeys(cell.machine for cell in printed):
        if processors(workload, machine) < claim.processors:
            continue
        own = [cell for cell in printed if cell.machine == machine]
        of_terms = [[cell for cell in own if cell.has(term)] for term in claim.terms]
        together = [cell for cells in of_terms for cell in cells]
        tests = {term.test for term in claim.terms}
        if all(of_terms) and not (len(tests) > 1 and any(one.of_ratios for one in together)):
            found[machine] = list({id(cell): cell for cell in together}.values())
    return found


def processors(workload: Workload, machine: str) -> int:
    """As the paper says it; of a machine of which it does not, enough for any claim."""
    said = [
        str(text)
        for table in workload.published.values()
        for name, text in table.get("machines", {}).items()
        if name == machine
    ]
    cores = re.search(r"([0-9]+) (?:cores|processors)", " ".join([*said, machine]))
    return int(cores[1]) if cores else _MANY


def in_words(claim: Claim, workload: Workload, ratio: float | None = None) -> list[PrintedCell]:
    """Cells with the numbers of the claim itself: the ratio of its last to its first, unless
    another is given, or its limit."""
    found: list[PrintedCell] = []
    ratio = (
        ratio
        or _middle(claim)
        or {ClaimKind.ORDER: 2.0, ClaimKind.TIMES: claim.least or 0.99 * (claim.most or 1.0)}.get(
            claim.kind, 1.0
        )
    )
    assert ratio is not None
    least = {name: round(one) for name, one in claim.least_levels.items()}
    for place, term in enumerate(claim.terms):
        value = 1e9 * ratio ** (place / max(len(claim.terms) - 1, 1))
        levels = {"storage_role": "solid state", "system": "any", "clients": 20, **least}
        levels |= {name: _first(level) for name, level in term.levels.items()}
        levels |= {"test": term.test}
        machine = str(levels.get(MACHINE, ONE_MACHINE))
        if claim.kind in BOUNDS:
            value = float(levels["clients"] if isinstance(claim.limit, str) else claim.limit)
        first, *others = paths(term.quantity)
        own = {first: value, **dict.fromkeys(others, 0.0)}
        if term.quantity.per:
            own |= {first: value * 1e9, term.quantity.per: 1e9}
        if is_throughput(workload, term):
            own = {"elapsed_ns": 1e21 / value}
        alike = next((one for one in found if one.levels == levels), None)
        if alike is None:
            found.append(PrintedCell(machine, levels, own))
        else:
            alike.values.update(own)
    return found


def _middle(claim: Claim) -> float | None:
    """The printed ratio, of a range the middle."""
    printed = claim.ratio
    return None if printed is None else printed.value or math.sqrt(printed.low * printed.high)


def is_throughput(workload: Workload, term: Term) -> bool:
    """Whether more is better, so that the elapsed time is its reciprocal."""
    return term.quantity.key(workload.for_record(), term.test).is_more_better


def _first(level: Any) -> Any:
    return level[0] if isinstance(level, list | tuple) else level


def cells(workload: Workload) -> list[PrintedCell]:
    """Of all tables."""
    found: dict[tuple[Any, ...], PrintedCell] = {}
    recorded = workload.for_record()
    for name in workload.published:
        table = published_tables.of_record(recorded, name)
        assert table is not None
        for machine, levels, values, unit in _of_table(recorded, name, table):
            key = (machine, *sorted((factor, str(level)) for factor, level in levels.items()))
            is_ratio = not any(row.values for row in table.rows)
            cell = found.setdefault(
                key, PrintedCell(machine, levels, source=table.source, of_ratios=is_ratio)
            )
            (cell.values if unit != "%" else cell.shares).update(values)
    return list(found.values())


def _of_table(
    recorded: Mapping[str, Any], name: str, table: Published
) -> Iterator[tuple[str, Levels, Values, str]]:
    columns = published.columns_of_table(recorded, name, table)
    for row in table.rows:
        machine = str(row.levels.get(MACHINE, ONE_MACHINE))
        # Behind a comma a row says more of its system.
        measured = {name: _first(level) for name, level in row.measured.items()}
        own: Levels = {**row.factors, **measured, "system": row.system.partition(",")[0]}
        own |= {name: row.levels[name] for name in ("storage_role", MACHINE) if name in row.levels}
        if table.column_factor == "clients":  # scalability, of one client's time
            levels = {**own, "test": name, "storage_role": "solid state"}
            for clients, percent in zip(table.column_levels, row.values, strict=True):
                of = f"{machine} of {clients} processors"
                yield of, {**levels, "clients": 1}, {"elapsed_ns": float(_ELAPSED_NS)}, "ns"
                scaled_ns = _ELAPSED_NS / (clients * percent / 100)
                yield of, {**levels, "clients": clients}, {"elapsed_ns": scaled_ns}, "ns"
            continue
        printed = row.values or [1.0, *row.speed_up]
        for place, (column, value) in enumerate(zip(columns, printed, strict=bool(columns))):
            if isinstance(value, str):
                continue
            levels = {"storage_role": "solid state", **own, **column.levels, "test": column.test}
            if table.column_factor:
                levels.pop("storage", None)
                levels[table.column_factor] = table.column_levels[place]
            if not row.values:
                yield machine, levels, {"elapsed_ns": _ELAPSED_NS / value}, "ns"
            else:
                yield machine, levels, _read_as(column.quantity, value, column.unit), column.unit


def _read_as(quantity: Quantity, value: float, unit: str) -> Values:
    """The paths that the quantity reads, so that it has this value."""
    first, *others = paths(quantity)
    assert unit != "%" or quantity.per == "elapsed_ns"
    per = {**units.NS_PER, **units.BYTES_PER, "%": 0.01}.get(unit, 1)
    return {first: value * per, **dict.fromkeys(others, 0.0)}


def record(
    path: Path, workload: Workload, printed: list[PrintedCell], claim: Mapping[str, Any]
) -> ExperimentRecord:
    """An experiment in which each of these cells was measured, with this claim alone; of several
    machines one on each, reported together."""
    machines = dict.fromkeys(one.machine for one in printed)
    parts = [
        _of_machine(path, workload, [one for one in printed if one.machine == machine], claim)
        for machine in machines
    ]
    return joined_experiments(parts)


def _of_machine(
    path: Path, workload: Workload, printed: list[PrintedCell], claim: Mapping[str, Any]
) -> ExperimentRecord:
    planned = [(_cell(workload, one), one) for one in printed]
    here = processors(workload, printed[0].machine)
    runs = [
        PlannedRun(cell, repetition, seed=place, position=place)
        for place, (cell, repetition) in enumerate(
            (cell, repetition) for repetition in range(1, REPETITIONS + 1) for cell, _ in planned
        )
    ]
    values = {cell.fingerprint: of_cell for cell, of_cell in planned}
    tests = tuple(dict.fromkeys(cell.test for cell, _ in planned))
    names = dict.fromkeys(cell.system.name for cell, _ in planned)
    experiment = Experiment(
        workload.name, tests, tuple(map(SystemChoice, names)), (invented.HERE,),
        (1,), repetitions=REPETITIONS,
    )  # fmt: skip
    recorded = structs.replace(workload.for_record(), claims=(claim,))
    with invented.at_once(path) as store:
        number = invented.begin(
            store,
            Plan(experiment, tuple(runs)),
            workload=recorded,
            machine={"name": printed[0].machine, "processors": here, "processors_usable": here},
        )
        for run in runs:
            _write(store, run, values[run.cell.fingerprint])
        store.end_experiment()
        return store.experiment(number)


_NO_PARAMETERS = (
    "test", "system", "storage", "storage_role", "clients", "cache", "memory", MACHINE,
)  # fmt: skip


def _cell(workload: Workload, printed: PrintedCell) -> Cell:
    levels = printed.levels
    role = str(levels["storage_role"]).replace(" ", "-")
    name = str(levels.get("storage", role))
    storage = StorageChoice(name, "here", f"/{name}")
    others = {name: one for name, one in levels.items() if name not in _NO_PARAMETERS}
    parameters = {name: one for name, one in others.items() if name in workload.parameters}
    options = {name: str(one) for name, one in others.items() if name not in parameters}
    memory = str(levels.get("memory", "none"))
    machine = ServerMachine(None if memory == "none" else int(memory.removesuffix("MB")) << 20)
    cell = Cell(
        workload.name, str(levels["test"]),
        SystemChoice(str(levels["system"]).lower(), options=options, machine=machine),
        storage, int(levels.get("clients", 1)), parameters,
        factors.levels({"protocol": "simple", "threads": 0, "cache": levels.get("cache", "as-is")}),
    )  # fmt: skip
    return replace(cell, fingerprint=fingerprint.fingerprint_of_cell(cell))


def _write(store: Store, run: PlannedRun, printed: PrintedCell) -> None:
    cell = run.cell
    elapsed_ns = round(printed.values.get("elapsed_ns", _ELAPSED_NS))
    of_shares = {path: share * elapsed_ns for path, share in printed.shares.items()}
    observed = invented.completed(invented.observation(cell, elapsed_ns, intervals=[]))
    if "throughput" in printed.values:
        elapsed_ns = round(observed["outcomes"]["ok"] * 1e9 / printed.values["throughput"])
    is_driven = not any(path.split(".")[0] in _SESSIONS for path in printed.values)
    if not is_driven:
        observed = {
            "kind": "limit",
            "upto": cell.clients,
            **{one: dict(_FOUND) for one in _SESSIONS},
        }
    dataset: dict[str, Any] = {}
    deployment: dict[str, Any] = {}
    sample: dict[str, Any] = {"processes": 1, "handles": {}}
    for path, value in {**printed.values, **of_shares}.items():
        first, *rest = path.split(".")
        if first == "samples":
            sample[rest[0]] = round(value)
        elif first == "data":
            dataset[rest[0]] = round(value)
        elif first == "deployment":
            deployment[rest[0]] = round(value)
        elif path == "open_files.most":
            sample["handles"] = {"a file": round(value)}
        elif first == "transactions":
            _set_transaction(observed, rest, value)
        elif path not in ("elapsed_ns", "throughput"):
            _set(observed, [first, *rest], value)
    is_rotational = cell.storage.name == "disk"
    storage = StorageFacts(
        cell.storage.name, "here", "/data", "ext4", "/dev/sda1", "rw", 10**12, 5 * 10**11,
        facts={"is_rotational": is_rotational},
    )  # fmt: skip
    store.begin_run(run)
    store.provisioned(invented.deployment(cell, storage=storage, is_embedded=False, **deployment))
    store.loaded(invented.dataset(**dataset))
    store.driving(invented.drive_document(cell))
    store.observed(
        invented.observed({**observed, "elapsed_ns": elapsed_ns} if is_driven else observed)
    )
    store.sampled([_sampled(one, sample) for one in invented.samples()])
    store.checked([])
    store.end_run("done")


def _sampled(sample: Any, values: Mapping[str, Any]) -> Any:
    changed = replace if not isinstance(sample.sample, msgspec.Struct) else msgspec.structs.replace
    return structs.replace(sample, sample=changed(sample.sample, **values))


_SESSIONS = ("default", "raised")
_FOUND = {"limit": 1000, "opened": 256, "refused_at": None, "error": None}
_PARTS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "server_cost": lambda: {
        "cpu_ns": 0, "read_bytes": 0, "resident_peak_bytes": 0, "per_transaction_ns": 0
    },
    "connect": lambda: dict.fromkeys(("inside_ns", "outside_ns", "connect_ns"), 1_000_000),
    "reference": dict,
    "device_cost": lambda: {"device": "a device", "read_bytes": 0, "written_bytes": 0},
}  # fmt: skip
"""Of an observation, where something in it is printed."""


def _set(observed: dict[str, Any], path: list[str], value: float) -> None:
    *above, name = path
    place = observed
    for one in above:
        if not place.get(one):
            place[one] = _PARTS[one]()
        place = place[one]
    place[name] = round(value)


def _set_transaction(observed: dict[str, Any], path: list[str], value: float) -> None:
    """A latency of the transactions of a script, of which there are enough for any percentile."""
    script, part, name = path
    found = next((one for one in observed["transactions"] if one["name"] == script), None)
    if found is None:
        latency = invented.latency(10_000_000, 1000)
        found = {**observed["transactions"][0], "name": script, "count": 1000, "latency": latency}
        observed["transactions"].append(found)
    found[part] = {**found[part], name: round(value)}
