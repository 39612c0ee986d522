"""Takes runs; gives their levels of the factors by which cells are named and distinguished, and
what identifies a cell with one factor left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from assay.contracts import factors
from assay.contracts.experiment import shown_build
from assay.contracts.factors import ALWAYS_NAMED, OF_LEVELS, OF_MACHINE, VARIED_LEVELS
from assay.contracts.storage_facts import NOT_SEEN
from assay.errors import ArgumentError
from assay.experiment import Driving, Scalar, ServerMachine, StorageChoice, SystemChoice
from assay.experiment.choices import server_limits
from assay.experiment.choices.profiles import PROFILE
from assay.plan import cell_names, fingerprint
from assay.plan.values import Cell
from assay.record import Run
from assay.text.phrases import did_you_mean
from assay.workload.ad_hoc_script import TEST

_COLUMNS_OF_MACHINE = tuple(factor.column for factor in OF_MACHINE.values())
OF_DRIVING = Driving.__struct_fields__
_NO_PROFILE = "none"
SCRIPT = factors.SCRIPT.name
WORKLOAD = "workload"
"""The factor of two experiments with one test of two workloads: tables, rows and scripts."""
_CONTENT = "content"
"""Ends the names of digests: the paths beside them are shown."""


def levels(run: Run, between: str = "") -> dict[str, Scalar]:
    """Column → level, of the factors that have one. The profile of settings is part of the system's
    name, unless it is the factor ``between`` which levels are compared."""
    label = run.system_label
    if between == PROFILE:
        label = " ".join(word for word in label.split(" ") if not word.startswith(f"{PROFILE}="))
    elif (name := _name_in_system(run, between)) in _asked_of_system(run):
        label = cell_names.label_without_settings(label, run.cell, {between: name})
    groups = _groups(run) if between.startswith(cell_names.OF_GROUP) else run.group_clients
    driving = {
        name: level if isinstance(level, str | int | float | bool) else ", ".join(map(str, level))
        for name, level in run.driving.not_default.items()
    }
    profile = {PROFILE: _profile(run)} if between == PROFILE else {}
    return of_run(run, label, profile, _of_machine(run.server_machine), groups, driving)


def of_run(
    run: Run,
    label: str,
    of_system: Mapping[str, Scalar | None],
    of_machine: Mapping[str, Scalar | None],
    of_groups: Mapping[str, Scalar],
    of_driving: Mapping[str, Scalar],
) -> dict[str, Scalar]:
    """The levels of a run by factor, in the order in which they are shown; what its system is
    called, and which factors its system, its machine, its groups and its driving have, is for the
    caller to say."""
    found: dict[str, Scalar | None] = {
        "system": label,
        **of_system,
        "storage": run.storage or NOT_SEEN,
        **({cell_names.MACHINE: run.machine_name} if run.machine_name else {}),
        **of_machine,
        "clients": run.clients,
        **{f"{cell_names.OF_GROUP}{group}": number for group, number in of_groups.items()},
        **{name: level for name, level in run.levels.items() if name not in VARIED_LEVELS},
        **of_driving,
        **{name: run.levels[name] for name in VARIED_LEVELS},
        **cell_names.named_parameters(run.parameters),
    }
    return {name: level for name, level in found.items() if level is not None}


def _of_machine(machine: ServerMachine) -> dict[str, Scalar | None]:
    """By its columns."""
    return {OF_MACHINE[name].column: server_limits.plain(machine, name) for name in OF_MACHINE}


def identity(run: Run, between: str) -> str:
    """Equal for runs whose cells are equal, apart from the factor ``between``."""
    if between in ("", cell_names.MACHINE):
        return _on_machine(run, between, run.cell_fingerprint)
    return _on_machine(run, between, fingerprint.fingerprint_of_cell(_without(run, between)))


def identity_by_paths(run: Run, between: str) -> str:
    """As `identity`, but for what the files held: an edited script is the script that it was."""
    return _on_machine(run, between, fingerprint.cell_by_paths(_without(run, between)))


def _on_machine(run: Run, between: str, cell: str) -> str:
    named = run.machine_name if between != cell_names.MACHINE else ""
    return f"{cell} on {named}" if named else cell


def _groups(run: Run) -> Mapping[str, int]:
    """The clients of each group, also where they are as the workload declares them."""
    if run.group_clients or run.driven is None:
        return run.group_clients
    return {group.name: group.clients for group in run.driven.groups if group.name}


def factor_of(field: str) -> str:
    """The factor to which a field of a cell's document belongs; empty: to none."""
    head, _, rest = field.partition(".")
    if head in ("parameters", "driving"):
        return rest
    if field.startswith("system.machine."):
        name = field.removeprefix("system.machine.").partition(".")[0]
        return next((one.name for one in OF_MACHINE.values() if one.column == name), "")
    if head == "group_clients":
        return f"{cell_names.OF_GROUP}{rest}"
    return head if head in (*ALWAYS_NAMED, *OF_LEVELS) else ""


