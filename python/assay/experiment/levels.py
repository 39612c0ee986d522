"""Takes a table of an experiment file: the file itself, ``[quick]``, ``[test.NAME]``; returns the
levels and settings that it gives, as fields of `Experiment`."""

from __future__ import annotations

from typing import Any

from assay.contracts.driving import CACHES, CLIENT_PROGRAMS
from assay.contracts.experiment import PROTOCOLS, Scalar
from assay.errors import ArgumentError
from assay.experiment import machines, settings
from assay.experiment.spelling import of_file, respell
from assay.text import quantities
from assay.text.files.toml_file import TomlTable
from assay.workload import driving
from assay.workload.values import Workload

OFFERED_RATE = "offered_rate_per_s"


def read(section: TomlTable, workload: Workload) -> dict[str, Any]:
    """Only what is given. The names of the file are checked, and the types and ranges of values;
    raises `ExperimentError` with the line."""
    given: dict[str, Any] = {}
    if "repetitions" in section:
        given["repetitions"] = section.whole("repetitions", quantities.REPETITIONS)
    if section.is_table("clients"):
        given["group_clients"] = _group_clients(section)
    elif "clients" in section:
        given["clients"] = section.wholes("clients", quantities.CLIENTS)
    if "cache" in section:
        given["caches"] = section.choices("cache", CACHES)
    if "client_program" in section:
        given["client_programs"] = section.choices("client_program", CLIENT_PROGRAMS)
    for name, (field, level) in machines.FACTORS.items():
        if name in section:
            with ErrorPlace(section, name):
                given[field] = level(section.words(name))
    if "protocol" in section:
        given["protocol"] = section.choice("protocol", PROTOCOLS)
    if found := parameters(section.section("parameters"), workload):
        given["parameters"] = found
    drive = section.section("drive")
    if OFFERED_RATE in drive:
        given["offered_rates_per_s"] = drive.numbers(OFFERED_RATE, quantities.OFFERED_RATE_PER_S)
    if driven := _driving(drive):
        given["driving"] = driven
    return given


def parameters(section: TomlTable, workload: Workload) -> dict[str, tuple[Scalar, ...]]:
    levels = {}
    for name in section.names():
        with ErrorPlace(section, name):
            levels[name] = settings.parameter_levels(workload, name, section.words(name))
    return levels


def _group_clients(top: TomlTable) -> dict[str, tuple[int, ...]]:
    """``clients = { readers = [4, 8], writers = 2 }``: client counts by group."""
    section = top.section("clients")
    return {name: section.wholes(name, quantities.CLIENTS) for name in section.names()}


def _driving(section: TomlTable) -> dict[str, Any]:
    """``[drive]``, with the keys of a test; the levels of the offered rate are read elsewhere."""
    given = driving.read(section, {}, passed_over=(OFFERED_RATE,))
    if "allow_shell" in section:
        given["allow_shell"] = section.boolean("allow_shell")
    section.done()
    return given


class ErrorPlace:
    """Gives an `ArgumentError` raised inside the block the location of a key in the file, and makes
    it name keys in place of options."""

    def __init__(self, section: TomlTable, key: str) -> None:
        self._section = section
        self._key = key

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, ArgumentError):
            respell(error, of_file)
            raise self._section.error(error.message, self._key, hint=error.hint) from error
