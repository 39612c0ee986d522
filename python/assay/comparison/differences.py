"""Takes the runs of two sides; gives what is not the same on both: the machines and the probes of
their storages, and of a cell whatever its fingerprint does not hold (versions, settings in effect,
texts, data, storage, durability).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from assay.comparison import factors, unequal_work
from assay.comparison.factors import SCRIPT, WORKLOAD, Identified
from assay.comparison.sides import Difference, Side, joined
from assay.contracts.durability import NOT_MEASURED
from assay.contracts.experiment import OF_SCRIPTS
from assay.contracts.recorded import Machine, MachineFact
from assay.experiment.choices.profiles import PROFILE
from assay.judge import agreement, storage_checks
from assay.judge.agreement import AnsweringRun, asked
from assay.plan import cell_names
from assay.probe.measure import UNEVEN, Probe
from assay.provision.undo import ledger
from assay.record import ExperimentRecord, Run, machines
from assay.text import pattern, units

_T = TypeVar("_T")

BLOCKING = ("workload", "data", "answers", "durability")
"""Differences that leave no verdict: the sides did other work, or kept less of it."""
DESPITE = ("machine", *BLOCKING)
"""What a user may ask to be passed over; another machine leaves no verdict on a condition."""
CHANGING_THE_WORK = (unequal_work.SAFEGUARD, unequal_work.INDEXES)
"""Differences that come first: what one side writes, flushes or checks beside the same work, and
which indexes it has. They explain a ratio, and leave a verdict."""
TEXT_OF_WORKLOAD = "text of the workload"
_FINGERPRINT = 12
"""Characters of one that are shown."""


def of_machines(a: Side, b: Side) -> tuple[Difference, ...]:
    """Hardware first."""
    of_a, of_b = (_merged(run.machine for _, run in side.runs) for side in (a, b))
    return tuple(_of_machine_facts(of_a, of_b))


def unknown_of_machines(a: Side, b: Side) -> tuple[str, ...]:
    """The facts without which it is not known whether the machines are the same. A model of
    processor that neither side has is not missed: some machines do not say it."""
    facts = [_merged(run.machine for _, run in side.runs) for side in (a, b)]
    return tuple(
        f"{side.name}'s {name}"
        for name in machines.ESSENTIAL
        for side, found in zip((a, b), facts, strict=True)
        if found.get(name) is None
        and (name == "memory_bytes" or any(one.get(name) is not None for one in facts))
    )


def of_following_runs(a: Run, b: Run) -> tuple[Difference, ...]:
    """Of two runs of one cell, the second in a later experiment."""
    return (
        *_of_machine_facts(machines.facts_by_name(a.machine), machines.facts_by_name(b.machine)),
        *_one("assay", "version of Assay", _build(a), _build(b)),
        *_one("workload", "text of the scripts", _scripts(a), _scripts(b)),
        *_of_runs([a], [b], between=""),
    )


def leave_no_verdict(differences: Iterable[Difference]) -> bool:
    """Whether the sides did other work, or kept less of it."""
    return any(one.what in BLOCKING for one in differences)


def are_other_machines(differences: Iterable[Difference]) -> bool:
    """Whether processors or memory are not the same."""
    return any(one.what == "machine" and one.name in machines.HARDWARE for one in differences)


def of_probes(a: Side, b: Side) -> Iterator[Difference]:
    """Of storages that have the same name on both sides, where they are apart by more than two
    probes of one storage are."""
    of_a, of_b = (
        {run.probe.storage: run.probe for _, run in side.runs if run.probe is not None}
        for side in (a, b)
    )
    for storage in (name for name in of_a if name in of_b):
        left, right = _measured(of_a[storage]), _measured(of_b[storage])
        for name in (name for name in left if name in right):
            low, high = sorted((left[name], right[name]))
            if high > UNEVEN * low:
                yield Difference(
                    "probe", f"{storage}, {name}",
                    units.digits(left[name], 3), units.digits(right[name], 3),
                )  # fmt: skip


def of_cell(
    a: Side, b: Side, a_runs: Sequence[Run], b_runs: Sequence[Run], between: str
) -> tuple[Difference, ...]:
    """Of the same cell on both sides, those that change the work first; what the factor ``between``
    determines is left out. Systems, data and durability are those of runs that were measured."""
    experiments = _experiments(a, a_runs), _experiments(b, b_runs)
    found = [
        *_one("assay", "version of Assay", *values_of_both(*experiments, _build)),
        *_of_texts(a, b, a_runs, b_runs, between),
    ]
    a_runs, b_runs = ([run for run in of if run.is_measured] for of in (a_runs, b_runs))
    if a_runs and b_runs:
        found += _of_runs(a_runs, b_runs, between)
    found += _one(
        "seed", "seed", *values_of_both(*experiments, lambda experiment: str(experiment.seed))
    )
    return tuple(sorted(found, key=lambda difference: difference.what not in CHANGING_THE_WORK))


def _of_runs(a_runs: Sequence[Run], b_runs: Sequence[Run], between: str) -> list[Difference]:
    found = list(unequal_work.differing_safeguards(a_runs, b_runs))
    found += _one("system", "version of the system", *values_of_both(a_runs, b_runs, _version))
    if between != "system":
        found += _one("system", "text of its dialect", *values_of_both(a_runs, b_runs, _dialect))
    if between != PROFILE:
        found += differing(a_runs, b_runs, between)
    if between != "storage":
        found += _storage(a_runs, b_runs)
    if between != WORKLOAD and between not in cell_names.named_parameters(a_runs[0].parameters):
        found += differences(a_runs, b_runs)
    if between not in cell_names.named_parameters(a_runs[0].parameters):
        are_other_scripts = between in (SCRIPT, WORKLOAD)
        found += unequal_work.differences_of_existing_data(
            a_runs, b_runs, are_other_scripts=are_other_scripts
        )
        found += unequal_work.differing_indexes(a_runs, b_runs)
    if between not in ("clients", SCRIPT) and between not in cell_names.named_parameters(
        a_runs[0].parameters
    ):
        found += [
            Difference("answers", f"answers to {one.statement}", one.a, one.b)
            for one in agreement.differing_statements(asked(a_runs), asked(b_runs))
        ]
        found += [
            Difference("answers", f"answers of {one.statement}", one.a, one.b)
            for one in _in_other_languages(agreement.differing_sums, a_runs, b_runs) or ()
        ]
    found += _one("workload", "transactions that never ended ok", *_never_ok(a_runs, b_runs))
    return [*found, *_durability(a_runs, b_runs), *_kept(a_runs, b_runs)]


def _never_ok(a: Sequence[Run], b: Sequence[Run]) -> tuple[str, str]:
    """Of each side the types of transactions that it tried in vain and the other side did: it did
    less, so that its rate is of other work."""
    (a_ok, a_not), (b_ok, b_not) = _types(a), _types(b)
    return ", ".join(sorted(a_not & b_ok)) or "none", ", ".join(sorted(b_not & a_ok)) or "none"


def _types(runs: Sequence[Run]) -> tuple[set[str], set[str]]:
    """Those that ended ok, and those that were tried and never did."""
    outcomes = [one for run in runs if run.driven for one in run.driven.outcomes_by_transaction]
    ok = {one.name for one in outcomes if one.ok}
    return ok, {one.name for one in outcomes if one.scheduled} - ok


def agreement_of_sides(a: Sequence[Run], b: Sequence[Run]) -> str:
    """How far the answers of both sides agree, where nothing differs; empty: none are known."""
    in_other_languages = _in_other_languages(agreement.agreement_of_sums, a, b)
    if in_other_languages is None:
        return agreement.agreement_of_statements(asked(a), asked(b))
    return in_other_languages


def why_answers_not_compared(a: Sequence[Run], b: Sequence[Run]) -> str:
    """Why it is not known whether both sides gave the same answers; empty: they were compared, or
    there are none to compare."""
    if _in_other_languages(agreement.agreement_of_sums, a, b) != "":
        return ""
    return "answers not compared: the statements are in other languages"


def _in_other_languages(
    compare: Callable[[Sequence[AnsweringRun], Sequence[AnsweringRun]], _T],
    a: Sequence[Run],
    b: Sequence[Run],
) -> _T | None:
    """Of the answers to all statements together; None: the sides have the same statements."""
    if not are_in_other_languages(a, b):
        return None
    of_a, of_b = (
        [AnsweringRun(run.seed, run.driven) for run in runs if run.driven] for runs in (a, b)
    )
    return compare(of_a, of_b)


def of_unequal_cells(
    a: Mapping[str, Identified], b: Mapping[str, Identified]
) -> tuple[Difference, ...]:
    """Of what identifies them (`factors.identifying`)."""
    return tuple(
        Difference("cell", name, *_shown_apart(a.get(name), b.get(name)))
        for name in factors.differing((a, b))
    )


def _shown_apart(a: Identified | None, b: Identified | None) -> tuple[str, str]:
    """Two files of one path with what they are known by."""
    if a and b and a.shown == b.shown:
        left, right = (f"{one.shown} ({one.known_by[:_FINGERPRINT]})" for one in (a, b))
        return left, right
    return a.shown if a else "", b.shown if b else ""


def _one(what: str, name: str, a: str, b: str) -> list[Difference]:
    return [Difference(what, name, a, b)] if a != b else []


def _of_texts(
    a: Side, b: Side, a_runs: Sequence[Run], b_runs: Sequence[Run], between: str
) -> Iterator[Difference]:
    """The texts of the workload, and what was executed of them: a fed file is not among the
    former, and a workload that is nothing but scripts has no others. Of other systems it is in
    another dialect, but for a fed file; of other parameters with other values. Within an experiment
    both sides have one text."""
    texts = {
        id(run): _text(one)
        for side, runs in ((a, a_runs), (b, b_runs))
        for one in _experiments(side, runs)
        for run in runs
        if run.experiment_id == one.id
        # Of one that was interrupted before its clients began nothing was executed.
        and not (_is_of_scripts(run) and (run.scripts or not run.is_measured))
    }
    if between == WORKLOAD:  # One text on each side is what is compared.
        yield from _of_several_texts(texts, a_runs, b_runs)
        return
    yield from values_that_differ(
        "workload", TEXT_OF_WORKLOAD, a_runs, b_runs, lambda run: texts.get(id(run), "")
    )
    experiments = {
        (one.path, one.id)
        for side, runs in ((a, a_runs), (b, b_runs))
        for one in _experiments(side, runs)
    }
    of_a, of_b = ([run for run in of if run.is_measured] for of in (a_runs, b_runs))
    runs = [*of_a, *of_b]
    is_one_text = len({run.system for run in runs}) == 1 or all(run.cell.feed for run in runs)
    is_parameter = bool(runs) and between in cell_names.named_parameters(runs[0].parameters)
    is_known = bool(of_a and of_b) and all(run.scripts for run in runs)
    is_parameter = is_parameter or between == SCRIPT
    if is_known and len(experiments) > 1 and is_one_text and not is_parameter:
        yield from values_that_differ("workload", "text of the scripts", of_a, of_b, _scripts)


def _of_several_texts(
    texts: Mapping[int, str], a_runs: Sequence[Run], b_runs: Sequence[Run]
) -> list[Difference]:
    """Where a side has more than one: a folder was edited between its experiments."""
    of_a, of_b = ({texts.get(id(run), "") for run in runs} for runs in (a_runs, b_runs))
    if max(len(of_a), len(of_b)) < 2:
        return []
    return [Difference("workload", TEXT_OF_WORKLOAD, joined(of_a), joined(of_b))]


def _experiments(side: Side, runs: Sequence[Run]) -> list[ExperimentRecord]:
    numbers = {run.experiment_id for run in runs}
    return [one for one in side.experiments if one.id in numbers]


def _build(recorded: ExperimentRecord | Run) -> str:
    return str(recorded.build.get("assay", ""))


def _text(experiment: ExperimentRecord) -> str:
    return experiment.workload.fingerprint[:_FINGERPRINT]


def _is_of_scripts(run: Run) -> bool:
    return run.cell.workload_content == OF_SCRIPTS


def _dialect(run: Run) -> str:
    """Beginning of the digest of the file that its dialect is."""
    return run.cell.system.dialect_content[:_FINGERPRINT]


def _scripts(run: Run) -> str:
    """By their texts and shares of the mix, as they are the same under another name."""
    scripts = run.scripts
    texts = json.dumps([[one.text, one.weight if len(scripts) > 1 else 1] for one in scripts])
    return hashlib.sha256(texts.encode()).hexdigest()[:_FINGERPRINT]


def _version(run: Run) -> str:
    return run.deployment.version if run.deployment else ""


def _durability(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    """The levels that were measured; where one side has none, or both lowered it by their settings,
    what these settings say of it. Queries need no durability."""
    if not any(run.may_commit for run in (*a, *b)):
        return []
    measured = values_of_both(a, b, _level)
    if all(measured) and measured[0] != measured[1]:
        return _one("durability", "durability", *measured)
    is_one_system = {run.system for run in a} == {run.system for run in b}
    if all(measured) and not is_one_system:
        return []
    return _one("durability", "durability by settings", *values_of_both(a, b, _lowered))


def in_memory(runs: Sequence[Run]) -> bool:
    """Whether commits of these runs are lost with the power, whatever else was measured."""
    return any(
        run.may_commit and run.deployment and storage_checks.is_in_memory(run.deployment)
        for run in runs
    )


def _kept(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    """Where one side alone is in memory."""
    if in_memory(a) == in_memory(b):
        return []
    found = (
        "nothing (memory)" if in_memory(runs) else level or NOT_MEASURED
        for runs, level in zip((a, b), values_of_both(a, b, _level), strict=True)
    )
    return _one("storage", "kept when the power fails", *found)


def _level(run: Run) -> str:
    return (storage_checks.comparable_durability(run.deployment) if run.deployment else None) or ""


def _lowered(run: Run) -> str:
    """By the class of a profile, which systems share; else by the settings, which are each
    system's own."""
    if run.deployment is None:
        return ""
    if run.deployment.durability_promised:
        return f"{run.deployment.durability_promised} by its profile"
    return ", ".join(run.deployment.durability_lowered_by) or "not lowered"


