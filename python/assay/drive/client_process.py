"""A process that drives a part of the clients of a run: ``python -m assay.drive.client_process``.

Standard input: the drive document in one line; then, once this process has said that it is ready,
the instant at which to begin, in nanoseconds since 1970. Standard output: a JSON document in each
line, of one key: ``progress``, ``ready``, ``observation`` or ``error``. It imports nothing of Assay
but the engine, so that it is small.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from assay import _engine


def main() -> None:
    # The process that started this one gets the terminal's Ctrl-C too, and decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a module prints goes to standard error, not between our lines.
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(key: str, value: Any) -> None:
        print(json.dumps({key: value}), file=lines, flush=True)

    def ready() -> int:
        say("ready", True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError("the process that started this one has ended")
        return int(line)

    def progress(text: str) -> None:
        say("progress", json.loads(text))

    document = sys.stdin.readline()
    try:
        say("observation", json.loads(_engine.drive(document, progress, ready)))
    except (EOFError, BrokenPipeError):
        sys.exit(1)
    except _engine.EngineError as error:
        names = ("kind", "message", "error_class", "code", "file", "line", "column", "hint")
        say("error", {name: getattr(error, name) for name in names})


if __name__ == "__main__":
    main()
