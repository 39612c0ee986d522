"""Takes the folder of a system; returns its profiles of settings, which are data in its file
``profiles.toml``::

    [paper]
    title = "my.cnf of a paper"
    durability = "D1"               # optional: the class of its commits on any storage

    [paper.options]                 # options of the plugin
    buffer = "4GB"

    [paper.option_settings]         # the server's setting for which an option stands
    buffer = "pool_size"

    [paper.settings]                # settings of the server
    flush_at_commit = "0"

    [paper.printed]                 # setting as a paper printed it: what stands for it here
    "pool_pages = 100" = "pool_size"
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from assay.contracts.systems.abilities import Profile
from assay.text.files import toml_file
from assay.text.files.toml_file import TomlTable

FILE = "profiles.toml"


@cache
def profiles_of(folder: Path) -> Mapping[str, Profile]:
    """By name; none where the system has no such file. Raises `ExperimentError` with the line."""
    file = folder / FILE
    if not file.is_file():
        return {}
    top = toml_file.read(file)
    found = {name: _profile(name, top.section(name)) for name in top.names()}
    top.done()
    return found


def _profile(name: str, section: TomlTable) -> Profile:
    profile = Profile(
        name,
        section.text("title"),
        durability=section.text("durability", ""),
        settings=_texts(section.section("settings")),
        options=_texts(section.section("options")),
        option_settings=_texts(section.section("option_settings")),
        printed=_texts(section.section("printed")),
    )
    section.done()
    return profile


def _texts(section: TomlTable) -> dict[str, str]:
    return {name: section.text(name) for name in section.names()}
