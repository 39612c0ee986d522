"""Takes a case, one start of a program with hostile arguments or files; returns what was wrong with
its end.

A case is a fork of this process, which has the program in memory already: thousands take minutes.
It runs in a folder of its own, as leader of a session, without any program in its PATH and with
limits on memory and on the size of files.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shlex
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay import cli
from assay.cli.bibsql import bibsql, bibtosql
from assay.cli.program import COMMANDS
from proofs._odd_files import make_odd_files

PROGRAMS = {"assay": cli.main, "bibtosql": bibtosql.main, "bibsql": bibsql.main}

MOST_MEMORY_BYTES = 1 << 30
MOST_FILE_BYTES = 64 << 20
TERMINATED_AFTER_S = 2.0
"""A program without an end of its own gets SIGTERM after this time."""
STATUSES = frozenset({0, 1, 2, 3})
TERMINATED = (128 + signal.SIGTERM, -signal.SIGTERM)

_SAID = re.compile(
    r"Traceback \(most recent|error: internal error|panicked at|Exception ignored", re.IGNORECASE
)
_WORDS_OF_A_LIBRARY = re.compile(
    r"\b[ui](8|16|32|64|size)\b|invalid (type|value):|\[Errno|<class '|at line \d+ column \d+$"
)
_NO_PLACE = re.compile(r"\S:0:")
_NO_PLURAL = re.compile(
    r"(?<![\w.,:=-])1 (errors|warnings|runs|clients|sessions|entries|rows|cells)\b"
)
_ERROR = re.compile(r"^(\w+: )?(error: |run \d+ failed: )", re.MULTILINE)
_OURS = re.compile(r"assay-(run-|bug-|update-|package-)?\w{8,}")


@dataclass(frozen=True)
class Case:
    """One start of a program."""

    program: str
    arguments: Sequence[str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Path in the case's folder → content, beside the odd files that are always there."""
    environment: Mapping[str, str] = field(default_factory=dict)
    may_go_on: bool = False
    """It runs for as long as its options say, which may be long."""
    judge: Callable[[int, Path], list[str]] | None = None
    """Takes the exit status and the case's folder; returns what else is wrong."""

    @property
    def name(self) -> str:
        """Program and command."""
        if self.program == "assay":
            for number in (2, 1):
                if (command := " ".join(self.arguments[:number])) in COMMANDS:
                    return f"{self.program} {command}"
        return self.program

    def shown(self) -> str:
        """As a command line."""
        variables = [f"{name}={shlex.quote(one)}" for name, one in self.environment.items()]
        words = [self.program, *map(shlex.quote, self.arguments)]
        return ascii(" ".join([*variables, *words]))[1:-1]


@dataclass
class Started:
    """A case that runs."""

    case: Case
    number: int
    folder: Path
    pid: int
    timeout_s: float
    began_s: float = field(default_factory=time.monotonic)
    terminated_s: float | None = None
    is_hung: bool = False

    def ended(self) -> tuple[str, list[str]] | None:
        """(how it ended, what was wrong); None while it runs."""
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            self._hurry()
            return None
        code = os.waitstatus_to_exitcode(status)
        wrong = [*self._wrong_status(code), *self._wrong_words(code), *self._left_behind()]
        if self.case.judge is not None and not wrong:
            wrong += self.case.judge(code, self.folder)
        if usage.ru_maxrss * 1024 > MOST_MEMORY_BYTES:
            wrong.append(f"took {usage.ru_maxrss >> 10} MiB of memory")
        outcome = f"{self.case.name}, exit status {code}"
        if wrong:
            wrong.append(f"standard error:\n{self._text('stderr')[-1500:]}")
        shutil.rmtree(self.folder, ignore_errors=True)
        return outcome, wrong

    def _hurry(self) -> None:
        """Ends a case that takes too long."""
        now_s = time.monotonic()
        since_s = self.began_s if self.terminated_s is None else self.terminated_s
        if self.case.may_go_on and self.terminated_s is None:
            if now_s - self.began_s > TERMINATED_AFTER_S:
                self.terminated_s = now_s
                os.kill(self.pid, signal.SIGTERM)
        elif now_s - since_s > self.timeout_s:
            self.is_hung = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def _wrong_status(self, code: int) -> list[str]:
        if self.is_hung:
            return [f"did not end within {self.timeout_s:g} s"]
        if code in STATUSES or (code in TERMINATED and self.terminated_s is not None):
            return []
        return [f"exit status {code}"]

    def _wrong_words(self, code: int) -> list[str]:
        said = self._text("stderr")
        given = " ".join(self.case.arguments)
        wrong = [f"says {found[0]!r}" for found in _SAID.finditer(said)]
        wrong += [
            f"a library's words: {found[0]!r}" for found in _WORDS_OF_A_LIBRARY.finditer(said)
        ]
        if ":0:" not in given:
            wrong += [f"a place that is none: {found[0]!r}" for found in _NO_PLACE.finditer(said)]
        wrong += [f"plural of one: {found[0]!r}" for found in _NO_PLURAL.finditer(said)]
        if code in (2, 3) and not re.search(
            r"^(\w+: )?(error: |run \d+ (failed|refused): )", said, re.MULTILINE
        ):
            wrong.append("does not say what was wrong")
        return wrong

    def _left_behind(self) -> list[str]:
        """Directories and files that are left; processes are found by the caller."""
        found = [one for one in self.folder.rglob("*") if _OURS.fullmatch(one.name)]
        found += list((self.folder / "tmp").iterdir())
        mounts = Path("/proc/self/mountinfo").read_text("utf-8")
        if f"{self.folder}/" in mounts:
            found.append(self.folder)
        return [f"left behind: {one}" for one in dict.fromkeys(found)]

    def _text(self, name: str) -> str:
        with (self.folder / name).open("rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace")


def start(
    case: Case, number: int, folder: Path, timeout_s: float, records: Path | None = None
) -> Started:
    """Starts the case in ``folder``, which is created."""
    for name in ("work", "home", "tmp"):
        (folder / name).mkdir(parents=True)
    make_odd_files(folder / "work", records)
    for name, content in case.files.items():
        path = folder / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(content)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _become(case, folder)
    return Started(case, number, folder, pid, timeout_s)


def _become(case: Case, folder: Path) -> None:
    """Runs the case in this process, and ends with it."""
    status = 99
    try:
        os.setsid()
        os.chdir(folder / "work")
        _redirect(folder)
        os.environ.clear()
        os.environ.update(
            HOME=str(folder / "home"), TMPDIR=str(folder / "tmp"), PATH=str(folder / "tmp"),
            LANG="C.UTF-8", **case.environment,
        )  # fmt: skip
        limits = {
            resource.RLIMIT_DATA: MOST_MEMORY_BYTES,
            resource.RLIMIT_FSIZE: MOST_FILE_BYTES,
            resource.RLIMIT_CORE: 0,
        }
        for what, limit in limits.items():
            resource.setrlimit(what, (limit, limit))
        warnings.simplefilter("ignore")
        sys.argv = [case.program, *case.arguments]
        PROGRAMS[case.program]()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _redirect(folder: Path) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        opened = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  (a descriptor, for good)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", encoding="utf-8", errors="backslashreplace", closefd=False
    )
