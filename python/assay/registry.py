"""The registry of systems, storages, dialects, row sources, steps, report forms and workloads, by
name.

They are entry points, of Assay and of other packages; reading the names imports nothing. A workload
is a folder with a ``workload.toml``: those beside this module in `workloads/`, the Python packages
that entry points name, or any path.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.contracts.plugins import ContractBroken
from assay.contracts.server_url import is_url
from assay.errors import ArgumentError, AssayError, Bug, PluginFailed
from assay.text import paths
from assay.text.installed_packages import EntryPoint, entry_points
from assay.text.phrases import did_you_mean, phrase
from assay.text.secrets import is_connection_string, without_secrets

if TYPE_CHECKING:
    from assay.contracts.dialects import Dialect
    from assay.contracts.observation import StepReport
    from assay.contracts.storages.protocol import Storage
    from assay.contracts.systems.protocol import System, SystemFamily
    from assay.dialects.standard import StandardSql

WORKLOADS_FOLDER = Path(__file__).parent / "workloads"
KNOWN_AS = "known_as"
"""In that file: names that others have for the workload and its tests."""
WORKLOAD_FILE = "workload.toml"
ONE_WORKLOAD = (
    "an experiment has one workload: run each by itself, then "
    "`assay compare latest-1 latest --between workload`"
)
EXPERIMENTS_FOLDER = Path(__file__).parent / "experiment" / "papers"
_BUILT_IN = (".", "experiments")
"""Where guides name the built-in experiment files: they are there in a clone of the repository."""
_DIALECTS, _WORKLOADS = "assay.dialects", "assay.workloads"
_STEP_REPORTS = "assay.step_reports"
"""Groups of entry points."""


@cache
def _entries(group: str) -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group)}


def _get(group: str, what: str, name: str) -> Any:
    entries = _entries(group)
    if name not in entries:
        raise unknown(what, name, entries)
    entry = entries[name]
    return _own(entry, what) if _is_own(entry) else _plugin(entry)


@cache
def _own(entry: EntryPoint, what: str) -> Any:
    try:
        return entry.load()
    except ImportError as error:
        raise Bug(f"{what} {entry.name!r} is registered as {entry.value} but: {error}") from error


def _is_own(entry: EntryPoint) -> bool:
    return entry.module.partition(".")[0] == __name__.partition(".")[0]


@cache
def _plugin(entry: EntryPoint) -> Any:
    """What another package registers, if it keeps its contract; raises `PluginFailed`."""
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:
        raise PluginFailed(
            f"{plugin_described(entry)} cannot be imported from {entry.value}: "
            f"{type(error).__name__}: {error}",
            hint="correct the package, or uninstall it",
        ) from error
    violations = _violations(entry, found)
    if violations:
        lines = "\n".join(f"- {violation}" for violation in violations)
        raise PluginFailed(
            f"{plugin_described(entry)} breaks its contract:\n{lines}",
            hint="correct the package, or uninstall it; its contract is in assay.contracts",
        )
    return found


def _violations(entry: EntryPoint, value: Any) -> list[str]:
    """Those of a system, a storage, a dialect or a report of a step; the other groups have no
    contract that can be examined."""
    from assay.contracts.observation import step_reports as of_reports
    from assay.contracts.storages import abilities as of_storages
    from assay.contracts.systems import validation as of_systems
    from assay.dialects import declared as of_dialects

    validates = {
        "assay.systems": of_systems.validate,
        "assay.storages": of_storages.validate,
        _DIALECTS: of_dialects.validate,
        _STEP_REPORTS: of_reports.validate_step_report,
    }
    if entry.group not in validates:
        return []
    try:
        validates[entry.group](value)
        violations = []
    except ContractBroken as broken:
        violations = broken.violations
    is_report = entry.group == _STEP_REPORTS
    name = getattr(value, "name", entry.name) if not is_report else value.kind()
    if name != entry.name:
        violations.append(f"name: expected {entry.name!r}, as in its entry point, found {name!r}")
    return violations


_GROUPS = (
    "assay.systems", "assay.storages", "assay.row_sources", "assay.steps", "assay.report_forms",
    _STEP_REPORTS, _WORKLOADS, _DIALECTS,
)  # fmt: skip


def plugins() -> list[EntryPoint]:
    """Everything that other packages register."""
    every = (entry for group in _GROUPS for entry in _entries(group).values())
    return [entry for entry in every if not _is_own(entry)]


def plugin_described(entry: EntryPoint, kind: str = "plugin") -> str:
    """A plugin, as a message names it: ``the plugin 'mydb' (package mydb-assay 1.0)``."""
    return f"the {kind} {entry.name!r} (package {package_of(entry)})"


def package_of(entry: EntryPoint) -> str:
    """Name and version of the package that registers it."""
    from importlib.metadata import PathDistribution  # here: it takes long to import

    package = PathDistribution(entry.information) if entry.information else None
    if package is None or "Name" not in package.metadata:
        return entry.module.partition(".")[0]
    return f"{package.name} {package.version}"


_FAMILIES = "assay.system_families"


def systems() -> tuple[str, ...]:
    """Names of the systems under test, in alphabetical order."""
    return tuple(sorted(_entries("assay.systems")))


def system(name: str) -> System:
    """The system of that name, or the member of a family (``FAMILY:MEMBER``); raises
    `ArgumentError` with the nearest known name."""
    family_name, colon, member = name.partition(":")
    if colon:
        return family(family_name).member(member)
    if name not in systems():
        raise unknown_system(name)
    found: System = _get("assay.systems", "system", name)
    return found


def unknown_system(word: str) -> ArgumentError:
    """The error for a name that is no system's; its hint begins with the system that is also called
    so, or with the nearest name."""
    error = unknown("system", word, systems())
    if word.lower() not in systems() and (meant := _also_called(word.lower())):
        error.hint = f"did you mean {meant!r}? known: {', '.join(systems())}"
    return error


def _also_called(word: str) -> str | None:
    for name, found in usable_systems():
        if word in getattr(found, "also_called", ()):
            return name
    for family_name in families():
        if member := getattr(family(family_name), "also_called", {}).get(word):
            return f"{family_name}:{member}"
    return None


def families() -> tuple[str, ...]:
    """Names of the families of systems, in alphabetical order."""
    return tuple(sorted(_entries(_FAMILIES)))


def family(name: str) -> SystemFamily:
    """The family of systems of that name; raises `ArgumentError` with the nearest known name."""
    found: SystemFamily = _get(_FAMILIES, "family of systems", name)
    return found


def usable_systems() -> Iterator[tuple[str, System]]:
    """Names and systems, in alphabetical order, without the plugins that break their contract."""
    for name in systems():
        with suppress(PluginFailed):
            yield name, system(name)


def dialects_of_packages() -> dict[str, StandardSql]:
    """The dialects that other packages register for modules of families, by name; without those
    that break their contract."""
    found = {}
    for name in _entries(_DIALECTS):
        with suppress(PluginFailed):
            found[name] = _get(_DIALECTS, "dialect", name)
    return found


def dialect_of_package(name: str, others: Iterable[str]) -> StandardSql:
    """The dialect of that name that another package registers. Raises `PluginFailed` where it
    breaks its contract, `ArgumentError` with the nearest name, also of the ``others``."""
    if name not in _entries(_DIALECTS):
        raise unknown("dialect", name, [*others, *_entries(_DIALECTS)])
    found: StandardSql = _get(_DIALECTS, "dialect", name)
    return found


def dialects() -> dict[str, Dialect]:
    """Every dialect that a system or a member of a family speaks, by name, in alphabetical
    order."""
    spoken: dict[str, Dialect] = {**dialects_of_packages()}
    for name in families():
        spoken |= family(name).dialects
    spoken |= {found.dialect.name: found.dialect for _, found in usable_systems()}
    return dict(sorted(spoken.items()))


def dialect_of_file(file: Path) -> Dialect:
    """The dialect that is described there; `dialects` has it from then on. Raises `ExperimentError`
    with the line, `ArgumentError` where no family takes one, or another dialect is called so."""
    from assay.contracts.systems.protocol import TakesDialectFiles

    for name in families():
        found = family(name)
        if isinstance(found, TakesDialectFiles):
            return found.dialect_of_file(file)
    raise ArgumentError(f"{file}: no family of systems takes a dialect that is a file")


def broken_systems() -> Iterator[PluginFailed]:
    """What is wrong with each system that cannot be used."""
    for name in systems():
        try:
            system(name)
        except PluginFailed as error:
            yield error


def url_schemes(name: str) -> tuple[str, ...]:
    """The URL schemes of that system; empty where it is not reached by URL, or cannot be used."""
    try:
        return getattr(system(name), "url_schemes", ())
    except PluginFailed:
        return ()


def system_of_url(url: str) -> str:
    """The name of the system whose ``url_schemes`` contain the scheme of this URL."""
    scheme = url.partition(":")[0].lower()
    schemes = {scheme_of_url: name for name in systems() for scheme_of_url in url_schemes(name)}
    if scheme not in schemes:
        if scheme in systems():
            system(scheme)  # A plugin that cannot be used says why.
        raise unknown("URL scheme", scheme, schemes)
    return schemes[scheme]


def storages() -> tuple[str, ...]:
    """Names of the kinds of storage."""
    return tuple(sorted(_entries("assay.storages")))


def storage(name: str) -> Storage:
    """The kind of storage of that name."""
    found: Storage = _get("assay.storages", "storage", name)
    return found


def unknown_storage(word: str) -> ArgumentError:
    """The error for a name that is no storage's; its hint begins with the one that is also called
    so, or with the nearest name."""
    error = unknown("storage", word, storages())
    for name in storages():
        with suppress(PluginFailed):
            if word.lower() in getattr(storage(name), "also_called", ()):
                error.hint = f"did you mean {name!r}? known: {', '.join(storages())}"
    return error


def row_sources() -> tuple[str, ...]:
    """Names of the sources of rows."""
    return tuple(sorted(_entries("assay.row_sources")))


def row_source(name: str) -> Any:
    """The `assay.load.row_sources.protocol.RowSource` of that name."""
    return _get("assay.row_sources", "source of rows", name)


_STEPS: Mapping[str, str] = {
    "load": "assay.lab.steps.load:Load",
    "ddl": "assay.lab.steps.statements:Ddl",
    "analyze": "assay.lab.steps.maintenance:Analyze",
    "vacuum": "assay.lab.steps.maintenance:Vacuum",
    "restart": "assay.lab.steps.restart:Restart",
    "wait": "assay.lab.steps.restart:Wait",
    "drive": "assay.lab.steps.drive:DriveStep",
    "overlap": "assay.lab.steps.overlap:Overlap",
    "dump": "assay.lab.steps.dump:Dump",
    "compare": "assay.lab.steps.dump:Compare",
    "session_cost": "assay.lab.steps.sessions:SessionCost",
    "update": "assay.lab.steps.load:Update",
    "limit": "assay.lab.steps.sessions:Limit",
    "backup": "assay.lab.steps.backup:Backup",
    "make_backup": "assay.lab.steps.backup:MakeBackup",
    "restore_backup": "assay.lab.steps.backup:RestoreBackup",
    "space_reuse": "assay.lab.steps.maintenance:SpaceReuse",
    "plans": "assay.lab.steps.statements:Plans",
}
"""Kinds of steps: name in a workload file → class. Other packages add theirs as entry points of the
group ``assay.steps``."""


def steps() -> tuple[str, ...]:
    """Names of the kinds of steps that a test can take."""
    return (*_STEPS, *(name for name in _entries("assay.steps") if name not in _STEPS))


@cache
def step(name: str) -> Any:
    """The kind of step of that name: a class that derives from `assay.workload.steps.Step`."""
    if name not in _STEPS:
        return _get("assay.steps", "step", name)
    return EntryPoint(name, _STEPS[name], "assay.steps").load()


_REPORTS: Mapping[str, str] = {
    "update": "UpdateReport",
    "limit": "LimitReport",
    "space_reuse": "SpaceReuseReport",
    "backup": "BackupReport",
    "made_backup": "MadeBackupReport",
    "restored_backup": "RestoredBackupReport",
    "native_clients": "NativeClientsReport",
    "plans": "PlansReport",
}
"""Kinds of what steps report in place of clients → class of `assay.contracts.observation`. Other
packages add theirs as entry points of the group ``assay.step_reports``."""


@cache
def step_reports() -> Mapping[str, type[StepReport]]:
    """Every type of what steps report in place of clients, by its kind, without the plugins that
    break their contract."""
    from assay.contracts import observation

    found = {kind: getattr(observation, name) for kind, name in _REPORTS.items()}
    for kind in _entries(_STEP_REPORTS):
        with suppress(PluginFailed):
            found.setdefault(kind, _get(_STEP_REPORTS, "report of a step", kind))
    return found


def check_step_report(report: type[StepReport]) -> None:
    """Raises `PluginFailed` where a report of this type could not be read again."""
    kind = report.kind()
    if step_reports().get(kind) is report:
        return
    if kind in _entries(_STEP_REPORTS) and kind not in _REPORTS:
        _get(_STEP_REPORTS, "report of a step", kind)
    raise PluginFailed(
        f"expected {report.__name__} to be the registered report of the kind {kind!r}, found "
        f"{step_reports()[kind].__module__ if kind in step_reports() else 'none'}",
        hint=f'[project.entry-points."{_STEP_REPORTS}"] {kind} = '
        f'"{report.__module__}:{report.__name__}"',
    )


def report_forms() -> tuple[str, ...]:
    """Names of the forms a report can take (``--format``)."""
    return tuple(sorted(_entries("assay.report_forms")))


def report_form(name: str) -> Any:
    """The function that writes a report in that form."""
    return _get("assay.report_forms", "format", name)


def workloads() -> tuple[str, ...]:
    """Names of the workloads: the built-in ones, and those of other packages."""
    return tuple(sorted({*_built_in_workloads(), *_entries(_WORKLOADS)}))


def _built_in_workloads() -> list[str]:
    return [file.parent.name for file in WORKLOADS_FOLDER.glob(f"*/{WORKLOAD_FILE}")]


def package_of_workload(folder: Path) -> str:
    """Name and version of the package that registers the workload in this folder; empty: it is a
    built-in one, or a folder of the user's."""
    if folder.parent == WORKLOADS_FOLDER:
        return ""
    for entry in _entries(_WORKLOADS).values():
        with suppress(PluginFailed):
            if _folder_of(entry) == folder:
                return package_of(entry)
    return ""