def _without(run: Run, between: str) -> Cell:
    """The run's cell without a factor: with a level that all have in its place."""
    cell = run.cell
    system = cell.system
    if between in ("", cell_names.MACHINE):
        return cell
    if between == "system":
        return replace(cell, system=_NO_SYSTEM)
    if between == "storage":
        if system.stands_on:  # its address is that of the storage
            system = replace(system, url=None, stands_on=None)
        return replace(cell, storage=StorageChoice(), system=system)
    if between == PROFILE:
        of_profile = system.of_profile
        own = _system_with(system, lambda name, value: of_profile.get(name) != value)
        return replace(cell, system=replace(own, profile="", of_profile={}))
    if name := _name_in_system(run, between):
        return replace(cell, system=_system_with(system, lambda setting, _: setting != name))
    if between in OF_MACHINE:
        factor = OF_MACHINE[between]
        machine = replace(system.machine, **{factor.column: factor.default})
        return replace(cell, system=replace(system, machine=machine))
    if between.startswith(cell_names.OF_GROUP):  # The number of all follows.
        of_groups = dict(_groups(run))
        of_groups.pop(between.removeprefix(cell_names.OF_GROUP), None)
        return replace(cell, group_clients=of_groups, clients=0)
    if between == SCRIPT:
        return replace(cell, scripts=(), test=TEST, workload="")
    if between == WORKLOAD:
        return replace(cell, workload="", workload_content="")
    if between in (named := cell_names.named_parameters(run.parameters)):
        of_factors = zip(named, run.parameters.items(), strict=True)
        left = dict(one for name, one in of_factors if name != between)
        return replace(cell, parameters=left)
    if between in OF_DRIVING:
        plain = {between: getattr(Driving(), between)}
        return replace(cell, driving=structs.replace(cell.driving, **plain))
    if between == factors.CLIENTS.name:
        return replace(cell, clients=0)
    levels = {name: level for name, level in cell.levels.items() if name != between}
    return replace(cell, levels=levels)


_NO_SYSTEM = SystemChoice("")


def _system_with(system: SystemChoice, is_kept: Callable[[str, str], bool]) -> SystemChoice:
    """With these of its options and settings."""
    options, settings = (
        {name: value for name, value in part.items() if is_kept(name, value)}
        for part in (system.options, system.settings)
    )
    return replace(system, options=options, settings=settings)


def level_of(run: Run, factor: str, default: str = cell_names.DEFAULT_SETTING) -> str | None:
    """As text, as the option takes it; None: the run has none. ``default``: what a setting is
    called where it has the value that it has anyway."""
    if factor in OF_MACHINE:
        level = cell_names.machine_levels(run.server_machine, [factor]).get(factor)
    elif factor == SCRIPT:
        level = run.scripts_given or None
    elif factor == WORKLOAD:
        level = None if run.is_ad_hoc else Path(run.workload).name
    elif name := _name_in_system(run, factor):
        is_default = name in run.cell.system.at_default
        level = default if is_default else _asked_of_system(run).get(name, default)
    else:
        level = levels(run, factor).get(factor)
    return None if level is None else cell_names.level_text(level)


def default_of(runs: Iterable[Run], factor: str) -> str:
    """How the runs that spell the default of a setting out call it; else `DEFAULT`."""
    for run in runs:
        name = _name_in_system(run, factor)
        if name and name in run.cell.system.at_default:
            return _asked_of_system(run).get(name, cell_names.DEFAULT_SETTING)
    return cell_names.DEFAULT_SETTING


