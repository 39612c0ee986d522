"""Takes the name of `bibtosql --reader`; returns the statements that make the user, who may read
the tables and nothing else."""

from __future__ import annotations

import getpass
import re
import sys
from collections.abc import Sequence

from assay import env_vars
from assay.cli.bibsql import servers
from assay.contracts.dialects.protocol import Dialect, HasUsers
from assay.errors import ArgumentError
from assay.workload.values import Workload

_LONGEST_NAME = 32
"""The longest that every server accepts."""
_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{_LONGEST_NAME - 1}}}")


def with_users(dialect: Dialect, server: str, name: str) -> HasUsers:
    """The dialect. Raises `ArgumentError` where the server has no users, and for a name that some
    server would not take."""
    if not isinstance(dialect, HasUsers):
        raise ArgumentError(
            f"--reader {name}: {server} has no users",
            hint="who may read or write a database file is said by the rights of the file: chmod",
        )
    if _NAME.fullmatch(name) is None:
        raise ArgumentError(
            f"--reader {name!r}: expected a name of letters (a to z), digits, _ and -, at most "
            f"{_LONGEST_NAME} of them, of which the first is no digit"
        )
    return dialect


def statements(name: str, dialect: HasUsers, workload: Workload, password: str | None) -> list[str]:
    """``password``: of a new user; None for an existing one, who keeps it."""
    made = [] if password is None else dialect.create_user(name, password)
    return [*made, *dialect.grant_reading(name, _tables(workload))]


def write_question(name: str, dialect: HasUsers, workload: Workload) -> str:
    """Whether the user may also change the tables."""
    return dialect.write_query(name, _tables(workload))


def is_password_given() -> bool:
    return bool(env_vars.READER_PASSWORD.get())


def insist_on_login(name: str, answer: Sequence[Sequence[str | None]]) -> None:
    """Raises `ArgumentError` where `HasUsers.user_query` has found a user who may not log in."""
    if any(cells[0] != "1" for cells in answer):
        raise ArgumentError(
            f"--reader {name}: there is a role of this name, which may not log in",
            hint="choose another name, or allow it to log in",
        )


def lines(name: str | None, server: servers.Server, workload: Workload) -> Sequence[str]:
    """The same for a script, which cannot ask whether the user is there."""
    if name is None:
        return []
    dialect = with_users(server.system.dialect, server.name, name)
    return statements(name, dialect, workload, new_password(name))


def _tables(workload: Workload) -> list[str]:
    return [table.name for table in workload.tables]


def new_password(name: str) -> str:
    """Raises `ArgumentError` where it is neither in the variable nor typed."""
    if given := env_vars.READER_PASSWORD.get():
        return given
    has_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if has_terminal and (typed := getpass.getpass(f"Password for the new user {name}: ")):
        return typed
    raise ArgumentError(
        f"--reader {name}: the new user needs a password",
        hint=f"give it in {env_vars.READER_PASSWORD.name}, or at a terminal, where it is asked for",
    )
