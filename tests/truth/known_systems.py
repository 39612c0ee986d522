"""Drives systems of known behaviour through the whole engine, and checks the transaction counts."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import forked_programs
from assay import _engine
from waiting import HANG_S

Deployment = dict[str, Any]
Observation = dict[str, Any]
NullSystem = Callable[..., AbstractContextManager[Deployment]]
IN_PROCESS = "none"
PROTOCOLS = [*_engine.null_protocols("sql"), IN_PROCESS]
_WITH_TRANSACTIONS = (*_engine.drivers_with_transactions(), IN_PROCESS)
WITH_TRANSACTIONS = [protocol for protocol in PROTOCOLS if protocol in _WITH_TRANSACTIONS]


class NullServer:
    """A null server of a protocol, in a process of its own."""

    def __init__(self, protocol: str, socket: Path, options: Mapping[str, str]) -> None:
        words = [
            word
            for name, value in options.items()
            for word in (f"--{name.replace('_', '-')}", value)
        ]
        self._child = forked_programs.start(
            "assay", ["serve", "null", "--protocol", protocol, "--unix", socket, *words]
        )
        assert self._child.stdout.readline().strip() == str(socket), self._child.stderr
        self.deployment: Deployment = {"driver": protocol, "unix": str(socket), "user": "anybody"}

    def kill(self) -> None:
        self._child.send_signal(signal.SIGKILL)

    def close(self) -> None:
        self._child.terminate()
        self._child.communicate(timeout=HANG_S)


def drive(
    deployment: Deployment,
    scripts: str | Mapping[str, str] = "SELECT 1;",
    progress: Callable[[str], None] | None = None,
    **document: Any,
) -> Observation:
    """The engine's observation of clients that run the scripts (name → text) on the deployment."""
    texts = {"only": scripts} if isinstance(scripts, str) else scripts
    whole = {
        "deployment": deployment,
        "scripts": [
            {"name": name, "path": f"{name}.sql", "text": text} for name, text in texts.items()
        ],
        "order": "sequence",
        "clients": 1,
        "seed": 1,
        **document,
    }
    observation: Observation = json.loads(_engine.drive(json.dumps(whole), progress))
    assert_accounts_balance(observation)
    return observation


def assert_accounts_balance(observation: Observation) -> None:
    """Every transaction is accounted for, exactly once, in every table."""
    outcomes = observation["outcomes"]
    ended = {name: outcomes[name] for name in ("ok", "aborted", "failed", "unknown")}
    assert outcomes["scheduled"] == sum(ended.values()) + outcomes["skipped"], outcomes
    attempts = outcomes["scheduled"] - outcomes["skipped"] + outcomes["retries"]
    assert outcomes["attempts"] == attempts, outcomes
    for name, count in ended.items():
        of_types = [one for one in observation["transactions"] if one["outcome"] == name]
        assert sum(one["count"] for one in of_types) == count, (
            name,
            outcomes,
            observation["transactions"],
        )
    assert sum(one["ok"] for one in observation["intervals"]) == outcomes["ok"]


def times(observation: Observation, outcome: str = "ok", what: str = "latency") -> Any:
    """The distribution of the only transaction type's latencies with that outcome."""
    (found,) = [one for one in observation["transactions"] if one["outcome"] == outcome]
    return found[what]