def _storage(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Difference]:
    for name in ("kind", "file_system", "mount_options", "scheduler", "write_cache"):

        def read(run: Run, name: str = name) -> str:
            return str(getattr(run.deployment.storage, name) or "") if run.deployment else ""

        of_a, of_b = values_of_both(a, b, read)
        if of_a and of_b:
            yield from _one("storage", f"{name} of the storage", of_a, of_b)
    limits = [
        [run.deployment.storage.in_force for run in side if run.deployment] for side in (a, b)
    ]
    for name in dict.fromkeys(name for side in limits for storage in side for name in storage):
        values = (joined(one.get(name, "none") for one in side) for side in limits)
        yield from _one("storage", f"{name} of the storage", *values)


def _merged(every: Iterable[Machine]) -> Mapping[str, MachineFact]:
    """Of runs on several machines, each value once."""
    seen: dict[str, list[MachineFact]] = {}
    for machine in every:
        for name, value in machines.facts_by_name(machine).items():
            if value not in seen.setdefault(name, []):
                seen[name].append(value)
    return {
        name: values[0] if len(values) == 1 else joined(values) for name, values in seen.items()
    }


def _of_machine_facts(
    a: Mapping[str, MachineFact], b: Mapping[str, MachineFact]
) -> Iterator[Difference]:
    """Hardware first; of facts that both have, since an earlier Assay kept fewer."""
    for name in dict.fromkeys((*machines.HARDWARE, *a)):
        if name in machines.ESSENTIAL and None in (a.get(name), b.get(name)):
            continue  # not known, which is no difference
        if name in a and name in b and not machines.is_same_fact(name, a[name], b[name]):
            yield Difference("machine", name, _shown(name, a[name]), _shown(name, b[name]))


