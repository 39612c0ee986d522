"""A fault in the program is found by the tests.

`proofs/faults.toml` has 60 faults, drawn by a seed over all rooms and crates: 30 changes of one
place, and 30 past mistakes put back (`python -m proofs._draw_faults`). Each case puts one into a
copy of this tree and runs tests until one fails: the one that caught it last time (`caught_by` in
the table), then the quick ones that name the changed module most, all quick ones, and those of
commands, systems and papers that name it most. For a crate its own tests come first, and the engine
is compiled. The table below has the test that failed. Tests that had not ended in time decide
nothing: such a fault is neither caught nor not caught.

Cases may take minutes, so they are noted as they end in the file that `ASSAY_FAULTS_NOTED` names.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from proofs._fault_table import Fault, faults, in_place
from proofs._proof import SHORT_TIMEOUT_S, Found

ROOT = Path(__file__).parents[1]
CASES = len(faults())
SHORT = 1
_NOT_COPIED = (
    ".git", ".venv", ".assay", "target", "site", "dist", "__pycache__",
    ".mypy_cache", ".ruff_cache", ".pytest_cache",
)  # fmt: skip
_QUICK = ("tests/unit", "tests/order")
_NOT_RELATED = ("tests/proofs", "tests/package")
_ENGINE = "python/assay/_engine.abi3.so"
_MOST_RELATED = 12
"""Files of tests, of those that are not quick."""
_MOST_NEAR = 8
"""Files of quick tests that are tried first."""
_ENDS_WITHIN_S = 900
_FROM_OUTSIDE = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.M)
_NOT_THERE = " not found: "
"""The test that caught a fault last time has another name now."""
_FAILED_IN_RUST = re.compile(r"^test (\S+) .*FAILED$|^(error\S*): ", re.M)


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Puts so many faults into a copy, one after the other."""
    del seed  # the table is drawn already
    outcomes: Counter[str] = Counter()
    not_caught: list[str] = []
    chosen = faults()[first : first + cases]
    with tempfile.TemporaryDirectory(prefix="proof-faults-", ignore_cleanup_errors=True) as base:
        tree = Path(base) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        tests = _Tests(tree)
        for number, fault in enumerate(chosen, first):
            if fault.harmless:
                line = f"{fault.name}: not tried: {fault.harmless}"
                outcomes[line] += 1
                _note(f"{number}\t{line}")
                continue
            with in_place(fault, tree) as is_in:
                pass
            is_short = timeout_s == SHORT_TIMEOUT_S
            try:
                caught_by = tests.catch(fault, is_short) if is_in else None
                missed = "not by the tests that were tried" if is_short else "not caught"
                missed = missed if is_in else "its text has changed: renew it in the table"
            except _NotEnded as not_ended:
                caught_by, missed = None, f"undecided, {not_ended}"
            if caught_by is None and not is_short:
                command = f"python -m proofs faults --first {number} --cases 1"
                not_caught.append(f"{command}\n{fault.name}: {missed}")
            line = f"{fault.name}: {caught_by or missed}"
            outcomes[line] += 1
            _note(f"{number}\t{line}")
    return Found(len(chosen), outcomes, not_caught)


