"""What servers have in common that are started by us and reached at a socket or at a port: their
options, their profiles of settings, and the version that a program prints."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from assay.contracts.experiment import VERSION, SystemChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.systems.abilities import Profile
from assay.errors import ArgumentError, SystemMissing
from assay.provision import processes
from assay.provision.processes import ending_of_output
from assay.text import toml_file, versions
from assay.text.phrases import phrase
from assay.text.quantities import BUFFER_BYTES, shown
from assay.text.units import size_word

TRANSPORT: Final = OptionSpec(
    name="transport",
    default="socket",
    levels=("socket", "tcp"),
    help="How clients reach a private server: its Unix socket, or 127.0.0.1 (or "
    "ASSAY_SERVER_ADDRESS) with a password.",
)


def refuse_no_size(name: str) -> Callable[[str], None]:
    """Refuses what is no size, as `OptionSpec.refuse` does."""

    def refuse(word: str) -> None:
        size_bytes(name, word)

    return refuse


BUFFER: Final = OptionSpec(
    name="buffer",
    default="",
    levels=(),
    help="Memory in which the system keeps pages of data, in bytes or with a unit (64MB): its own "
    "setting for it, whatever that is called. Empty: as the system has it.",
    refuse=refuse_no_size("buffer"),
    spelling=lambda word: size_word(size_bytes("buffer", word)),
)


def _refuse_no_version(word: str) -> None:
    if not versions.is_version(word):
        raise ArgumentError(
            f"{VERSION}: expected a version or the beginning of one, found {shown(word)}",
            hint="15, or 15.18",
        )


CHOSEN_VERSION: Final = OptionSpec(
    name=VERSION,
    default="",
    levels=(),
    help="The version of its programs, or the beginning of one, of those that are on this machine: "
    "NAME@15 is NAME[version=15]. Empty: the one that the environment names, or that is found.",
    refuse=_refuse_no_version,
)


def version_from(least: str, why: str) -> OptionSpec:
    """`CHOSEN_VERSION` of a system of which versions below ``least`` cannot be run; ``why``: a
    sentence."""

    def refuse(word: str) -> None:
        _refuse_no_version(word)
        if versions.is_below(word, least):
            raise ArgumentError(
                f"expected version {least} or later, which Assay can run, found {word}", hint=why
            )

    return replace(CHOSEN_VERSION, refuse=refuse)


_RESERVED_CONNECTIONS = 10
"""For our own sessions beside the run's, and for one of yours that looks on."""


def values(specs: Iterable[OptionSpec], choice: SystemChoice) -> dict[str, str]:
    """Every option's value: the one chosen, else its default."""
    return {spec.name: choice.options.get(spec.name, spec.default) for spec in specs}


def buffer_bytes(options: Mapping[str, str], settings: Iterable[str], own: str) -> int | None:
    """The bytes of the option ``buffer``; None where nothing is asked.

    Raises `ArgumentError` for what is no size, and where the system's ``own`` setting for it is
    among the ``settings`` asked for as well.
    """
    word = options.get(BUFFER.name, "")
    if not word:
        return None
    size = size_bytes(BUFFER.name, word)
    if own in settings:
        raise ArgumentError(
            f"{BUFFER.name}={word} and the setting {own} are one and the same",
            hint="ask for one of the two",
        )
    return size


def size_bytes(name: str, word: str) -> int:
    """The bytes of a size (``64MB``); raises `ArgumentError` for what is none."""
    try:
        return int(BUFFER_BYTES.of_word(word))
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}", hint=f"{name}=64MB") from None


def refuse_buffer(choice: SystemChoice) -> None:
    """Raises `ArgumentError` where the buffer of a server that Assay did not start is to be
    sized."""
    if choice.options.get(BUFFER.name):
        raise ArgumentError(
            f"{choice.label}: Assay cannot change the buffer size of a running server",
            hint="leave it out, or set it where that server is configured",
        )


def refuse_beyond_memory(
    choice: SystemChoice, buffer_bytes: int | None, default_bytes: int | None = None
) -> None:
    """Raises `ArgumentError` for a buffer that is not smaller than the memory of the server; None:
    it was not asked for, so that it has ``default_bytes``, or its size is not known."""
    limit = choice.machine.memory_bytes
    found = default_bytes if buffer_bytes is None else buffer_bytes
    if limit is None or found is None or found < limit:
        return
    its = "a" if buffer_bytes is not None else "its default"
    raise ArgumentError(
        f"{choice.label}: {its} buffer of {size_word(found)} does not fit into a memory of "
        f"{size_word(limit)}, which holds the rest of the server and pages of files, too",
        hint=phrase(
            "a smaller buffer ({}[buffer={}]), or more {--memory}",
            choice.name,
            size_word(limit // 4),
        ),
    )


def rounded_up(size: int, unit: int, least: int) -> int:
    """The next size that is a whole number of units, and not below ``least``."""
    return max(least, -(-size // unit) * unit)


def connection_limit(connections: int, default: int) -> int:
    """The limit to give a server for so many sessions of a run, never below its own ``default``."""
    return max(default, connections + _RESERVED_CONNECTIONS)


ANSWERS_WITHIN_S = 15.0
"""How long a program may take to say which version it is; also on a busy machine."""

FILE = "profiles.toml"


@cache
def profiles_of(folder: Path) -> Mapping[str, Profile]:
    """By name; none where the system has no such file. Raises `ExperimentError` with the line."""
    file = folder / FILE
    if not file.is_file():
        return {}
    top = toml_file.read(file)
    found = {name: top.section(name).thing(Profile, name=name) for name in top.names()}
    top.done()
    return found


def answer_of(
    command: Sequence[str | Path], *, within_s: float = 60, cwd: str | None = None
) -> subprocess.CompletedProcess[str]:
    """What a program reports about itself, in English.

    Raises `SystemMissing` where it cannot be run or does not end in time; it is killed then, with
    what it started.
    """
    try:
        asked = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C"},
        )
    except OSError as error:
        raise SystemMissing(f"{command[0]} cannot be run: {error.strerror}") from error
    words = " ".join(map(str, command[:2]))
    try:
        both = processes.output_of(asked, processes.WaitLimit(f"{words} to end", within_s))
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(asked.pid, signal.SIGKILL)
        asked.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        raise SystemMissing(
            f"{words} did not end within {within_s:g} s", hint=f"run it by hand: {words}"
        ) from error
    said, errors = (one.decode(errors="replace") for one in both)
    return subprocess.CompletedProcess(command, asked.returncode, said, errors)


_failed: dict[tuple[Path, int], str] = {}
"""Why programs could not be asked, as they were changed last: asking again may take as long."""


def said_version(program: Path) -> str:
    """All that ``program --version`` prints. Raises `SystemMissing` where it cannot be run."""
    known = program, program.stat().st_ctime_ns if os.access(program, os.F_OK) else 0
    if known in _failed:
        raise SystemMissing(_failed[known])
    try:
        said = answer_of([program, "--version"], within_s=ANSWERS_WITHIN_S)
    except SystemMissing as error:
        _failed[known] = error.message
        raise
    words = (said.stdout + said.stderr).strip()
    if said.returncode and not words:
        raise SystemMissing(ending_of_output(f"{program} --version", said.returncode))
    return words


def version_of(program: Path) -> str:
    """The version number within that. Raises `SystemMissing` where there is none."""
    said = said_version(program)
    # Some begin with their own path, which may have a number in it.
    found = versions.version_in(said.replace(str(program), ""))
    if found is None:
        raise SystemMissing(f"{program} --version says {said!r}, no version")
    return found