def _shown(name: str, value: Any) -> str:
    if value is None:
        return ""
    is_size = name.endswith("_bytes") and isinstance(value, int)
    return units.binary(value) if is_size else str(value)


def _measured(probe: Probe) -> dict[str, float]:
    alone = next((one for one in probe.random_reads if one.depth == 1), None)
    parts = {
        "flushes_per_s": probe.flushes and probe.flushes.per_s,
        "random_reads_per_s": alone and alone.per_s,
        "sequential_read_bytes_per_s": probe.sequential_read and probe.sequential_read.bytes_per_s,
        "sequential_write_bytes_per_s": probe.sequential_write
        and probe.sequential_write.bytes_per_s,
    }
    return {name: float(value) for name, value in parts.items() if value}


# Takes the runs of two sides on systems that Assay filled; gives in what their data differ.
#
# Systems of another language may have other tables of the same content: then the sides have other
# rows, and are compared by what the workload declares for all languages.

_DIGITS = 12
"""Of a digest, as it is shown."""


def are_in_other_languages(a: Sequence[Run], b: Sequence[Run]) -> bool:
    """Whether the sides have the rows of one declaration, in the tables of several languages."""
    data = [run.data.request if run.data else None for run in (*a, *b)]
    if not all(one is not None and one.declared_fingerprint for one in data):
        return False
    is_one = not list(values_that_differ("data", "declared data", a, b, _declared))
    return is_one and len({one.fingerprint for one in data if one is not None}) > 1