def _note(line: str) -> None:
    if path := os.environ.get("ASSAY_FAULTS_NOTED"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


class _NotEnded(Exception):
    """Tests that took too long, so that nothing is known of the fault."""


class _Tests:
    """The tests of a copy of the tree."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._fail_anyway: list[str] = []
        """Without a fault too."""

    def catch(self, fault: Fault, is_short: bool) -> str | None:
        """The first test that fails with it; ``is_short``: of those that caught it last time or
        name its module."""
        if fault.is_rust and (found := self._rust(fault)):
            return found
        if fault.caught_by.startswith("tests/") and (
            found := self._pytest(fault, [fault.caught_by])
        ):
            return found
        tree = self._tree
        others = [f"tests/{path.name}" for path in sorted((tree / "tests").iterdir())]
        others = [name for name in others if name not in (*_QUICK, *_NOT_RELATED)]
        near = _by_mentions(fault, tree, _QUICK)[:_MOST_NEAR]
        if found := self._pytest(fault, ["--quick", *near]) if near else None:
            return found
        if is_short:
            return None
        if found := self._pytest(fault, ["--quick", *_QUICK]):
            return found
        related = _by_mentions(fault, tree, [*others, "tests/unit"])[:_MOST_RELATED]
        return self._pytest(fault, related) if related else None

    def _pytest(self, fault: Fault, words: Sequence[str]) -> str | None:
        while True:
            deselected = [f"--deselect={name}" for name in self._fail_anyway]
            with self._with(fault):
                failed = self._first_failed([*words, *deselected])
            if failed is None or "::" not in failed or self._first_failed([failed]) is None:
                return failed
            self._fail_anyway.append(failed)

    def _first_failed(self, words: Sequence[str]) -> str | None:
        path = os.pathsep.join([str(self._tree / "python"), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words]
        environment = {**os.environ, "PYTHONPATH": path.strip(os.pathsep)}
        ended = _run(command, self._tree, environment)
        if ended.returncode in (0, 5) or _NOT_THERE in ended.stderr:
            return None
        if -ended.returncode in _FROM_OUTSIDE:
            raise _NotEnded(f"ended by signal {-ended.returncode}: {' '.join(words)[:80]}")
        match = _FAILED.search(ended.stdout)
        said = (ended.stdout + ended.stderr).strip().split("\n")
        return match.group(1) if match else said[-1][:160]

    @contextmanager
    def _with(self, fault: Fault) -> Iterator[None]:
        """The fault is in the program that the tests use."""
        if not fault.is_rust:
            with in_place(fault, self._tree):
                yield
            return
        engine = self._tree / _ENGINE
        shutil.copy(self._target / "release" / "lib_engine.so", engine)
        try:
            yield
        finally:
            shutil.copy(ROOT / _ENGINE, engine)

    @property
    def _target(self) -> Path:
        return Path(os.environ.get("CARGO_TARGET_DIR", self._tree / "target"))

    def _rust(self, fault: Fault) -> str | None:
        """Of its own crate; compiles the engine too."""
        environment = {**os.environ, "CARGO_TARGET_DIR": str(self._target)}
        crate = f"assay-{Path(fault.file).parts[1]}"
        commands = [
            ["cargo", "test", "--release", "--quiet", "--tests", "-p", crate],
            ["cargo", "build", "--release", "--quiet", "-p", "assay-bridge"],
        ]
        commands[1] += ["--features", "pyo3/extension-module"]
        for command in commands:
            with in_place(fault, self._tree):
                ended = _run(command, self._tree, environment)
            if ended.returncode:
                match = _FAILED_IN_RUST.search(ended.stdout + ended.stderr)
                return f"{crate}: {match.group(0) if match else 'its tests'}"
        return None


def _by_mentions(fault: Fault, tree: Path, folders: Sequence[str]) -> list[str]:
    """Files of tests that name the changed module, or else its room; the most mentions first."""
    path = Path(fault.file)
    names = [path.parent.name if path.stem in ("__init__", "mod", "lib") else path.stem]
    names += [path.parent.name] if path.parent.name not in ("assay", "src") else []
    files = [file for name in folders for file in sorted((tree / name).rglob("test_*.py"))]
    for name in names:
        pattern = re.compile(rf"\b{re.escape(name)}\b|_{re.escape(name)}\b")
        counts = {file: len(pattern.findall(file.read_text("utf-8"))) for file in files}
        if any(counts.values()):
            named = [file for file in files if counts[file]]
            named.sort(key=lambda file: -counts[file])
            return [str(file.relative_to(tree)) for file in named]
    return []


def _run(
    command: Sequence[str], tree: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True,
            check=False, timeout=_ENDS_WITHIN_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        said = f"no end within {_ENDS_WITHIN_S} s of {' '.join(command[1:])[:80]}"
        raise _NotEnded(said) from None
