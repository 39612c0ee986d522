"""Takes text that is printed or kept, or of a file that is given to others; returns it without the
passwords in it, or where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assay.text import pattern

HIDDEN = "***"
HIDDEN_PARAMETER = "hidden."
"""The prefix of the names of URL parameters whose values are never shown."""

NAME = r"(?:\w*passw(?:or)?d|passphrase|pwd)"
"""What a password is called in a text."""
_SECRET_NAME = pattern(r"(password|passwd|passphrase)$", re.IGNORECASE)
_WITH_BLANKS = r"(?!\d+\s|PASSWORD@|\*\*\*@)[^\s/'\"<>]+(?:[ \t]+[^\s/'\"<>]+){0,8}[ \t]*"
"""A password in which a blank is not encoded: such a URL is refused, but may stand in other texts.
A port before the blank is none."""
URL_PASSWORD = pattern(rf"(\w://[^\s/:@]*:)(?:(?!PASSWORD@|\*\*\*@)[^\s/@]+|{_WITH_BLANKS})(?<!:)@")
"""Of less than the above: words of a statement or of input may look like one."""
_SIGNS = ("passw", "passphrase", "pwd", "dent", ":/", HIDDEN_PARAMETER)
"""One of these, in small letters, is in each text that holds a password (``dent``: IDENTIFIED)."""
_CONNECTION_STRING = pattern(r"\s*\w+\s*=\s*\S")
_SECRETS_IN_TEXT = (
    # ?password=secret in a URL, also percent-encoded; password=secret in a connection string
    (
        pattern(
            rf"(?:\b|(?<=%[0-9A-Fa-f]{{2}}))({NAME}\s*(?:=|%3[Dd])\s*)"
            r"(?!\*\*\*)('(?:[^']|'')*'|\"[^\"]*\"|[^\s;&]+)",
            re.I,
        ),
        rf"\1{HIDDEN}",
    ),
    # ALTER ROLE r PASSWORD 'secret', IDENTIFIED BY 'secret', SET PASSWORD FOR u = 'secret'
    (
        pattern(
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
        pattern(rf"(\bset_config\s*\(\s*'(?:\w+\.)*{NAME}'\s*,\s*)'(?:[^']|'')*'", re.I),
        rf"\1'{HIDDEN}'",
    ),
    (pattern(rf"(\w:/{{1,2}}[^\s/:@]*):{_WITH_BLANKS}@(?=[\w.\[/])"), rf"\1:{HIDDEN}@"),
    # scheme://user:secret@host, with one slash as a path; up to the last @, because a secret
    # may hold an @ of its own. USER:PASSWORD@ is how our own hints write it.
    (pattern(r"(\w:/{1,2}[^\s/:@]*):(?!PASSWORD@)\S*@"), rf"\1:{HIDDEN}@"),
    (pattern(rf"([?&]{re.escape(HIDDEN_PARAMETER)}[^=&\s]*=)[^&\s]*"), rf"\1{HIDDEN}"),
)
"""Each with what stands in its place."""


_IN_SECRETS = pattern(r"[=@'$]|%3")


def is_secret(name: str) -> bool:
    """Whether what has this name is a password."""
    return _SECRET_NAME.search(name) is not None


def without_secrets(text: str) -> str:
    """The text without the passwords of URLs and connection strings."""
    if _IN_SECRETS.search(text) is None:
        return text  # nothing below has a match, which most texts of a record pay for otherwise
    folded = text.casefold()
    if not any(sign in folded for sign in _SIGNS):
        return text
    for secret, replacement in _SECRETS_IN_TEXT:
        text = secret.sub(replacement, text)
    return text


def is_connection_string(word: str) -> bool:
    """Whether the word begins as ``host=… user=…`` does."""
    return _CONNECTION_STRING.match(word) is not None


# The forms in which texts hold secrets, as patterns: statements that give one to a server, and
# what is one wherever it is written: tokens, headers, keys. Each pattern has the secret in its
# group ``value``.
#
# A column that is called password is none: a name alone is a secret only in a statement or
# document that is about a login.

VALUE = r"'(?:[^'\n]|'')*'|[^\s;&,'\")`]+"
"""Of ``NAME=value`` in a connection string or a command."""
_KEY_NAME = (
    r"(?:\w*secret_?(?:access_?)?key|\w*api_?key|\w*client_?secret|secret|token|bearer"
    r"|\w*(?:access|auth|refresh|session|bearer|security|motherduck)_?token|\w*private_?key"
    r"|\w*account_?key|\w*encryption_?key|\w*connection_?string)"
)
"""What a secret that is no password is called."""
_LITERAL = (
    r"(?:(?:OLD_)?PASSWORD\s*\(\s*)?(?:U&|[ENX]|_\w+\s?)?"
    r"(?P<value>'(?:[^']|'')*'|\$(?P<tag>\w*)\$(?s:.)*?\$(?P=tag)\$)"
)
"""Of SQL: also with a prefix, in dollars, or as the argument of a function."""
_STATEMENT = r"[^;]{0,1000}?"
STATEMENTS: Final = tuple(
    pattern(text, re.IGNORECASE)
    for text in (
        rf"\b(?:CREATE|ALTER)\s+(?:OR\s+REPLACE\s+)?(?:USER|ROLE|LOGIN|GROUP)\b{_STATEMENT}"
        rf"\b{NAME}(?:\s*=\s*|\s+){_LITERAL}",
        rf"\bOPTIONS\s*\([^;()]{{0,1000}}?\b(?:{NAME}|{_KEY_NAME})[\"`']?\s*=?\s*{_LITERAL}",
        rf"\bIDENTIFIED\s+(?:(?:WITH|VIA)\s+\S+\s+)?(?:BY|AS|USING)\s+(?:PASSWORD\s+)?{_LITERAL}",
        rf"\b(?:CREATE|ALTER)\s+(?:PUBLIC\s+|DATABASE\s+)*(?:USER|ROLE|LINK)\b{_STATEMENT}"
        r"\bIDENTIFIED\s+BY\s+(?P<value>[\w\"$#]+)(?=\s*(?:[;,)]|\Z|\n)|\s+[A-Z]{4})",
        rf"(?:\A|;|\bBEGIN\b)\s*SET\s+(?:(?:SESSION|LOCAL|GLOBAL|PERSIST)\s+)?(?:\w+\.)*@?"
        rf"(?:{NAME}|{_KEY_NAME})(?:\s+FOR\s+[^\s=]+)?\s*(?:=|\bTO\b)\s*{_LITERAL}",
        rf"\bset_config\s*\(\s*E?'(?:\w+\.)*{NAME}'\s*,\s*{_LITERAL}",
        rf"(?:\A|\n)[ \t]*\\set[ \t]+{NAME}[ \t]+{_LITERAL}",
        rf"\b(?:create|update)User\b{_STATEMENT}\bpwd[\"']?\s*:\s*"
        r"(?P<value>\"[^\"\n]*\"|'[^'\n]*')",
        rf"\bCHANGE\s+(?:MASTER|REPLICATION\s+SOURCE)\b{_STATEMENT}\b{NAME}\s*=\s*{_LITERAL}",
        rf"\bSTART\s+(?:SLAVE|REPLICA|GROUP_REPLICATION)\b{_STATEMENT}\b{NAME}\s*=\s*{_LITERAL}",
        rf"\b(?:EN|DE)CRYPTION\s+BY\s+PASSWORD\s*=\s*{_LITERAL}",
        r"\b(?:OLD_)?PASSWORD\s*\(\s*(?P<value>'(?:[^']|'')*')\s*\)",
        rf"\bEXEC(?:UTE)?\b{_STATEMENT}@\w*{NAME}\s*=\s*{_LITERAL}",
        rf"\bPRAGMA\s+(?:\w+\.)?(?:hex)?(?:re)?key\s*(?:=|\()\s*{_LITERAL}",
        rf"\bATTACH\b{_STATEMENT}\b(?:ENCRYPTION_)?KEY\s*=?\s*{_LITERAL}",
        rf"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMPORARY\s+|PERSISTENT\s+)?SECRET\b{_STATEMENT}"
        rf"\b(?:{NAME}|{_KEY_NAME})\s*=?\s*{_LITERAL}",
        rf"\b(?:CREATE|ALTER)\s+(?:DATABASE\s+SCOPED\s+)?CREDENTIAL\b{_STATEMENT}"
        rf"\bSECRET\s*=\s*{_LITERAL}",
        rf"\bpgp_sym_(?:en|de)crypt(?:_bytea)?\s*\([^;]{{0,500}}?,\s*{_LITERAL}\s*[,)]",
        r"(?:\A|\n)[ \t]*CONN(?:ECT)?[ \t]+[\w$#\"]+/(?P<value>[^\s@;/]+)(?:@|[ \t]*(?:;|\n|\Z))",
    )
)
"""Searched in code, without its comments."""
COMMANDS: Final = tuple(
    pattern(text, re.MULTILINE)
    for text in (
        rf"(?i)^\\(?:set)?shell\b[^\n]*?\b\w*{NAME}=(?P<value>{VALUE})",
        rf"(?i)^\\setenv[ \t]+\w*{NAME}[ \t]+(?P<value>{VALUE})",
        rf"\b[A-Z_]{{2,40}}(?:PASSWORD|_PWD)=(?P<value>{VALUE})",
        rf"(?i)\s--?{NAME}[= ](?P<value>{VALUE})",
        r"\s-u[ ]?[\w-]+(?:[ ]\S+){0,20}?[ ]-p(?P<value>[^\s'\"\\-]\S*)",
        r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]+:(?P<value>[^\s'\"]+)",
        r"\bsqlplus\b[^\n]*?\s[\w$#]+/(?P<value>[^\s@/]+)@",
    )
)
"""Lines of a script that are given to programs, and remarks about such lines."""
_IN_JSON = (
    rf"(?i)\\?[\"'](?:{NAME}|{_KEY_NAME})\\?[\"']\s*:\s*\\?"
    r"(?P<value>\"[^\"\\\n]{4,}\\?\"|'[^'\\\n]{4,}')"
)
ANYWHERE: Final = tuple(
    pattern(text)
    for text in (
        r"(?i)\bauthorization\b[\"']?\s*[:=,]\s*[\"']?(?:bearer|basic|token|apikey)\s+"
        r"(?P<value>[\w.~+/=-]{6,})",
        r"\b[Bb]earer\s+(?P<value>(?=[\w.~+/-]*\d)[\w.~+/-]{20,}=*)",
        r"(?i)\baws_?(?:secret_?access_?key|session_?token)\b[\"']?\s*[:=]\s*[\"']?"
        r"(?P<value>[\w/+=]{16,})",
        r"(?i)\bAccountKey=(?P<value>[\w/+=]{16,})",
        r"-----(?!END )(?:[A-Z]+ )+PRIVATE KEY(?: BLOCK)?-----(?P<value>(?s:.)+?)(?:-----END|\Z)",
        r"\b(?P<value>(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}"
        r"|glpat-[\w-]{20,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{35}|[sr]k_live_\w{16,}"
        r"|npm_[A-Za-z0-9]{36}|pypi-[\w-]{32,}|hf_[A-Za-z0-9]{30,}"
        r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+)",
    )
)
"""In prose and data as well: what has such a form is nothing else."""
DOCUMENTS: Final = (pattern(_IN_JSON),)
"""In scripts: JSON about a login. A value of less than four characters is an example."""
IN_URLS: Final = (
    pattern(
        r"(?i)[?&;](?:(?:\w*_)?token|api_?key|sig|x-amz-(?:signature|security-token)|client_secret"
        r"|secret|auth)=(?P<value>[^&\s'\"<>;)}]{4,})"
    ),
)
"""Parameters of a URL that are no passwords by their names, and open what it leads to."""
SIGN: Final = pattern(
    r"passw|passphrase|pwd|identified|secret|key|token|connect|crypt|sqlplus|curl|[ ]-u[ ]?",
    re.IGNORECASE,
)
"""Without one of these there is none, but in a URL or `ANYWHERE`."""


_NO_PASSWORD = pattern(
    r"[:@$]\w[\w.]*|[$%]?\{[^{}]*\}|\?|%\w|<[^<>]*>|…|\.\.\.|\**|[A-Z_]*PASSWORD", re.DOTALL
)
"""What stands in the place of a value: a parameter, or what a hint writes."""
_QUOTES = pattern(r"\A(?:\$\w*\$|['\"\\]+)|(?:\$\w*\$|['\"\\]+)\Z")
_PAIRS = pattern(rf"\b{NAME}\s*(?:=|%3d)\s*(?P<value>{VALUE})", re.IGNORECASE)
_URL = pattern(r"\w://[^\s'\"<>]+")
_OTHER = (
    r"(?:host|hostaddr|server|addr|address|port|user|uid|user\s?name|dbname|database|dsn|"
    rf"data\s+source|initial\s+catalog|user\s+id)=(?:{VALUE})"
)
_PAIR = rf"{NAME}=(?P<value>{VALUE})"
_BETWEEN = rf"(?:[ \t]*;[ \t]*|[ \t]+)(?:\w+=(?:{VALUE})(?:[ \t]*;[ \t]*|[ \t]+)){{0,20}}"
_CONNECTION_STRINGS = (
    pattern(rf"\b{_OTHER}{_BETWEEN}{_PAIR}", re.IGNORECASE),
    pattern(rf"\b{_PAIR}{_BETWEEN}{_OTHER}", re.IGNORECASE),
)
_COMMENT_OR_LITERAL = pattern(
    r"(?P<literal>'(?:[^']|'')*')|\"[^\"\n]*\"|--[^\n]*|/\*.*?\*/|^[ \t]*(?:#|//)[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_MOST_NESTED = 3
"""Literals in literals: a statement that a function is given to run."""


def line_with_password(text: str) -> int | None:
    """The number of the first line with one, of a file with statements."""
    first = min((start for start, _ in _places(text)), default=None)
    return None if first is None else text.count("\n", 0, first) + 1


def has_password(line: str) -> bool:
    """Whether a line of prose or of data has one, in which there are no statements."""
    return any(True for _ in _in_words(line))


def without_file_passwords(text: str) -> str:
    """The text of a file with statements, with `HIDDEN` in place of each."""
    shown: list[str] = []
    end = 0
    for start, stop in sorted(_places(text)):
        if start >= end:
            shown += text[end:start], HIDDEN
        end = max(end, stop)
    return "".join(shown) + text[end:]


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where a password begins and ends."""
    yield from _in_words(text)
    if SIGN.search(text):
        yield from _values(text, *COMMANDS, *DOCUMENTS)
        yield from _in_statements(text, 0)


