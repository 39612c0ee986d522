"""The unprivileged user that private servers run as, whether it can reach a directory, and whether
this process may mount file systems."""

from __future__ import annotations

import os
import pwd
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from assay import env_vars
from assay.errors import ArgumentError, SystemMissing
from assay.provision.machine.program import Program

SH = Program("sh", "dash")
USERADD = Program("useradd", "passwd")

DEFAULT_NAME = "assay"
_USERADD_NAME_IN_USE = 9
_USER_RANGES = Path("/proc/self/uid_map")
"""Lines of: first user in this namespace, the same outside of it, how many."""


class ServerUser(Struct, frozen=True):
    name: str
    uid: int
    gid: int

    @property
    def is_ourselves(self) -> bool:
        return self.uid == os.geteuid()


def server_user() -> ServerUser:
    """The user for private servers; made where it is missing and we are root. Where no other user
    can be had (see `is_alone`), ourselves: systems in this process need no other.

    Raises `ArgumentError` if the environment names an unknown user or root, `SystemMissing` if the
    user cannot be made.
    """
    if os.geteuid() != 0:
        return ServerUser("", os.geteuid(), os.getegid())
    if is_alone():
        return ServerUser("", os.geteuid(), os.getegid())
    name = env_vars.SERVER_USER.get() or DEFAULT_NAME
    found = _look_up(name)
    if found is None and env_vars.SERVER_USER.get():
        raise ArgumentError(
            f"{env_vars.SERVER_USER.name} names the user {name!r}, who does not exist here",
            hint=f"make it with: useradd --system --no-create-home {name}",
        )
    user = found or _make(name)
    if user.uid == 0:
        raise ArgumentError(f"servers cannot run as {name!r}: that is root")
    return user


def is_alone() -> bool:
    """Whether we are root in a user namespace that has no other user (``unshare --map-root-user``),
    so that no process can become one."""
    if os.geteuid() != 0:
        return False
    try:
        ranges = [line.split() for line in _USER_RANGES.read_text().splitlines()]
    except OSError:
        return False
    return [(first, count) for first, _, count in ranges] == [("0", "1")]


def first_unreachable(path: Path, user: ServerUser) -> Path | None:
    """The first directory on the way to `path` (itself included) that the user may not enter.

    The kernel is asked by a process of that user, so access lists count too; once for directories
    of one device with the same owner, mode and list. What does not exist yet is not looked at.
    Raises `SystemMissing` if we may not become that user, though root.
    """
    if user.is_ourselves:
        return None
    resolved = path.resolve()
    existing = [part for part in (*reversed(resolved.parents), resolved) if part.exists()]
    rights = [(user, _rights(part)) for part in existing]
    number = next((at for at, each in enumerate(rights) if not _ENTERABLE.get(each)), len(rights))
    if number < len(rights) and rights[number] not in _ENTERABLE:
        number = _entered(existing, user)
        _ENTERABLE.update({each: at < number for at, each in enumerate(rights[: number + 1])})
    return existing[number] if number < len(existing) else None


_ACCESS_LIST = "system.posix_acl_access"
_Rights = tuple[int, int, int, int, bytes]
_ENTERABLE: dict[tuple[ServerUser, _Rights], bool] = {}


def _rights(directory: Path) -> _Rights:
    """All that says who may enter it, and on which device it is."""
    status = directory.stat()
    access_list = b""
    with suppress(OSError):  # it has none
        access_list = os.getxattr(directory, _ACCESS_LIST)
    return status.st_dev, status.st_mode, status.st_uid, status.st_gid, access_list


_ENTERED = """
number=0
for directory do test -x "$directory" || break; number=$((number + 1)); done
echo "$number"
"""


def _entered(directories: Sequence[Path], user: ServerUser) -> int:
    """How many of them, from the first one on, the user may enter: one process is asked for all, as
    to become another user takes long."""
    try:
        asked = subprocess.run(
            [SH.path, "-c", _ENTERED, "sh", *map(str, directories)],
            user=user.uid,
            group=user.gid,
            extra_groups=[],
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=True,
        )
    except PermissionError as error:  # a container whose root is not quite one
        raise SystemMissing(
            "servers refuse to run as root, and this process may not become the user "
            f"{user.name!r}",
            hint="run assay as an ordinary user",
        ) from error
    return int(asked.stdout)


def _look_up(name: str) -> ServerUser | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return ServerUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _make(name: str) -> ServerUser:
    program = USERADD.find()
    problem = "there is no useradd"
    if program is not None:
        for _ in range(5):
            made = subprocess.run(
                [program, "-r", "-M", "-s", "/usr/sbin/nologin", name],
                capture_output=True,
                text=True,
                check=False,
            )
            user = _look_up(name)
            if user is not None and made.returncode in (0, _USERADD_NAME_IN_USE):
                return user
            problem = made.stderr.strip() or f"useradd ended with status {made.returncode}"
            time.sleep(0.2)  # another Assay may hold the lock of the password file
    raise SystemMissing(
        f"servers refuse to run as root, and the system user {name!r} cannot be made: {problem}",
        hint=f"run assay as an ordinary user, or name a user in {env_vars.SERVER_USER.name}",
    )


_STATUS = Path("/proc/self/status")
_CAP_SYS_ADMIN = 21
"""The number of the capability that mount(2) asks for, see capabilities(7)."""


def may_mount() -> bool:
    for line in _STATUS.read_text().splitlines():
        name, _, word = line.partition(":")
        if name == "CapEff":
            return bool(int(word, 16) >> _CAP_SYS_ADMIN & 1)
    return False
