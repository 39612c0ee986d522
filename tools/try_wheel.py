#!/usr/bin/env python3
"""Takes a wheel; installs it in a clean environment of each Python on this machine that it is for,
and runs its programs there, in an empty folder and without a compiler in reach.

With ``--this-python`` only in one of the Python that runs this, with dependencies as the lock file
has them, which needs no package index where they were installed once before.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = str(Path(sys.executable).parent / "uv")
OLDEST = (3, 11)


def main(arguments: list[str]) -> int:
    """Returns 0, or raises with what a command printed."""
    wheel = Path(arguments[0]).resolve()
    size_mb = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size_mb:.1f} MB")
    with tempfile.TemporaryDirectory(prefix="assay-wheel-") as folder:
        if "--this-python" in arguments:
            environment = Path(folder) / "locked"
            locked(wheel, environment)
            print(tried(environment))
            return 0
        for python in pythons():
            environment = Path(folder) / python.replace("/", "_")
            from_the_index(wheel, python, environment)
            print(tried(environment))
        print(tool(wheel, Path(folder)))
    return 0


def pythons() -> Iterator[str]:
    """Programs of every Python of this machine that is new enough, one of each version."""
    versions = {}
    folders = [*os.environ["PATH"].split(":"), *pyenv_folders()]
    for program in (path for folder in folders for path in sorted(Path(folder).glob("python3.*"))):
        if re.fullmatch(r"python3\.\d+", program.name):
            asked = subprocess.run(
                [program, "-c", "import sys; print(sys.version_info[:2])"],
                capture_output=True,
                text=True,
            )
            if asked.returncode == 0:
                versions.setdefault(asked.stdout.strip(), str(program))
    for version, program in sorted(versions.items(), key=lambda one: _numbers(one[0])):
        if _numbers(version) >= OLDEST:
            yield program


def pyenv_folders() -> list[str]:
    """Where pyenv keeps its Pythons, which are not all on the PATH."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return sorted(str(folder) for folder in root.glob("versions/*/bin"))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def from_the_index(wheel: Path, python: str, environment: Path) -> None:
    """Makes the environment as a person does: dependencies are found by their names."""
    done([UV, "venv", "--quiet", "--python", python, str(environment)])
    install = [UV, "pip", "install", "--quiet", "--compile-bytecode"]
    done([*install, "--python", str(environment / "bin/python"), str(wheel)])


def locked(wheel: Path, environment: Path) -> None:
    """Makes the environment from the lock file, and adds the wheel."""
    variables = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(environment)}
    variables.pop("VIRTUAL_ENV", None)
    sync = [UV, "sync", "--frozen", "--quiet", "--no-dev", "--no-install-project"]
    done([*sync, "--python", sys.executable, "--project", str(ROOT)], env=variables)
    python = ["--python", str(environment / "bin/python")]
    done([UV, "pip", "install", "--quiet", "--no-deps", "--compile-bytecode", *python, str(wheel)])
    done([UV, "pip", "check", "--quiet", *python])


def tried(environment: Path) -> str:
    """Runs the installed programs; returns what was seen."""
    python, assay = str(environment / "bin/python"), str(environment / "bin/assay")
    with tempfile.TemporaryDirectory(prefix="assay-empty-") as folder:
        # No program of this machine is found: neither a compiler nor a server.
        alone = {
            "cwd": folder,
            "env": {"PATH": "/nonexistent", "HOME": folder, "LC_ALL": "C.UTF-8"},
        }
        as_json = ["--format", "json"]
        systems = json.loads(done([assay, "list", "systems", *as_json], **alone))
        tests = json.loads(done([assay, "list", "workloads", *as_json], **alone))
        experiments = json.loads(done([assay, "list", "experiments", *as_json], **alone))
        plan = [assay, "plan", "kreymer-1995.toml", "--quick", "--only", "sqlite"]
        done(plan, **alone)
        run = [assay, "run", "tpcb", "--on", "sqlite", "--clients", "2", "--duration", "0.5"]
        run += ["--no-repeat"]  # as other programs may disturb it
        done(run, **alone)
        runs = json.loads(done([assay, "list", "runs", *as_json], **alone))
        done([str(environment / "bin/bibtosql"), "--version"], **alone)
        done([str(environment / "bin/bibsql"), "--version"], **alone)
        done([python, "-c", _DISK_MODEL], **alone)
    return json.dumps(
        {
            "python": done([python, "-V"]).split()[1],
            "systems": len(systems),
            "tests": len(tests),
            "experiments": len(experiments),
            "runs": [one["verdict"] for one in runs],
            "man_pages": len(list(environment.glob("share/man/man1/*.1"))),
            "compiled_modules": len(list(environment.glob("lib/*/site-packages/assay/**/*.pyc"))),
        }
    )


_DISK_MODEL = "import sys; from assay import _engine; sys.exit(_engine.disk_model(['--help']))"
"""The program of modelled disks is in the engine."""


def tool(wheel: Path, folder: Path) -> str:
    """Runs the wheel's program without installing it."""
    empty = folder / "empty"
    empty.mkdir()
    return done([UV, "tool", "run", "--from", str(wheel), "assay", "--version"], cwd=str(empty))


def done(command: list[str], **settings: object) -> str:
    """Standard output of a command; raises with its errors where it fails."""
    ended = subprocess.run(command, capture_output=True, text=True, **settings)  # type: ignore[call-overload]
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)}: status {ended.returncode}\n{ended.stderr}")
    return str(ended.stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
