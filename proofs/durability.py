"""The durability class that is measured for a system is the one that its settings promise, in every
case by the flushes of the storage's device alone: D3, flushed before every answer; D2, flushed
within a known time; D1, written and not flushed; D0, nothing left the process.

Each case starts a system with some settings on an ext4 of its own on a loop device in memory, has
one client commit 50 transactions, and compares the class with the documented meaning of the
settings. Systems that are not on this machine are left out.
"""

from __future__ import annotations

import os
from collections import Counter

from assay import registry
from assay.contracts.durability import Durability
from assay.errors import AssayError, SystemMissing
from assay.experiment.choices import checked_choices
from assay.probe.durability import measure_durability
from assay.provision.directory import server_directory
from proofs._proof import Found
from tests.support.own_device import own_device

_BINARY_LOG_FLUSHED = (("mysql", "0"), ("mysql", "2"))

EXPECTED = (
    # Four short ones come first.
    ("sqlite[journal_mode=wal,synchronous=full]", "D3"),
    ("postgresql", "D3"),
    ("postgresql[synchronous_commit=off]", "D2"),
    ("sqlite[journal_mode=wal,synchronous=normal]", "D1"),
    ("postgresql[fsync=off]", "D1"),
    ("postgresql[fsync=off,synchronous_commit=off]", "D1"),
    *((f"sqlite[journal_mode={mode},synchronous=off]", "D1") for mode in ("delete", "wal")),
    *(
        (f"sqlite[journal_mode={mode},synchronous=full]", "D3")
        for mode in ("delete", "truncate", "persist", "memory", "off")
    ),
    ("sqlite[journal_mode=delete,synchronous=normal]", "D3"),
    *(
        (f"{system}[innodb_flush_log_at_trx_commit={value}]", expected)
        for system in ("mariadb", "mysql")
        for value, expected in (("1", "D3"), ("0", "D2"), ("2", "D2"))
        if (system, value) not in _BINARY_LOG_FLUSHED
    ),
    *(
        (f"mysql[innodb_flush_log_at_trx_commit={value},sync_binlog=0]", "D2")
        for _, value in _BINARY_LOG_FLUSHED
    ),
    # Its binary log is flushed at each commit, which keeps less than its class says.
    *((f"mysql[innodb_flush_log_at_trx_commit={value}]", "D3") for _, value in _BINARY_LOG_FLUSHED),
    ("mariadb[engine=MyISAM]", "D1"),
    ("mariadb[enforce_storage_engine=MEMORY,sql_mode=STRICT_ALL_TABLES]", "D0"),
    ("duckdb", "D3"),
    ("cassandra", "D2"),
    ("cassandra[commitlog_sync=batch]", "D3"),
    ("ferretdb", "D3"),
    ("ferretdb[synchronous_commit=off]", "D2"),
)
"""A system with settings, and its class by the documentation of the settings."""

CASES = len(EXPECTED)
SHORT = 2


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Measures this many systems, one after the other."""
    del seed, timeout_s  # nothing is random; a case takes as long as its system's flushes
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    if os.geteuid() != 0:
        return Found(0, {"left out: only root makes loop devices": cases}, [])
    for number in range(first, min(first + cases, CASES)):
        word, expected = EXPECTED[number]
        try:
            found = measured(word)
        except SystemMissing as error:
            outcomes[f"{word}: left out: {error.message}"] += 1
            continue
        except AssayError as error:
            faults.append(f"{_command(number)}\n{word}: {error.message}")
            continue
        outcomes[f"{word}: {found.described}"] += 1
        if found.durability_class != expected:
            faults.append(f"{_command(number)}\n{word}: expected {expected}, found {found}")
    return Found(cases, outcomes, faults)


def measured(word: str) -> Durability:
    """The durability of a system, as ``--on`` names it, on an ext4 of its own."""
    choice = checked_choices.system_choice(word)
    system = registry.system(choice.name)
    with (
        own_device("ext4") as storage,
        server_directory(storage) as directory,
        system.provision(choice, directory, connections=None) as deployment,
    ):
        return measure_durability(deployment, system)


def _command(number: int) -> str:
    return f"python -m proofs durability --first {number} --cases 1"