@cache
def _folder_of(entry: EntryPoint) -> Path:
    """The folder of a workload of another package, which is a Python package itself."""
    described = plugin_described(entry, "workload")
    try:
        spec = importlib.util.find_spec(entry.module)
    except (Exception, SystemExit) as error:
        raise PluginFailed(
            f"{described}: {entry.value} cannot be found: {type(error).__name__}: {error}",
            hint="correct the package, or uninstall it",
        ) from error
    places = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    if not places:
        raise PluginFailed(
            f"{described}: expected a Python package, which is the folder of the workload, "
            f"found {'a module' if spec else 'nothing'} called {entry.value}",
            hint=f'[project.entry-points."assay.workloads"] {entry.name} = "PACKAGE.{entry.name}"',
        )
    folders = [place for place in places if paths.is_file(place / WORKLOAD_FILE)]
    if not folders:
        raise PluginFailed(
            f"{described}: there is no {WORKLOAD_FILE} in {places[0]}",
            hint="its wheel must hold its text files as well",
        )
    if folders[0].name != entry.name:
        raise PluginFailed(
            f"{described}: expected a folder of that name, found {folders[0]}",
            hint="the entry point, the folder and so the workload have one name",
        )
    return folders[0]


def experiments() -> tuple[str, ...]:
    """Names of the built-in experiment files."""
    return tuple(sorted(file.stem for file in EXPERIMENTS_FOLDER.glob("*.toml")))


