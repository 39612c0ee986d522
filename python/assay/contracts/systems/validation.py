"""Takes a system; says everything in which it breaks the contract of `System` and of its abilities.

A plugin runs it in its own tests: ``assay.systems.validate(MY_SYSTEM)``. Nothing is started.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assay import _engine
from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.plugins import ContractBroken, half_an_ability, members_broken, options_broken
from assay.contracts.systems.abilities import (
    ABILITIES,
    ReachedByUrl,
    Restartable,
    VaryingCapabilities,
)
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError

_NAME = re.compile(r"[a-z][a-z0-9_-]*(:[A-Za-z0-9_.+]+)?")
"""Behind a colon stands the member of a family."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_SHOWN = 3
"""How many members that a dialect lacks are named."""
_PASSWORD = "a-password-that-no-message-may-show"


def validate(system: Any) -> None:
    """Raises `ContractBroken` with every violation that can be seen without starting anything."""
    violations = list(_violations(system))
    if violations:
        raise ContractBroken(f"the system {getattr(system, 'name', system)!r}", violations)


def _violations(system: Any) -> Iterator[str]:
    broken = members_broken(system, System)
    broken |= {name: text for name, text in _wrong_types(system) if name not in broken}
    yield from broken.values()
    for ability in ABILITIES:
        yield from half_an_ability(system, ability)
    for part, needed in _PARTS.items():
        if not broken.keys() & needed:
            yield from part(system)


def _wrong_types(system: Any) -> Iterator[tuple[str, str]]:
    """Members that are values and not of the declared type, with the violation."""
    for name, types, what in (
        ("name", (str,), "a text"),
        ("driver", (str,), "a text"),
        ("capabilities", (frozenset, set), "a frozenset of texts"),
        ("option_specs", (tuple, list), "a tuple of OptionSpec"),
    ):
        found = getattr(system, name, None)
        if not isinstance(found, types):
            yield name, f"{name}: expected {what}, found {type(found).__name__}"
    dialect = getattr(system, "dialect", None)
    if lacking := list(members_broken(dialect, Dialect).values()):
        found = "; ".join(lacking[:_SHOWN]) + ("; …" if len(lacking) > _SHOWN else "")
        yield "dialect", f"dialect: expected a Dialect, found {type(dialect).__name__}: {found}"


def _name(system: System) -> Iterator[str]:
    if not _NAME.fullmatch(system.name):
        yield f"name: expected lower-case letters, digits, _ and -, found {system.name!r}"


def _driver(system: System) -> Iterator[str]:
    if system.driver not in _engine.drivers():
        known = ", ".join(_engine.drivers())
        yield f"driver: the engine has none called {system.driver!r}; it has {known}"


def _capabilities(system: System) -> Iterator[str]:
    for name in sorted(map(str, set(system.capabilities) - set(CAPABILITIES))):
        yield f"capabilities: {name!r} is none; known: {', '.join(CAPABILITIES)}"
    if isinstance(system, Restartable) and "stored rows" not in system.capabilities:
        yield "capabilities: its data outlive a restart, and 'stored rows' is missing"


def _abilities(system: System) -> Iterator[str]:
    """What the capabilities say is what the dialect and the members show."""
    dialect = system.dialect
    try:
        in_fact = {
            "transactions": (bool(dialect.begin()), "dialect.begin()"),
            "isolation levels": (bool(dialect.isolation_levels), "dialect.isolation_levels"),
            "read only sessions": (
                bool(dialect.session_read_only()),
                "dialect.session_read_only()",
            ),
            "bulk load": (dialect.bulk_form == "native", "dialect.bulk_form"),
            "restart": (isinstance(system, Restartable), "settings_of_the_data()"),
        }
    except Exception as error:
        yield f"dialect: begin() or session_read_only() fails: {error!r}"
        return
    for name, (is_had, where) in in_fact.items():
        if is_had != (name in system.capabilities):
            says, shows = ("has", "not") if name in system.capabilities else ("has not", "it has")
            yield f"capabilities: it says that it {says} {name!r}, and {where} shows {shows}"


def _narrowed(system: System) -> Iterator[str]:
    if not isinstance(system, VaryingCapabilities):
        return
    try:
        found = set(system.capabilities_with(SystemChoice(system.name)))
    except Exception as error:
        yield f"capabilities_with() fails without any option: {error!r}"
        return
    for name in sorted(found - set(system.capabilities)):
        yield f"capabilities_with() gives {name!r}, which is not in capabilities"


def _options(system: System) -> Iterator[str]:
    yield from options_broken(system.option_specs)


def _check(system: System) -> Iterator[str]:
    try:
        system.check(SystemChoice(system.name))
    except Exception as error:
        yield f"check() refuses the system without any option: {error!r}"


def _urls(system: System) -> Iterator[str]:
    if not isinstance(system, ReachedByUrl) or members_broken(system, ReachedByUrl):
        return
    schemes = system.url_schemes
    if not isinstance(schemes, tuple) or not all(isinstance(one, str) for one in schemes):
        yield f"url_schemes: expected a tuple of texts, found {system.url_schemes!r}"
        return
    if not system.url_schemes:
        yield "url_schemes is empty; leave it out, with check_url() and attach()"
    for scheme in system.url_schemes:
        if not _SCHEME.fullmatch(scheme):
            yield f"url_schemes: expected lower-case letters before '://', found {scheme!r}"
    for scheme in system.url_schemes[:1]:
        for url in (
            f"{scheme}://",
            f"{scheme}://u:{_PASSWORD}@h:port/d",
            f"{scheme}://u:{_PASSWORD}@[h/?x=%zz",
        ):
            shown = url.replace(_PASSWORD, "…")
            try:
                system.check_url(url)
            except ArgumentError as error:
                if _PASSWORD in f"{error.message} {error.hint}":
                    yield f"check_url({shown!r}) shows the password in its message"
            except Exception as error:
                yield f"check_url({shown!r}) raises {type(error).__name__}, not ArgumentError"


_PARTS: Mapping[Callable[[System], Iterator[str]], set[str]] = {
    _name: {"name"},
    _driver: {"driver"},
    _capabilities: {"capabilities"},
    _abilities: {"capabilities", "dialect"},
    _narrowed: {"name", "capabilities"},
    _options: {"option_specs"},
    _check: {"name", "check"},
    _urls: set(),
}
"""What is examined, and the members without which it cannot be."""
