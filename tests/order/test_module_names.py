"""Every test module has a file name of its own, by which pytest imports it, and every helper of
tests one name: imported by two, it would be there twice, each with state of its own."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
BY_PATH = re.compile(r"^\s*(?:from|import) +tests\.(?:conftest|support)\b", re.MULTILINE)


def test_no_two_test_modules_have_the_same_name() -> None:
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
    assert len(names) > 100


def test_helpers_are_imported_by_one_name() -> None:
    texts = {path: path.read_text() for path in TESTS.rglob("*.py")}
    by_path = [str(path.relative_to(TESTS)) for path, text in texts.items() if BY_PATH.search(text)]
    assert by_path == [], "write `from servers import …`, as the other tests do"
    assert BY_PATH.search("    from tests.support.records import printed_records")