def experiment_file(word: str) -> Path:
    """The experiment file as a person names it: a path, or ``NAME.toml`` of a built-in one,
    where no file is at that path."""
    path = Path(word)
    if path.stem in experiments() and str(path.parent) in _BUILT_IN and not paths.exists(path):
        return EXPERIMENTS_FOLDER / path.name
    return path


def workload_folder(name: str) -> Path:
    """The folder of a built-in workload, of one of another package, or of the user's own when
    ``name`` is a path. Raises `PluginFailed` where a package has no such folder."""
    if name in _built_in_workloads():
        return WORKLOADS_FOLDER / name
    if name in (of_packages := _entries(_WORKLOADS)):
        return _folder_of(of_packages[name])
    folder = Path(name)
    if paths.is_file(folder / WORKLOAD_FILE):
        return folder
    if paths.is_folder(folder):
        raise ArgumentError(
            f"{name}: a folder without {WORKLOAD_FILE} is not a workload",
            hint=f"`assay list workloads` names the built-in ones: {', '.join(workloads())}",
        )
    if paths.is_file(folder):
        from assay.contracts import capabilities

        if folder.suffix in capabilities.ENDINGS:
            raise ArgumentError(
                f"{name} is a script: expected a workload or its folder",
                hint=f"in an experiment file: script = {json.dumps(name)}",
            )
        raise ArgumentError(
            f"{name} is a file: expected a workload, a folder, a script "
            f"({capabilities.script_file_names()}) or FILE.toml",
            hint=f"if it is a script: a name that ends with {' or '.join(capabilities.ENDINGS)}, "
            "or, "
            f"to run it, -f {name}",
        )
    if is_url(name) or is_connection_string(name):
        raise ArgumentError(
            "expected a workload, found a URL or a connection string",
            hint=phrase("a server belongs after {--on}, as scheme://USER@HOST:PORT/DATABASE"),
        )
    if name in experiments():
        raise ArgumentError(f"{name} is an experiment file, no workload", hint=f"{name}.toml")
    first, *others = name.split(",")
    if others and is_workload(first):
        raise ArgumentError(f"expected one workload, found {name}", hint=ONE_WORKLOAD)
    raise unknown("workload", name, workloads(), known_as())


def is_workload(word: str) -> bool:
    """Whether it is the name of one, or its folder."""
    return word in workloads() or paths.is_file(Path(word, WORKLOAD_FILE))


def known_as() -> dict[str, str]:
    """Name by which other tools know a workload or a test of it → what it is called here."""
    import tomllib  # here: only a mistake is looked up

    found = {}
    for name in workloads():
        with suppress(AssayError, OSError, ValueError, AttributeError):
            text = (workload_folder(name) / WORKLOAD_FILE).read_text(encoding="utf-8")
            for other, test in tomllib.loads(text).get(KNOWN_AS, {}).items():
                found[other] = f"{name}.{test}" if test else name
    return found


def unknown(
    what: str, word: str, names: Iterable[str], known_as: Mapping[str, str] | None = None
) -> ArgumentError:
    """The error for an unknown name, with the nearest one and all known names as its hint.
    ``known_as``: as `did_you_mean` has it."""
    return ArgumentError(
        f"unknown {what} {without_secrets(word)!r}", hint=did_you_mean(word, names, known_as)
    )
