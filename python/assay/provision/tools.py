"""Takes the name of a program of the operating system (``mount``, ``losetup``); returns its path.

It is looked for where system programs are, whatever the PATH of the user.
"""

from __future__ import annotations

import shutil

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def find_tool(name: str) -> str | None:
    """None: it is not installed."""
    return shutil.which(name, path=SEARCH_PATH)


def tool(name: str) -> str:
    """The path; of one that is not installed the name, by which it cannot be run either."""
    return find_tool(name) or name
