"""Takes text that is printed or kept; returns it without the passwords in it: those of URLs, of
connection strings, and of settings with such a name."""

from __future__ import annotations

import re
from functools import cache

HIDDEN = "***"
HIDDEN_PARAMETER = "hidden."
"""The prefix of the names of URL parameters whose values are never shown."""

NAME = r"(?:\w*passw(?:or)?d|passphrase|pwd)"
"""What a password is called in a text."""
_SECRET_NAME = re.compile(r"(password|passwd|passphrase)$", re.IGNORECASE)
_WITH_BLANKS = r"(?!\d+\s|PASSWORD@|\*\*\*@)[^\s/'\"<>]+(?:[ \t]+[^\s/'\"<>]+){0,8}[ \t]*"
"""A password in which a blank is not encoded: such a URL is refused, but may stand in other texts.
A port before the blank is none."""
URL_PASSWORD = re.compile(
    rf"(\w://[^\s/:@]*:)(?:(?!PASSWORD@|\*\*\*@)[^\s/@]+|{_WITH_BLANKS})(?<!:)@"
)
"""Of less than the above: words of a statement or of input may look like one."""
_SIGNS = ("passw", "passphrase", "pwd", "dent", ":/", HIDDEN_PARAMETER)
"""One of these, in small letters, is in each text that holds a password (``dent``: IDENTIFIED)."""
_CONNECTION_STRING = re.compile(r"\s*\w+\s*=\s*\S")


@cache
def _secrets_in_text() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Each with what stands in its place; compiled when a text may hold one."""
    return (
        # ?password=secret in a URL, also percent-encoded; password=secret in a connection string
        (
            re.compile(
                rf"(?:\b|(?<=%[0-9A-Fa-f]{{2}}))({NAME}\s*(?:=|%3[Dd])\s*)"
                r"(?!\*\*\*)('(?:[^']|'')*'|\"[^\"]*\"|[^\s;&]+)",
                re.I,
            ),
            rf"\1{HIDDEN}",
        ),
        # ALTER ROLE r PASSWORD 'secret', IDENTIFIED BY 'secret', SET PASSWORD FOR u = 'secret'
        (
            re.compile(
                rf"(\b(?:{NAME}|IDENTIFIED\s+(?:(?:WITH|VIA)\s+\S+\s+)?(?:BY|AS|USING))"
                rf"(?:\s+FOR\s+\S+)?[\s=(]+(?:{NAME}[\s(]+)?(?:U&|[ENX])?)"
                r"(?:'(?:[^']|'')*(?:'|\Z)(?:\s+'(?:[^']|'')*(?:'|\Z))*"
                r"|\$(\w*)\$(?s:.)*?(?:\$\2\$|\Z))",
                re.I,
            ),
            rf"\1'{HIDDEN}'",
        ),
        # set_config('my.password', 'secret', …), which a session is given
        (
            re.compile(rf"(\bset_config\s*\(\s*'(?:\w+\.)*{NAME}'\s*,\s*)'(?:[^']|'')*'", re.I),
            rf"\1'{HIDDEN}'",
        ),
        (re.compile(rf"(\w:/{{1,2}}[^\s/:@]*):{_WITH_BLANKS}@(?=[\w.\[/])"), rf"\1:{HIDDEN}@"),
        # scheme://user:secret@host, with one slash as a path; up to the last @, because a secret
        # may hold an @ of its own. USER:PASSWORD@ is how our own hints write it.
        (re.compile(r"(\w:/{1,2}[^\s/:@]*):(?!PASSWORD@)\S*@"), rf"\1:{HIDDEN}@"),
        (re.compile(rf"([?&]{re.escape(HIDDEN_PARAMETER)}[^=&\s]*=)[^&\s]*"), rf"\1{HIDDEN}"),
    )


def is_secret(name: str) -> bool:
    """Whether what has this name is a password."""
    return _SECRET_NAME.search(name) is not None


def without_secrets(text: str) -> str:
    """The text without the passwords of URLs and connection strings."""
    if not any(sign in text for sign in ("=", "@", "%3", "'", "$")):
        return text  # nothing below has a match, which most texts of a record pay for otherwise
    folded = text.casefold()
    if not any(sign in folded for sign in _SIGNS):
        return text
    for pattern, replacement in _secrets_in_text():
        text = pattern.sub(replacement, text)
    return text


def is_connection_string(word: str) -> bool:
    """Whether the word begins as ``host=… user=…`` does."""
    return _CONNECTION_STRING.match(word) is not None
