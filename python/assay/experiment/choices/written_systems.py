"""Takes one word of ``--on``; returns each system as it is written in it, the name that the user
gives it, and the storages that are said behind its URL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from assay import registry
from assay.contracts.experiment import BY_URL, StorageChoice, SystemChoice
from assay.contracts.plugins import OptionSpec, spelled
from assay.contracts.server_url import is_url, without_password
from assay.contracts.storages.protocol import SHARED_OPTIONS, shared_fields_of
from assay.errors import ArgumentError
from assay.text import pattern

_NAMED = pattern(r"\s*([^=\[\]:/,@\"]+?)\s*=\s*(?=\S)")


def split_systems(words: str) -> list[str]:
    """The systems in order; empty where nothing stands before or behind a comma."""
    found: list[str] = []
    rest = words.strip()
    while rest:
        _, own = called_system(rest)
        system, rest = _url(rest, len(rest) - len(own)) if is_url(own) else _plain(rest)
        found.append(system)
    is_open = bool(found) and found[-1].endswith(",")  # of a bracket that is not closed
    return [*found, ""] if words.rstrip().endswith(",") and not is_open else found


def called_system(word: str) -> tuple[str, str]:
    """``old=scheme://…`` as the name and the system; the name is empty where none is given,
    also in ``host=db``, where no system stands behind the equals sign."""
    given = _NAMED.match(word)
    if given is None:
        return "", word
    system = word[given.end() :]
    kind = re.split(r"[\[,@]", system, maxsplit=1)[0].strip()
    name = kind.partition(":")[0]
    is_system = name in (*registry.systems(), *registry.families())
    return (given[1], system) if is_url(system) or is_system else ("", word)


_WITH_DIRECTORY = re.compile(
    r'([\w-]+)(?:@[^:/]*)?:(?!//)\s*(?:"([^"]+)"|([^"\[]*))\s*(\[.*)?', re.DOTALL
)
_LOGIN = re.compile(r":[^/]*@")
"""In a URL that is written wrong, whose password no message may show."""


def system_and_directory(word: str) -> tuple[str, str, str] | None:
    """``NAME:DIRECTORY[KEY=VALUE]`` in its three parts, the directory without the quotes around a
    comma or a bracket; None: the word names no directory of a system's programs."""
    found = _WITH_DIRECTORY.fullmatch(word.strip())
    if found is None or found[1] not in registry.systems():
        return None
    plain = (found[3] or "").strip()
    is_path = plain.startswith((".", "~")) or "/" in plain
    if not found[2] and (not is_path or _LOGIN.search(plain)):
        return None
    return found[1], found[2] or plain, found[4] or ""


def absolute_directory(given: str, folder: Path) -> str:
    """Without links; a relative one is in the ``folder``. Raises `ArgumentError` for what can be no
    path."""
    try:
        return str((folder / Path(given).expanduser()).resolve())
    except (OSError, ValueError, RuntimeError) as error:
        raise ArgumentError(
            f"{given!r} cannot be a directory of programs: {error}", hint="name another"
        ) from None


def written_directory(directory: str) -> str:
    """In quotes where it would not be read as one."""
    return f'"{directory}"' if {*directory} & {*",[]"} else directory


