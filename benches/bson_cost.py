"""The time of our BSON beside that of the crate `bson`: commands encoded, answers and decimals
read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def main() -> None:
    """Prints one row for each case: nanoseconds of one, and their ratio within rounds."""
    package = Path(__file__).with_name("bson") / "Cargo.toml"
    # What both have in common has the version that is shipped.
    shutil.copy(package.parents[2] / "Cargo.lock", package.parent)
    words = ["cargo", "run", "--quiet", "--release", "--manifest-path", str(package)]
    subprocess.run([*words, "--target-dir", "target/bson-cost"], check=True)
