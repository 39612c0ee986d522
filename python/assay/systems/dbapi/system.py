"""A Python DB-API 2.0 module behind the protocol of every system under test, and the family of
such systems: ``dbapi:MODULE`` or ``dbapi:MODULE+DIALECT``, with the keyword arguments of its
``connect()`` in brackets."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote

from assay.contracts import server_url
from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import CLIENT_PROCESSES as MOST
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import IN_THE_TESTS, NOT_VERIFIED, FoundPrograms
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory, System
from assay.dialects.standard import StandardSql
from assay.env_vars import DBAPI_PASSWORD
from assay.errors import ArgumentError, Bug, PasswordNeeded, SystemRefused
from assay.provision.engine.dbapi import NOT_DBAPI
from assay.provision.engine.engine_calls import session
from assay.systems.dbapi import dialects, modules
from assay.systems.dbapi.dialects import begin_statement, loaded_by_insert
from assay.systems.dbapi.modules import KNOWN, Module
from assay.systems.options import values
from assay.text.quantities import Whole
from assay.text.secrets import HIDDEN_PARAMETER, without_secrets

SCHEME = "dbapi"
DEFAULT_PLACE = "the default of the module"
"""Where no keyword says where the server is."""

Keyword = str | int | bool

_SECRET_NAME = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|(^|_)pass$|^auth$|(api|access)_?key",
    re.IGNORECASE,
)
_ORACLE_LOGIN = re.compile(r"[^/@\s]+/[^@]+@")
"""``USER/PASSWORD@PLACE``."""
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_USERS = ("user", "username", "uid")
_PLACES = ("host", "server", "hostname", "socket", "unix_socket", "dsn", "database", "dbname")
"""Keywords that say where the server is, the likeliest first."""
_TEXTS = frozenset((*_USERS, *_PLACES, "db", "service_name", "sid"))
"""Names and addresses are texts, also where they look like numbers."""
_SHOWN = re.compile(
    "user|username|uid|host|hostname|server|port|(unix_)?socket|database|dbname|db|schema|path|file"
    "|service_name|sid|dsn|driver|protocol|charset|encoding|client_encoding|application_name|ssl"
    "|sslmode|ssl_disabled|autocommit|isolation_level|threaded|use_pure|check_same_thread"
    r"|\w*time_?out\w*",
    re.IGNORECASE,
)
"""Keywords that are harmless: their values are in labels and records."""
_SHOWN_DSN = re.compile(r"[\w.-]+|(//)?[\w.-]+:\d+(/[\w.-]+)?|//[\w.-]+/[\w.-]+")
_WORDS: Mapping[str, bool] = {"true": True, "false": False}


def url_of_keywords(given: Mapping[str, str]) -> str:
    """Raises `ArgumentError` for a password."""
    for name, value in given.items():
        if _is_password(name) or _has_password(name, value):
            raise ArgumentError(
                f"the keyword {name} holds a password, which everybody could read in the list of "
                "processes",
                hint=f"leave it out: it is taken from {DBAPI_PASSWORD.name}, or asked for",
            )
        if not name.isidentifier():
            raise ArgumentError(f"expected the name of a keyword argument, found {name!r}")
    shown = {name: value for name, value in given.items() if _is_shown(name, value)}
    query = "&".join(
        f"{'' if name in shown else HIDDEN_PARAMETER}{name}={quote(value, safe='/:')}"
        for name, value in given.items()
    )
    user = next((shown[name] for name in _USERS if name in shown), "")
    place = next((shown[name] for name in _PLACES if name in shown), DEFAULT_PLACE)
    at = f"{quote(user, safe='')}@" if user else ""
    return f"{SCHEME}://{at}/{quote(place, safe='')}?{query}"


def keywords_of_url(text: str) -> dict[str, Keyword]:
    """The keyword arguments: whole numbers, ``true`` and ``false`` are no texts."""
    return {**shown_keywords(text), **hidden_keywords(text)}


def shown_keywords(text: str) -> dict[str, Keyword]:
    return {
        name: _typed(name, value)
        for name, value in server_url.parts(text).parameters.items()
        if not name.startswith(HIDDEN_PARAMETER)
    }


def hidden_keywords(text: str) -> dict[str, Keyword]:
    """Those whose values are in no record."""
    given = server_url.parts(text).parameters
    hidden = {
        name.removeprefix(HIDDEN_PARAMETER): value
        for name, value in given.items()
        if name.startswith(HIDDEN_PARAMETER)
    }
    return {name: _typed(name, value) for name, value in hidden.items()}


def password_of_keywords(text: str) -> str | None:
    """The one that was typed, or that of the environment."""
    typed = server_url.parts(text).password
    return DBAPI_PASSWORD.get() if typed is None else unquote(typed)


def _is_password(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _has_password(name: str, value: str) -> bool:
    """In a URL, in a connection string, or as Oracle writes a login."""
    is_login = name.lower() == "dsn" and _ORACLE_LOGIN.match(value) is not None
    return is_login or without_secrets(value) != value


def _is_shown(name: str, value: str) -> bool:
    if not _SHOWN.fullmatch(name):
        return False
    if name.lower() == "dsn":
        return _SHOWN_DSN.fullmatch(value) is not None
    return name.lower() not in _USERS or "/" not in value  # Oracle's USER/PASSWORD


def _typed(name: str, value: str) -> Keyword:
    if name in _TEXTS:
        return value
    if _WHOLE.fullmatch(value):
        return int(value)
    return _WORDS.get(value.lower(), value)


_SETTINGS_UNKNOWN = "DB-API 2.0 has no way to ask for them"
_NEVER = frozenset({"restart", "prepared statements", "bulk load"})
"""DB-API 2.0 knows nothing of these; what a module does by itself is not promised."""


CLIENT_PROCESSES = OptionSpec(
    name="client_processes",
    default=str(MOST),
    levels=(),
    help="The most processes among which clients are distributed: Python runs one client of a "
    "process at a time. Each takes about 30 MB of memory.",
    quantity=Whole(1, 1024),
)


class DbapiSystem:
    driver = "dbapi"
    option_specs: tuple[OptionSpec, ...] = (CLIENT_PROCESSES,)
    url_schemes: tuple[str, ...] = (SCHEME,)

    def __init__(self, word: str, module: str, facts: Module, dialect: StandardSql) -> None:
        self._module = module
        self._facts = facts
        self.name = f"{SCHEME}:{word}"
        spoken = loaded_by_insert(dialect)
        self.dialect: Dialect = spoken
        self._version_query = spoken.version_query
        is_usual = dialect.name == facts.dialect
        self.verified = IN_THE_TESTS if facts.is_verified and is_usual else NOT_VERIFIED
        lacking = {*_NEVER, *spoken.lacking}
        if not self.dialect.isolation_levels:
            lacking.add("isolation levels")
        if not self._facts.can_cancel:
            lacking.add("cancel")
        if not self.dialect.session_read_only():
            lacking.add("read only sessions")
        self.capabilities = frozenset(CAPABILITIES) - lacking

    def find(self) -> FoundPrograms:
        """The module; the server behind it is not asked."""
        return modules.find_module(self._module, self._facts.package)

    def check_url(self, text: str) -> None:
        keywords_of_url(text)

    def check(self, choice: SystemChoice) -> None:
        if choice.settings:
            raise ArgumentError(
                f"{self.name} has no settings, found {', '.join(choice.settings)}",
                hint=f"keyword arguments of connect() stand in brackets: '{self.name}[host=…]'",
            )

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        del choice, directory, connections
        raise Bug(f"{self.name} is reached and not started")
        yield

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        self.check(choice)
        if choice.url is None:
            raise Bug("attach() needs the keywords of a connection")
        self.insist_on_library()
        address = self._address(choice.url)
        try:
            with session(address) as opened:
                version = opened.server_version
        except SystemRefused as error:
            raise self._refused(error, choice, address) from error
        options = values(self.option_specs, choice)
        storage = StorageFacts.of_url()
        yield Deployment(
            system=self.name,
            label=choice.label,
            nodes=(Node("server", storage),),
            endpoints=(address,),
            version=version,
            options=options,
            settings_asked={},
            settings={},
            settings_unknown=_SETTINGS_UNKNOWN,
            client_processes=int(options[CLIENT_PROCESSES.name]),
            is_private=False,
        )

    def insist_on_library(self) -> None:
        modules.insist_on_dbapi(self._module, self._facts.package)

    def _address(self, url: str) -> Address:
        options: dict[str, str] = {
            "module": self._module,
            "keywords": json.dumps({**self._facts.keywords, **shown_keywords(url)}),
            "password_keyword": self._facts.password,
            "begin": begin_statement(self.dialect),
            "version_query": self._version_query,
            "module_settings": json.dumps(dict(self._facts.settings)),
            "code_attribute": self._facts.code_attribute,
            "regexp_function": self._facts.regexp_function,
            "bound_as": ",".join(self._facts.bound_as),
            "error_classes": json.dumps(dict(_table(self.dialect, "error_classes"))),
            "error_phrases": json.dumps(dict(_table(self.dialect, "error_phrases"))),
        }
        return Address(
            driver=self.driver,
            # A module without a keyword for it would refuse one.
            password=password_of_keywords(url) if self._facts.password else None,
            options=options,
            secret_options={"hidden_keywords": json.dumps(hidden_keywords(url))},
        )

    def _refused(
        self, error: SystemRefused, choice: SystemChoice, address: Address
    ) -> SystemRefused | ArgumentError:
        message = f"{choice.label}: {error.message}"
        if error.error_class == "data":  # connect() did not take what it was given
            brackets = f"the brackets hold keyword arguments of {self._module}.connect()"
            return ArgumentError(message, hint=None if error.code == NOT_DBAPI else brackets)
        is_login = error.error_class == "authentication"
        has_one = address.password is not None or not self._facts.password
        kind = PasswordNeeded if is_login and not has_one else SystemRefused
        hint = f"set the password in {DBAPI_PASSWORD.name}" if is_login else error.hint
        if error.error_class == "connection refused":
            hint = hint or "start the server, or correct what stands in the brackets"
        return kind(message, error_class=error.error_class, code=error.code, hint=hint)


def _table(dialect: Dialect, name: str) -> Mapping[str, str]:
    found: Mapping[str, str] = getattr(dialect, name, {})
    return found


_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


class DbapiFamily:
    name = SCHEME
    help = (
        "Any Python module that follows DB-API 2.0 (PEP 249), with the keyword arguments of its "
        "`connect()` in brackets: `dbapi:pymysql[host=h,user=u]`. Another dialect than "
        "the module's stands behind a plus sign, by its name or as a file: "
        "`dbapi:pyodbc+ingres[dsn=bench]`. See [the guide](../guides/dbapi.md)."
    )
    member_word = "MODULE"
    known_members: Sequence[str] = tuple(KNOWN)

    null_member = "assay.provision.engine.null_dbapi"
    also_called: Mapping[str, str] = {
        other: module
        for module, facts in reversed(list(KNOWN.items()))
        for other in (facts.dialect, module.lower(), *facts.also_called)
    }

    @property
    def dialects(self) -> Mapping[str, Dialect]:
        return dialects.known_dialects()

    def member(self, word: str) -> System:
        return _member(word, dialects.version_of(word.partition("+")[2]))

    def dialect_of_file(self, file: Path) -> Dialect:
        return dialects.dialect_of_word(str(file))

    def dialect_content(self, word: str) -> str:
        return dialects.content_of(word.partition("+")[2])

    def url(self, word: str, given: Mapping[str, str]) -> str:
        del word
        return url_of_keywords(given)


@cache
def _member(word: str, version: str) -> System:
    """Made once; again where its dialect is a file that has another ``version`` now."""
    del version
    module, plus, dialect = word.partition("+")
    if not _MODULE.fullmatch(module):
        raise ArgumentError(
            f"'dbapi:{word}': expected the name of a Python module after the colon",
            hint=f"known: {', '.join(KNOWN)}; others too, if they follow DB-API 2.0",
        )
    facts = KNOWN.get(module) or Module("standard", module.partition(".")[0])
    return DbapiSystem(
        word, module, facts, dialects.dialect_of_word(dialect if plus else facts.dialect)
    )


DBAPI = DbapiFamily()
