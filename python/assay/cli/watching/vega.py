"""Gives the program that draws charts in a browser: Vega, Vega-Lite and Vega-Embed, as the package
has them that draws those of reports. It is made once, when a page first asks for it, in a process
of its own; a browser keeps it.

Their licence is BSD-3-Clause, and the text is 800 kB: it is made of the installed package, so that
the live page and a report are always drawn by the same version.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version

from assay.cli.watching.commands import Over, python_ended
from assay.errors import ArgumentError

_MADE = "import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle())"


def name() -> str:
    """Of the file: another one for each version."""
    return f"vega-{version('vl-convert-python')}.js"


class Vega:
    def __init__(self, over: Over) -> None:
        self._over = over
        self._one = asyncio.Lock()
        self._text = b""

    async def text(self) -> bytes:
        """Raises `ArgumentError` where it cannot be made."""
        async with self._one:
            if not self._text:
                done = await python_ended(("-c", _MADE), self._over)
                if done.status or not done.written:
                    said = done.said.decode(errors="replace").strip()
                    raise ArgumentError(f"vl_convert did not give its JavaScript: {said}")
                self._text = done.written
            return self._text
