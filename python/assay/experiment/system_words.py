"""Takes the systems of one word of ``--on``, with commas between; returns each as it was written.

A comma within brackets or quotes, or in the user and password of a URL, is part of its system.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay import registry
from assay.server_url import is_url


def split_systems(words: str) -> list[str]:
    """The systems in their order."""
    found: list[str] = []
    rest = words.strip()
    while rest:
        one, rest = _url(rest) if is_url(rest) else _plain(rest)
        found.append(one)
    return [one for one in found if one]


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


def _url(text: str) -> tuple[str, str]:
    """A URL ends at a comma behind its last ``@``, and before the next system's beginning. A comma
    between several hosts is of the URL, so that it can be refused as such."""
    following = _next_system().search(text)
    whole = text if following is None else text[: following.start()]
    comma = whole.find(",", whole.rfind("@") + 1)
    is_in_host = "/" not in whole[whole.find("://") + 3 : comma]
    is_of_url = is_in_host and any(sign in whole[comma:] for sign in "/:")
    end = comma if comma >= 0 and not is_of_url else len(whole)
    return text[:end].strip(), text[end:].lstrip().removeprefix(",").strip()


def _next_system() -> re.Pattern[str]:
    names = "|".join(map(re.escape, registry.systems()))
    schemes = "|".join(map(re.escape, _schemes()))
    return re.compile(rf",\s*(?:(?:{schemes})://|(?:{names})\s*(?=[,\[]|$))", re.IGNORECASE)


def _schemes() -> Sequence[str]:
    return [one for name in registry.systems() for one in registry.url_schemes(name)]