def levels_of(runs: Iterable[Run], factor: str, default: str = "") -> list[str]:
    """In the order of the runs. ``default``: as `level_of` takes it; empty: of these runs."""
    runs = list(runs)
    default = default or default_of(runs, factor)
    found = (level_of(run, factor, default) for run in runs)
    return list(dict.fromkeys(level for level in found if level is not None))


def example_of_two_levels(runs: Iterable[Run]) -> str:
    """What ``--between`` may be given for these runs; empty: each factor has one level."""
    runs = list(runs)
    found = {factor: levels_of(runs, factor) for factor in known_factors(runs)}
    several = [factor for factor in found if len(found[factor]) > 1]
    if not several:
        return ""
    factor = min(several, key=lambda name: len(found[name]))
    first, second, *more = found[factor]
    return f"--between '{factor}={first},{second}'" if more else f"--between {factor}"


def known_factors(runs: Iterable[Run]) -> list[str]:
    """Those whose levels can be compared."""
    runs = list(runs)
    known = dict.fromkeys((*ALWAYS_NAMED, *OF_LEVELS, *OF_MACHINE))
    known |= dict.fromkeys(cell_names.MACHINE for run in runs if run.machine_name)
    known |= dict.fromkeys(
        name for run in runs for name in cell_names.named_parameters(run.parameters)
    )
    known |= dict.fromkeys(
        name
        for run in runs
        for name in levels(run)
        if name in OF_DRIVING or name.startswith(cell_names.OF_GROUP)
    )
    known |= dict.fromkeys(PROFILE for run in runs if _profile(run) != _NO_PROFILE)
    known |= dict.fromkeys(SCRIPT if run.is_ad_hoc else WORKLOAD for run in runs)
    known |= dict.fromkeys(f"{run.system}.{name}" for run in runs for name in _asked_of_system(run))
    return list(known)


def known_factor(between: str, runs: Iterable[Run]) -> str:
    """The factor of that name; a setting or option of one system alone needs not its system
    (``SETTING`` is ``SYSTEM.SETTING``). Raises `ArgumentError` where the runs have none, or several
    systems have one."""
    runs = list(runs)
    known = known_factors(runs)
    if between in known:
        return between
    full = sorted({f"{run.system}.{between}" for run in runs if between in _asked_of_system(run)})
    if len(full) == 1:
        return full[0]
    raise ArgumentError(
        f"there is no factor {between!r} in these runs"
        if not full
        else f"several systems have a setting {between!r}",
        hint=f"name one: --between {' or --between '.join(full)}"
        if full
        else did_you_mean(between, known),
    )


def names(runs: Sequence[Run], between: str = "") -> list[str]:
    """A name for the cell of each run, of several tests with its test; without the factor that is
    compared."""
    of_tests: dict[str, list[Run]] = {}
    tests = [test_of(run, between) for run in runs]
    for test, run in zip(tests, runs, strict=True):
        of_tests.setdefault(test, []).append(run)
    found = {
        test: iter(cell_names.cell_names(named_by(several, between)))
        for test, several in of_tests.items()
    }
    shown = ((test, next(found[test])) for test in tests)
    joined = [", ".join(filter(None, one if len(of_tests) > 1 else one[1:])) for one in shown]
    return _set_apart(joined, runs, between)


def test_of(run: Run, between: str) -> str:
    """With its workload, unless that is what is compared."""
    return run.test_name if between == WORKLOAD else run.full_test_name


