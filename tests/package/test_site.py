"""The documentation as a site: every page is in it, no link is broken, nothing is loaded from
elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import make_site

ROOT = Path(__file__).parents[2]


def test_the_site_has_every_page_and_no_broken_link(tmp_path: Path) -> None:
    pytest.importorskip("zensical", reason="`make site` installs zensical")
    command = [sys.executable, str(ROOT / "tools/make_site.py"), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for page in (ROOT / "docs/guides").glob("*.md"):
        assert (tmp_path / "site/docs/guides" / page.with_suffix(".html").name).is_file()
    assert (tmp_path / "site" / make_site.MADE_BY_US).is_file()


def test_a_folder_that_is_no_site_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(SystemExit, match="is left as it is"):
        make_site.main([str(tmp_path)])
    assert (tmp_path / "mine.txt").is_file()


def test_what_is_wrong_with_a_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<a href="there.html">x</a> <a href="index.html#here">x</a> <p id="there">'
        '<a href="#there">x</a> <a href="https://example.org/">x</a>'
        '<script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "x.css").write_text("@font-face { src: url('//example.org/font') }")
    assert [*make_site.broken_links(tmp_path)] == [
        "index.html: the link there.html leads nowhere",
        "index.html: the link index.html#here leads to no place of that page",
    ]
    assert [*make_site.foreign_resources(tmp_path)] == [
        "index.html: loads https://example.org/x.js",
        "x.css: loads //example.org/font",
    ]
