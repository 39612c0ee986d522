"""Takes ``[instances]`` of a workload file; replaces each script that stands for several by one
transaction type for each number.

::

    [instances]
    "day_{instance}" = "1..14"      # day_{instance}.sql becomes day_1, day_2 ... day_14

``{instance}`` is the number in the name and wherever it stands in the text.
"""

from __future__ import annotations

import re
from typing import TypeVar

from msgspec.structs import replace

from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.in_dialect import INSTANCE
from assay.workload.scripts.scripts import FoundScripts
from assay.workload.values import Script

Key = TypeVar("Key")
_RANGE = re.compile(r"(?P<first>\d{1,9})\s*\.\.\s*(?P<last>\d{1,9})")
_MOST = 1000


def expand(found_scripts: FoundScripts, section: TomlTable) -> FoundScripts:
    """Raises `ExperimentError` at the line of a name that is no such script, or of a range that is
    none."""
    numbers = {name: _numbers(section, name, found_scripts) for name in section.names()}
    for name, script in found_scripts.scripts.items():
        if INSTANCE in name and name not in numbers:
            raise section.error(
                f"{script.path} stands for several scripts, and nothing says for which",
                hint=f'[instances] "{name}" = "1..10"',
            )
    if not numbers:
        return found_scripts
    scripts: dict[str, Script] = {}
    for name, script in found_scripts.scripts.items():
        for one in _each(script, numbers.get(name)):
            taken = {**found_scripts.scripts, **found_scripts.checks, **scripts}
            if one is not script and one.name in taken:
                raise section.error(f"a second script is called {one.name!r}", name)
            scripts[one.name] = one
    overrides = {
        (dialect, one.name): one
        for (dialect, name), script in found_scripts.overrides.items()
        for one in _each(script, numbers.get(name))
    }
    return replace(found_scripts, scripts=scripts, overrides=overrides)


def _numbers(section: TomlTable, name: str, found_scripts: FoundScripts) -> range:
    if name not in found_scripts.scripts or INSTANCE not in name:
        known = [one for one in found_scripts.scripts if INSTANCE in one]
        raise section.error(
            f"no script {name!r} stands for several", name, hint=did_you_mean(name, known)
        )
    matched = _RANGE.fullmatch(section.text(name).strip())
    numbers = range(int(matched["first"]), int(matched["last"]) + 1) if matched else range(0)
    if not 1 <= len(numbers) <= _MOST:
        raise section.error(
            f"{section.text(name)!r} is no range of 1 to {_MOST} numbers", name, hint='"1..14"'
        )
    return numbers


def _each(script: Script, numbers: range | None) -> list[Script]:
    if numbers is None:
        return [script]
    return [
        replace(
            script,
            name=script.name.replace(INSTANCE, str(number)),
            text=script.text.replace(INSTANCE, str(number)),
        )
        for number in numbers
    ]
