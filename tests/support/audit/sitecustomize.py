"""Notes every program that this process starts, in the file that the tests name.

The tests install it for themselves; as `sitecustomize` in $PYTHONPATH it is in every Python that
they start too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

VARIABLE = "ASSAY_TEST_STARTED_PROGRAMS"
"""Names the file, to which a line is appended for each program."""
_STARTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn"})
_BECOME_ANOTHER = frozenset({"setpriv", "prlimit", "sh", "unshare"})
"""Programs that start the words behind ``--``."""


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _STARTS:
        return
    file = os.environ.get(VARIABLE)
    if not file:
        return
    words = arguments[1]
    words = [words] if isinstance(words, str | bytes | os.PathLike) else words
    started = [os.fsdecode(arguments[0] or words[0]), *map(os.fsdecode, list(words)[1:])]
    try:
        output = os.open(file, os.O_WRONLY | os.O_APPEND)
    except OSError:  # in a process that runs as another user, or outlives the tests
        return
    with suppress(OSError):  # where a test limits the size of files
        os.write(output, "".join(f"{program}\n" for program in _programs(started)).encode())
    os.close(output)


def _programs(words: Sequence[str]) -> Iterator[str]:
    while words:
        yield words[0]
        is_wrapper = words[0].rpartition("/")[2] in _BECOME_ANOTHER and "--" in words
        words = words[words.index("--") + 1 :] if is_wrapper else []


sys.addaudithook(_note)