def _plain(text: str) -> tuple[str, str]:
    """A system by name ends at the first comma outside brackets and quotes."""
    depth, is_quoted = 0, False
    for at, letter in enumerate(text):
        if letter == '"':
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += {"[": 1, "]": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                return text[:at].strip(), text[at + 1 :].strip()
    return text.strip(), ""


def _url(text: str, begin: int) -> tuple[str, str]:
    """A URL that begins there, behind its name, ends at a comma after its last ``@``, or where the
    next system begins. A comma between several hosts stays in the URL, so that its parser can
    refuse it."""
    following = _next_system().search(text, begin)
    whole = text if following is None else text[: following.start()]
    host = max(whole.rfind("@") + 1, begin)
    bracket = end_of_bracket(whole, host)
    if bracket >= 0 and whole[bracket:].lstrip()[:1] in ("", ","):
        return text[:bracket].strip(), text[bracket:].lstrip().removeprefix(",").strip()
    comma = whole.find(",", host)
    is_in_host = "/" not in whole[whole.find("://") + 3 : comma]
    is_of_url = is_in_host and any(sign in whole[comma:] for sign in "/:")
    end = comma if comma >= 0 and not is_of_url else len(whole)
    return text[:end].strip(), text[end:].lstrip().removeprefix(",").strip()


def _next_system() -> re.Pattern[str]:
    names = "|".join(
        [
            *map(re.escape, registry.systems()),
            *(rf"{re.escape(family)}:[\w.+]+" for family in registry.families()),
        ]
    )
    schemes = "|".join(map(re.escape, _schemes()))
    system = rf"(?:{names})(?:@[\w.~+-]*|:(?!//)(?:\"[^\"]*\"|[/.~][^,\[]*))?"
    name = r'(?:[^=\[\]:/,@"]+=\s*)?'
    return re.compile(rf",\s*{name}(?:(?:{schemes})://|{system}\s*(?=[,\[]|$))", re.IGNORECASE)


def _schemes() -> Sequence[str]:
    return [scheme for name in registry.systems() for scheme in registry.url_schemes(name)]


STORAGE: Final = OptionSpec(
    name="storage",
    default="",
    levels=(),
    help="What the storage of a server by URL is called: its column in reports.",
)
OPTIONS: Final = {spec.name: spec for spec in (STORAGE, *SHARED_OPTIONS)}
_BRACKET = pattern(r"\[\s*[\w.]+\s*=[^\]]*\]")
"""``[NAME=VALUE,…]``, as behind the name of a system; no IPv6 address is one."""


_NOT_CLOSED = pattern(rf"\[\s*(?:{'|'.join(OPTIONS)})\s*=[^\]@]*$")


def url_and_bracket(word: str) -> tuple[str, str]:
    """``URL[storage=ssd]`` apart; the bracket is empty where there is none."""
    if _NOT_CLOSED.search(word):
        raise ArgumentError(
            f"{without_password(word)}: the bracket is not closed",
            hint=f"{without_password(word)}]",
        )
    found = list(_BRACKET.finditer(word, word.rfind("@") + 1))
    if not found or found[-1].end() != len(word.rstrip()):
        return word, ""
    return word[: found[-1].start()], found[-1][0]


def end_of_bracket(text: str, begin: int) -> int:
    """Where the first bracket behind ``begin`` ends; -1: there is none."""
    found = _BRACKET.search(text, begin)
    return -1 if found is None else found.end()


def on_storage(choice: SystemChoice, given: Mapping[str, str]) -> SystemChoice:
    """The server by URL on the storage that these options describe. Raises `ArgumentError`."""
    if not given:
        return choice
    before = choice.stands_on or StorageChoice("", BY_URL)
    owner = f"the storage of {choice.name}"
    checked = {key: spelled(OPTIONS[key], value, owner) for key, value in given.items()}
    name = checked.pop(STORAGE.name, before.name)
    shown = without_password(choice.url or "")
    if not name.strip() or not name.isprintable():
        said = ",".join(f"{key}={value}" for key, value in given.items())
        raise ArgumentError(
            f"{shown}: expected the name of the storage that this server is on, found {said!r}",
            hint=f"storage=NAME beside it: '{shown}[storage=ssd,role=solid-state]'",
        )
    if name in registry.storages():
        raise ArgumentError(
            f"{shown}: the storage of a server by URL cannot be called {name}, which is a kind of "
            "storage that Assay makes",
            hint="choose another name, such as ssd",
        )
    return replace(choice, stands_on=replace(before, name=name, **shared_fields_of(checked)))


def insist_on_one_storage(choices: Iterable[SystemChoice]) -> None:
    """Raises `ArgumentError` where two storages have one name, or one server is on two."""
    of_name: dict[str, StorageChoice] = {}
    of_server: dict[str, str] = {}
    for choice in choices:
        storage = choice.stands_on
        if storage is None:
            continue
        if of_name.setdefault(storage.name, storage) != storage:
            raise ArgumentError(
                f"two storages are called {storage.name!r}: their role or rtt differs",
                hint="give each a name of its own",
            )
        server = choice.url_without_password or ""
        if of_server.setdefault(server, storage.name) != storage.name:
            raise ArgumentError(
                f"{server} is on two storages: {of_server[server]} and {storage.name}",
                hint="a server is on one: give the URL of the other server, too",
            )


def systems_on_storages(
    systems: Iterable[SystemChoice], storages: Sequence[StorageChoice]
) -> list[tuple[SystemChoice, StorageChoice]]:
    """Each system on each of its storages: of a server by URL the one that it is on. A storage with
    a round-trip time of its own has no level of ``--rtt``."""
    found: list[tuple[SystemChoice, StorageChoice]] = []
    for system in systems:
        own = storages if system.url is None else (system.stands_on or StorageChoice(),)
        for storage in own:
            machine = replace(system.machine, rtt_s=0.0) if storage.rtt_s else system.machine
            place = replace(system, machine=machine), storage
            if place not in found:
                found.append(place)
    return found
