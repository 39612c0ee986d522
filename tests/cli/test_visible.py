"""Control characters from a server, a file name or a script do not reach the terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.output import rows
from assay.text.visible import indented, visible, visible_lines

HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x9b2J\r\u202egnp.\u2028\U000e0041"
CONTROL = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2028\U000e0041]")
SEQUENCE = re.compile(r"\x1b\]|\x1b\[(?:31m|2J)")


def test_control_characters_are_shown_as_json_escapes_them() -> None:
    assert visible("a\x1b[31m\u202eb\n") == "a\\u001b[31m\\u202eb\\u000a"
    assert visible_lines("a\r\nb\x85") == "a\nb\\u0085"
    assert indented("server: no\nhint: trust me") == "server: no\n    hint: trust me"
    assert json.loads(f'"{visible(HOSTILE)}"') == HOSTILE
    for letters in ("größer", "日本語", "👩‍👩‍👧", "עברית", "a\u00adb"):
        assert visible(letters) == letters


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_a_list_is_safe_and_json_keeps_the_data(form: str) -> None:
    stream = io.StringIO()
    rows.write([{"name": f"{HOSTILE}\nx"}], ("name",), form, stream)
    text = stream.getvalue()
    assert not CONTROL.search(text) and "\x1b" not in text
    if form == "json":
        assert json.loads(text) == [{"name": f"{HOSTILE}\nx"}]
    else:
        assert text.count("\n") == {"table": 2, "markdown": 3}[form]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--transactions", "1", "--on", f"oracel{HOSTILE}"],
        ["run", "--transactions", "1", "--on", "null"],
        ["explain", "--on", "null"],
    ],
)
def test_a_script_with_a_hostile_name_and_text_shows_both_harmless(
    words: list[str], tmp_path: Path
) -> None:
    script = tmp_path / f"{HOSTILE}.sql"
    script.write_text(f"SELECT '{HOSTILE}';\n")
    program = "import sys; from assay.cli import main; main()"
    here, there = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, words[0], script.name, *words[1:]],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "ASSAY_STATE_DIRECTORY": str(tmp_path / "state")},
        stdin=subprocess.DEVNULL,
        stdout=there,
        stderr=there,
    )
    os.close(there)
    seen = b""
    while True:
        try:
            piece = os.read(here, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(here)
    process.wait()
    text = seen.decode().replace("\r\n", "\n").replace("\r", "")
    assert "owned" in text
    assert not SEQUENCE.search(text)
    assert not CONTROL.search(text), CONTROL.search(text)