def _set_apart(shown: Sequence[str], runs: Sequence[Run], between: str) -> list[str]:
    """Cells that are called the same and are not, each with the first field in which they differ:
    ``feed a.sql``."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(shown):
        places.setdefault(name, []).append(place)
    found = list(shown)
    for several in places.values():
        if len(several) < 2:
            continue
        fields = {place: identifying(runs[place]) for place in several}
        for name in differing(fields.values()):
            if between and factor_of(name) == between:
                continue
            if len({found[place] for place in several}) == len(several):
                break
            for place in several:
                field = fields[place].get(name)
                found[place] += f", {name} {field.shown if field else 'none'}"
    return found


def named_by(runs: Sequence[Run], between: str = "") -> list[dict[str, Scalar]]:
    """The levels by which their cells are named: those of a server's machine, and the settings of a
    single system, are factors where they vary, else a part of the system's name."""
    varying = cell_names.varying_machines(run.server_machine for run in runs)
    not_in_label = [*varying, *([between] if between in OF_MACHINE else [])]
    taken = {name for run in runs for name in (*levels(run, between), *varying)}
    of_system = {
        factor: name
        for factor, name in cell_names.varying_settings((run.cell for run in runs), taken).items()
        if between not in (name, f"{runs[0].system}.{name}")
    }
    cells: list[dict[str, Scalar]] = []
    for run in runs:
        machine = run.server_machine
        given = {
            name: one
            for name, one in levels(run, between).items()
            if name not in _COLUMNS_OF_MACHINE
        }
        label, storage = str(given.pop("system")), given.pop("storage")
        label = cell_names.label_without_machine(label, machine, not_in_label)
        cell = {
            "system": cell_names.label_without_settings(label, run.cell, of_system),
            **cell_names.setting_levels(run.cell, of_system),
            "storage": storage,
            **cell_names.machine_levels(machine, varying),
            **given,
        }
        left_out = {between, *(["clients"] if between.startswith(cell_names.OF_GROUP) else [])}
        cells.append({name: level for name, level in cell.items() if name not in left_out})
    return cells


class Identified(NamedTuple):
    """A field of what identifies a cell."""

    shown: str
    """With the path of a file, as it was given."""
    known_by: str
    """Equal for fields that are equal: of a file its content, wherever that lies."""


def identifying(run: Run) -> dict[str, Identified]:
    """What the fingerprint of the run's cell is of: dotted name → field. The workload of ad hoc
    scripts is their names, which are said once."""
    system = replace(run.cell.system, dialect_content="")
    cell = fingerprint.identifying_fields(replace(run.cell, system=system))
    if run.is_ad_hoc and cell.get("scripts"):
        cell.pop("workload", None)
    contents = {name: cell.pop(f"{name}_{_CONTENT}", "") for name in ("workload", "feed")}
    scripts = cell.pop("scripts", None) or []
    found = {name: Identified(one, one) for name, one in _flat(cell).items()}
    for name, content in contents.items():
        if name in found and content:
            found[name] = Identified(found[name].shown, content)
    if build := run.cell.system.build:
        found["system.build"] = Identified(shown_build(build), build)
    if scripts:
        paths = [
            {name: one for name, one in script.items() if name != _CONTENT} for script in scripts
        ]
        known_by = {"scripts": fingerprint.scripts_by_content(scripts)}
        found["scripts"] = Identified(
            _flat({"scripts": paths})["scripts"], _flat(known_by)["scripts"]
        )
    return found


def differing(cells: Iterable[Mapping[str, Identified]]) -> list[str]:
    """In what cells differ: the names of what is not the same for all, of what identifies each
    (`identifying`)."""
    cells = list(cells)
    names = dict.fromkeys(name for one in cells for name in one)
    return [
        name
        for name in names
        if len({one[name].known_by if name in one else None for one in cells}) > 1
    ]


def _flat(document: Mapping[str, Any], within: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in document.items():
        name = f"{within}.{key}" if within else str(key)
        if isinstance(value, Mapping):
            found |= _flat(value, name)
        elif isinstance(value, float):
            found[name] = f"{value:.12g}"
        elif isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
            found[name] = "; ".join(_listed(one) for one in value)
        else:
            found[name] = str(value)
    return found


def _asked_of_system(run: Run) -> dict[str, str]:
    """Setting or option → the value that was asked for."""
    return {**run.cell.system.options, **run.cell.system.settings}


def _name_in_system(run: Run, factor: str) -> str:
    """Of the factor ``SYSTEM.NAME``, where it is the run's system; else empty."""
    begin = f"{run.system}."
    return factor.removeprefix(begin) if factor.startswith(begin) else ""


def _profile(run: Run) -> str:
    return run.cell.system.profile or _NO_PROFILE


def _listed(document: Mapping[str, Any]) -> str:
    """A script of a mix: ``FILE`` or ``FILE@WEIGHT``."""
    return "@".join(_flat(document).values())
