"""A Python DB-API 2.0 module behind the protocol of every system under test.

Whatever it reaches is there already: Assay starts and stops nothing. The module is only called in
processes that can be killed (`assay.provision.engine.engine_process`).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import CLIENT_PROCESSES as MOST
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects.protocol import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import IN_THE_TESTS, NOT_VERIFIED, FoundPrograms
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.dialects.standard import StandardSql
from assay.env_vars import DBAPI_PASSWORD
from assay.errors import ArgumentError, Bug, PasswordNeeded, SystemRefused
from assay.provision.engine.dbapi.describing import NOT_DBAPI
from assay.provision.engine.session import session
from assay.systems.dbapi import examination, keywords
from assay.systems.dbapi.dialects import begin_statement, loaded_by_insert
from assay.systems.dbapi.modules import Module
from assay.systems.options import values
from assay.text.quantities import Whole

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
    url_schemes: tuple[str, ...] = (keywords.SCHEME,)

    def __init__(self, word: str, module: str, facts: Module, dialect: StandardSql) -> None:
        self._module = module
        self._facts = facts
        self.name = f"{keywords.SCHEME}:{word}"
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
        return examination.find(self._module, self._facts.package)

    def check_url(self, text: str) -> None:
        keywords.of_url(text)

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
        examination.insist_on_dbapi(self._module, self._facts.package)

    def _address(self, url: str) -> Address:
        options: dict[str, str] = {
            "module": self._module,
            "keywords": json.dumps({**self._facts.keywords, **keywords.shown_of_url(url)}),
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
            password=keywords.password(url) if self._facts.password else None,
            options=options,
            secret_options={"hidden_keywords": json.dumps(keywords.hidden_of_url(url))},
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
