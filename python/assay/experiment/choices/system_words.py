"""Takes one word of ``--on``; splits it at commas and returns each system as written, and the name
that the user gives it (``old=scheme://…``) apart from it.

A comma within brackets or quotes, or in the user and password of a URL, does not split.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay import registry
from assay.contracts.server_url import is_url
from assay.experiment.choices.url_storages import end_of_bracket

_NAMED = re.compile(r"\s*([^=\[\]:/,@\"]+?)\s*=\s*(?=\S)")


def split_systems(words: str) -> list[str]:
    """The systems in order; empty where nothing stands before or behind a comma."""
    found: list[str] = []
    rest = words.strip()
    while rest:
        _, own = called(rest)
        system, rest = _url(rest, len(rest) - len(own)) if is_url(own) else _plain(rest)
        found.append(system)
    is_open = bool(found) and found[-1].endswith(",")  # of a bracket that is not closed
    return [*found, ""] if words.rstrip().endswith(",") and not is_open else found


def called(word: str) -> tuple[str, str]:
    """``old=scheme://…`` as the name and the system; the name is empty where none is given,
    also in ``host=db``, where no system stands behind the equals sign."""
    given = _NAMED.match(word)
    if given is None:
        return "", word
    system = word[given.end() :]
    kind = re.split(r"[\[,@]", system, maxsplit=1)[0].strip()
    is_system = kind in registry.systems() or kind.partition(":")[0] in registry.families()
    return (given[1], system) if is_url(system) or is_system else ("", word)


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
    system = rf"(?:{names})(?:@[\w.~+-]*)?"
    name = r'(?:[^=\[\]:/,@"]+=\s*)?'
    return re.compile(rf",\s*{name}(?:(?:{schemes})://|{system}\s*(?=[,\[]|$))", re.IGNORECASE)


def _schemes() -> Sequence[str]:
    return [scheme for name in registry.systems() for scheme in registry.url_schemes(name)]
