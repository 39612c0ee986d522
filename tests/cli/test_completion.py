"""Real shells complete the words of ``assay``: each is typed at a terminal, with the Tab key."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.cli.commands.completion import FILES
from commands import Assay
from forked_programs import BIN
from programs import BASH, FISH, SETSID, ZSH, need_program
from waiting import HANG_S

START = {
    "bash": ["--noprofile", "--norc", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "-i"],
}
SHOW_THE_LINE = {
    "bash": r"""bind -x '"\C-o": printf "\074%s\076" "$READLINE_LINE"'""",
    "zsh": r"""show() { printf '\074%s\076' "$BUFFER" }; zle -N show; bindkey '^O' show""",
    "fish": r"""bind \co 'printf "\074%s\076" (commandline)'""",
}
"""Makes Control-O print the line between < and >, which are in no command below."""
SOURCE = {
    "bash": 'eval "$(assay completion bash)"',
    "zsh": 'autoload -U compinit; compinit -u -D; eval "$(assay completion zsh)"',
    "fish": "assay completion fish | source",
}
TYPED = {
    "assay durab": "assay durability ",
    "assay run tpcb.sel": "assay run tpcb.select-only ",
    "assay run bibsql.checks,para": "assay run bibsql.checks,parallel ",
    "assay run tpcb --on sqlite,postg": "assay run tpcb --on sqlite,postgresql ",
    "assay run tpcb --storage modelle": "assay run tpcb --storage modelled ",
    "assay run tpcb --on sqlite --set sca": "assay run tpcb --on sqlite --set scale=",
    "assay run tpcb --on 'mariadb[buffer=1GB,engine=InnoDB]' --set eng":
        "assay run tpcb --on 'mariadb[buffer=1GB,engine=InnoDB]' --set eng",
    "assay run tpcb --on mariadb --set mariadb.engine=My":
        "assay run tpcb --on mariadb --set mariadb.engine=MyISAM ",
    "assay run tpcb --on sqlite --set sqlite.profile=tun":
        "assay run tpcb --on sqlite --set sqlite.profile=tuned ",
    "assay limits bibsql --dialect db": "assay limits bibsql --dialect db2 ",
    "assay compare --metric thr": "assay compare --metric throughput_per_s ",
    "assay run --on dbapi:psycopg2": "assay run --on dbapi:psycopg2 ",
    "assay generate tpcb --dialect postg": "assay generate tpcb --dialect postgresql ",
    "assay run min": "assay run mine.toml ",
    "assay run odd": r"assay run odd\;\ \$\(touch\ made\)\ \*.toml ",
    "assay report --records rec": "assay report --records recorded.sqlite ",
}  # fmt: skip
"""What is typed, and the line after the Tab key."""
QUOTED_BY_THE_SHELL = [
    "assay durab", "assay run bibsql.checks,para", "assay run tpcb --on sqlite --set sca",
    "assay run tpcb --on 'mariadb[buffer=1GB,engine=InnoDB]' --set eng",
    "assay run --on dbapi:psycopg2", "assay run odd",
]  # fmt: skip
"""Those that shells split or quote each in its way; which words there are does not depend on it:
the others are asked of the program alone."""


@pytest.mark.parametrize("typed", [one for one in TYPED if one not in QUOTED_BY_THE_SHELL])
def test_each_kind_of_word_is_completed(typed: str, assay: Assay, working_folder: Path) -> None:
    (working_folder / "mine.toml").touch()
    done = assay("completion", "zsh", "--line", typed)
    (value,) = done.out.splitlines()
    before, _, _ = typed.rpartition(" ")
    is_file = TYPED[typed].strip().endswith(".sqlite")
    expected = FILES if is_file else TYPED[typed].removeprefix(f"{before} ").strip()
    assert value.partition("\t")[0] == expected


class Terminal:
    """A shell at a terminal of its own."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._shown = ""

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def next_line(self) -> str:
        """What stands between the next < and >."""
        end = time.monotonic() + HANG_S
        while (found := re.search(r"<([^<>]*)>", self._shown)) is None:
            is_ready = select.select([self._master], [], [], max(0.0, end - time.monotonic()))[0]
            assert is_ready, f"no line appeared behind {self._shown!r}"
            self._shown += os.read(self._master, 65536).decode(errors="replace")
        self._shown = self._shown[found.end() :]
        return found[1]


@contextmanager
def terminal(shell: str, folder: Path) -> Iterator[Terminal]:
    program = need_program({"bash": BASH, "zsh": ZSH, "fish": FISH}[shell])
    master, slave = pty.openpty()
    environment = {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(folder),
        "TERM": "dumb",
        "COLUMNS": "200",
        "LC_ALL": "C.UTF-8",
    }
    process = subprocess.Popen(
        [SETSID.path, "--ctty", "--wait", program, *START[shell]],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env=environment,
    )
    os.close(slave)
    try:
        yield Terminal(master)
    finally:
        os.close(master)  # The terminal is closed, which ends the shell.
        process.wait(HANG_S)


@pytest.mark.parametrize("shell", START)
def test_the_tab_key_completes_words(shell: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    (tmp_path / "odd; $(touch made) *.toml").write_text("")
    (tmp_path / "recorded.sqlite").write_text("")
    with terminal(shell, tmp_path) as screen:
        screen.type(f"{SHOW_THE_LINE[shell]}\n{SOURCE[shell]}\n")
        found = {}
        for typed in QUOTED_BY_THE_SHELL:
            screen.type(f"{typed}\t\x0f")
            found[typed] = screen.next_line()
            screen.type("\x15")
    assert found == {typed: TYPED[typed] for typed in found}
