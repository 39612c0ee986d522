"""Takes text that is printed or kept; returns it without the passwords in it: those of URLs, of
connection strings, and of settings with such a name."""

from __future__ import annotations

import re

HIDDEN = "***"
HIDDEN_PARAMETER = "hidden."
"""The prefix of the names of URL parameters whose values are never shown."""

_SECRET_NAME = re.compile(r"(password|passwd|passphrase)$", re.IGNORECASE)
_SECRETS_IN_TEXT = (
    # ?password=secret in a URL, also percent-encoded; password=secret in a connection string
    (
        re.compile(
            r"(?:\b|(?<=%[0-9A-Fa-f]{2}))(\w*passw(?:or)?d|passphrase|pwd)(\s*(?:=|%3[Dd])\s*)"
            r"(?!\*\*\*)('[^']*'|[^\s;&]+)",
            re.I,
        ),
        rf"\1\2{HIDDEN}",
    ),
    # scheme://user:secret@host, with one slash as a path; up to the last @, because a secret may
    # hold an @ of its own. USER:PASSWORD@ is how our own hints write it.
    (re.compile(r"(\w:/{1,2}[^\s/:@]*):(?!PASSWORD@)\S*@"), rf"\1:{HIDDEN}@"),
    (re.compile(rf"([?&]{re.escape(HIDDEN_PARAMETER)}[^=&\s]*=)[^&\s]*"), rf"\1{HIDDEN}"),
)
_URL_PASSWORD = re.compile(r"(\w://[^\s/:@]*:)(?!PASSWORD@|\*\*\*@)[^\s/@]+@")
_CONNECTION_STRING = re.compile(r"\s*\w+\s*=\s*\S")


def is_secret(name: str) -> bool:
    """Whether what has this name is a password."""
    return _SECRET_NAME.search(name) is not None


def without_secrets(text: str) -> str:
    """The text without the passwords of URLs and connection strings."""
    if "=" not in text and "@" not in text and "%3" not in text:
        return text  # nothing below has a match, which most texts of a record pay for otherwise
    for pattern, replacement in _SECRETS_IN_TEXT:
        text = pattern.sub(replacement, text)
    return text


def has_url_password(line: str) -> bool:
    """Whether a line of a file holds a URL with a password: of less than `without_secrets` hides,
    as words of a statement or of input may look like one."""
    return "@" in line and _URL_PASSWORD.search(line) is not None


def without_url_passwords(text: str) -> str:
    """A script without the passwords of URLs, for all to read; less than `without_secrets` hides,
    for the same reason."""
    return _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text) if "@" in text else text


def is_connection_string(word: str) -> bool:
    """Whether the word begins as ``host=… user=…`` does."""
    return _CONNECTION_STRING.match(word) is not None