def differences(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Difference]:
    is_translated = are_in_other_languages(a, b)
    if not is_translated:
        yield from values_that_differ("data", "input of the data", a, b, _input)
    tables: list[set[str]] = [set(run.data.rows) for run in (*a, *b) if run.data]
    every = set[str]().union(*tables)
    named = every.intersection(*tables) if is_translated else every

    def rows(run: Run) -> str:
        counts = run.data.rows if run.data else {}
        return ", ".join(f"{name} {counts[name]}" for name in sorted(named & set(counts)))

    yield from values_that_differ("data", "rows", a, b, rows)


def _declared(run: Run) -> str:
    return run.data.request.declared_fingerprint if run.data else ""


def _input(run: Run) -> str:
    return run.data.request.fingerprint[:_DIGITS] if run.data else ""


# Takes the runs of two sides; gives the settings in effect that are not the same on both, by what
# their values mean: those that both have first, then those that one side alone has.

_TRUTH = {"on": "true", "yes": "true", "off": "false", "no": "false"}
_NUMBER = pattern(r"(?a)[-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_BYTES = pattern(r"(?a)([0-9]{1,30})(?:\.([0-9]{1,30}))? ?(?:bytes|b|([kmgt])ib)")
_POWERS = {letter: power for power, letter in enumerate("kmgt", 1)}


def differing(a: Sequence[Run], b: Sequence[Run], between: str) -> Iterator[Difference]:
    """A system records all that are not at their default, so that one which a side does not have is
    at its default there, or that version or system lacks it."""
    of_a, of_b = _in_effect(a), _in_effect(b)
    if not of_a or not of_b:
        return
    is_one_system = {run.system for run in a} == {run.system for run in b}
    versions = {run.deployment.version for run in (*a, *b) if run.deployment}
    missing = "default" if len(versions) == 1 else "default, or not in this version"
    missing = missing if is_one_system else "default, or not in this system"
    may_be_lacking: list[Difference] = []
    for name in dict.fromkeys(name for settings in (*of_a, *of_b) for name in settings):
        if name == "port" or f"{a[0].system}.{name}" == between:
            continue
        left, right = (
            [_settings_in_effect_shown(one.get(name, missing)) for one in side]
            for side in (of_a, of_b)
        )
        found = Difference("setting", name, joined(left) or "empty", joined(right) or "empty")
        if _are_same(left, right) or any(map(ledger.is_path_of_a_run, found[2:])):
            continue
        if missing != "default" and missing in (*left, *right):
            may_be_lacking.append(found)
        else:
            yield found
    yield from may_be_lacking


def _in_effect(runs: Iterable[Run]) -> list[Mapping[str, str]]:
    """Of each run of which they are known."""
    found = (run.deployment for run in runs if run.deployment)
    return [one.settings for one in found if one.settings and not one.settings_unknown]


def _settings_in_effect_shown(value: str) -> str:
    """On one line."""
    return " ".join(value.split()) if "\n" in value else value


def _are_same(left: Iterable[str], right: Iterable[str]) -> bool:
    """Whether each value of a side has one on the other that means the same."""
    a, b = set(left), set(right)
    return all(any(mean_the_same(one, other) for other in b) for one in a) and all(
        any(mean_the_same(one, other) for other in a) for one in b
    )


def mean_the_same(value: str, other: str) -> bool:
    """``128.0 MiB`` is ``134217728B``, ``976.5 KiB`` may be ``1000000B``, ``on`` is ``TRUE``. A
    number without a unit is in that of its setting, and ``MB`` is a thousand or 1024 ``kB``: these
    are compared among themselves alone."""
    left, right = (
        _TRUTH.get(text.strip().lower(), text.strip().lower()) for text in (value, other)
    )
    if left == right:
        return True
    if _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right):
        return Fraction(left) == Fraction(right)
    first, second = _bytes(left), _bytes(right)
    if first is None or second is None:
        return False
    apart = abs(first[0] - second[0])
    return apart == 0 or apart < max(first[1], second[1])


