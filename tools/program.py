#!/usr/bin/env python3
"""Prints where the program of a system is on this machine; nothing where it is not."""

from __future__ import annotations

import sys

from assay import registry
from assay.errors import SystemMissing
from assay.systems.abilities import Findable


def main(name: str) -> None:
    system = registry.system(name)
    assert isinstance(system, Findable), name
    try:
        print(system.find().place)
    except SystemMissing as missing:
        print(f"{missing.message} ({missing.hint})", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
