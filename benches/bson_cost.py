"""The time of our BSON beside that of the crate `bson`: commands encoded, answers and decimals
read."""

from __future__ import annotations

import subprocess
from pathlib import Path


def main() -> None:
    """Prints one row for each case: nanoseconds of one, and their ratio within rounds."""
    package = Path(__file__).with_name("bson") / "Cargo.toml"
    words = ["cargo", "run", "--quiet", "--release", "--locked", "--manifest-path", str(package)]
    subprocess.run([*words, "--target-dir", "target/bson-cost"], check=True)