def _in_words(text: str) -> Iterator[tuple[int, int]]:
    """In URLs and connection strings."""
    if "://" in text:
        for found in URL_PASSWORD.finditer(text):
            yield found.end(1), found.end() - 1
        for found in _URL.finditer(text):
            yield from _moved(_values(found[0], _PAIRS, *IN_URLS), found.start())
    yield from _values(text, *ANYWHERE)
    if "=" in text and SIGN.search(text):
        yield from _values(text, *_CONNECTION_STRINGS)


def _moved(places: Iterator[tuple[int, int]], by: int) -> Iterator[tuple[int, int]]:
    return ((start + by, end + by) for start, end in places)


def _values(text: str, *patterns: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for one in patterns:
        for found in one.finditer(text):
            plain = _QUOTES.sub("", found["value"])
            if not _NO_PASSWORD.fullmatch(plain):
                yield found.span("value")


def _in_statements(text: str, nested: int) -> Iterator[tuple[int, int]]:
    """``nested``: in so many literals."""
    code = _COMMENT_OR_LITERAL.sub(_code, text)
    yield from _values(code, *STATEMENTS)
    for found in _COMMENT_OR_LITERAL.finditer(text):
        literal = found["literal"]
        if not literal or nested == _MOST_NESTED or not SIGN.search(literal):
            continue
        # As long as it was, so that a place in it is one of the text.
        inner = literal[1:-1].replace("''", " '")
        if is_connection_string(inner):
            places = _values(inner, _PAIRS)
        else:
            places = _in_statements(inner, nested + 1)
        yield from _moved(places, found.start() + 1)


def _code(token: re.Match[str]) -> str:
    """Blanks in place of a comment."""
    text = token[0]
    return text if text[0] in "'\"" else re.sub(r"[^\n]", " ", text)