def _bytes(text: str) -> tuple[Fraction, Fraction] | None:
    """A size, and the last decimal place to which it was cut; 0: it is whole."""
    found = _BYTES.fullmatch(text)
    if found is None:
        return None
    whole, places, letter = found.groups()
    unit = Fraction(1 << 10 * _POWERS.get(letter or "", 0))
    size = Fraction(f"{whole}.{places or 0}") * unit
    return size, unit / 10 ** len(places) if places else Fraction(0)


# Takes the runs of two sides, and what is read of each run; gives a difference where that is not
# the same run by run.

_R = TypeVar("_R", Run, ExperimentRecord)


def values_that_differ(
    what: str, name: str, a: Sequence[Run], b: Sequence[Run], read: Callable[[Run], str]
) -> Iterator[Difference]:
    """Where the sides have other values, or a repetition has several: then both may hold the same
    set of values, and no run of one did the work of its partner on the other."""
    values = values_of_both(a, b, read)
    of_repetitions: dict[int, set[str]] = {}
    for run in (*a, *b):
        if value := read(run):
            of_repetitions.setdefault(run.of_repetition, set()).add(value)
    if values[0] != values[1] or any(len(found) > 1 for found in of_repetitions.values()):
        yield Difference(what, name, *values)


def values_of_both(a: Sequence[_R], b: Sequence[_R], read: Callable[[_R], str]) -> tuple[str, str]:
    """What is read of the runs or experiments of each side, each value once."""
    return joined(map(read, a)), joined(map(read, b))
