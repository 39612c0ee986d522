"""Commands as they are installed: their list, completion, light start, and `assay install`."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import click
import pytest
from psutil import process_iter

from assay import registry
from assay.cli.commands.completion import FILES
from assay.cli.program import COMMANDS, HELP_NAMES, RENAMED, command_of, names_in, run_program
from assay.contracts.capabilities import CAPABILITIES
from commands import Assay
from forked_programs import BIN
from programs import BASH, FISH, SETSID, ZSH, need_program
from waiting import HANG_S


def commands() -> Iterator[tuple[str, click.Command]]:
    return ((name, command_of(name)) for name in COMMANDS)


OF_GROUPS = {
    name: [one.removeprefix(f"{name} ") for one in names_in(f"{name} ")]
    for name in ("capsule", "measure", "serve")
}


@pytest.mark.parametrize("name", OF_GROUPS)
def test_a_group_alone_says_what_its_commands_do(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program([name]) == 0
    lines = capsys.readouterr().out.splitlines()
    named = [line.split()[:3] for line in lines if line.startswith("assay ")]
    assert named == [["assay", name, one] for one in OF_GROUPS[name]]
    assert lines[-1].endswith(".")


@pytest.mark.parametrize(
    ("words", "now"),
    [
        *((old, f"assay {new.replace('RUN', 'latest')}") for old, new in RENAMED.items()),
        ("show --records r.sqlite run:3", "assay report run:3 --records r.sqlite"),
        ("probe here --format json", "assay measure storage here --format json"),
        ("show 42 --detail", "assay report run:42 --detail"),
        ("capsule verify-capsule 'a b.assay'", "assay capsule verify 'a b.assay'"),
    ],
)
def test_an_earlier_name_ends_with_the_line_to_type_today(
    words: str, now: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(shlex.split(words)) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: there is no command '") and said.endswith(f"; it is: {now}\n")
    assert len(said.splitlines()) == 1
    assert " ".join(now.split()[1:3]) in COMMANDS or now.split()[1] in COMMANDS


def test_a_word_like_an_earlier_name_or_one_of_a_group_is_guessed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, guess in (("prob", "measure storage"), ("capsule pak", "capsule pack")):
        assert run_program(words.split()) == 2
        assert f"did you mean '{guess}'?" in capsys.readouterr().err


def test_there_are_few_commands_and_room_for_more() -> None:
    assert len(names_in("")) <= 20 and not {*RENAMED} & {*COMMANDS}


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_help_has_a_line_an_example_and_every_option(
    name: str, command: click.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program([*name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert f"Example:\n    assay {name}" in text
    assert command.help is not None
    assert command.help.split("\n\n")[0].endswith(".")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_alone_it_says_what_it_is_with_examples_and_every_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program([]) == 0
    shown = capsys.readouterr()
    assert (shown.err, len(shown.out.splitlines()) <= 25) == ("", True)
    named = [word for line in shown.out.splitlines() for word in line[9:].split(", ")]
    together = {name: f"{name} {'|'.join(own)}" for name, own in OF_GROUPS.items()}
    assert [name for name in names_in("") if together.get(name, name) not in named] == []
    assert "  assay run mine.sql --on postgresql://me@db/shop " in shown.out


def test_a_list_alone_says_what_can_be_listed_and_takes_the_singular(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["list"]) == 0
    assert "assay list storages\n" in capsys.readouterr().out
    assert run_program(["list", "workload"]) == 0
    assert "tpcb.tpcb-like" in capsys.readouterr().out


def test_a_plan_takes_every_option_of_a_run() -> None:
    """So that the one word can be changed into the other."""
    options = {name: {one.name for one in command.params} for name, command in commands()}
    assert options["plan"] == options["run"]
    words = "plan tpcb --on sqlite --no-probe --progress 1 --verify"
    assert run_program(words.split()) == 0


def test_statements_alone_make_a_file_for_a_client(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["check", "--explain", "bibsql", "--on", "sqlite", "--format", "sql"]) == 0
    text = capsys.readouterr().out
    assert text.count(";\n") == 28
    assert "\\expect" not in text
    assert text.startswith("-- S01: ISBN without ISBN-13\nselect filename, label from bibtab\n")


def test_existing_files_are_not_downloaded_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.load.bibsql import beebe

    for name in beebe.manifest().files:
        (tmp_path / name).write_text("% nothing\n")
    assert run_program(["install", "beebe", "--to", str(tmp_path)]) == 0
    out, expected = capsys.readouterr()
    assert out == f"{tmp_path}\n"
    assert "tugboat.bib has 10 bytes, expected 3,842,964" in expected


@pytest.mark.parametrize(
    "words", ["list runs --records pipe", "merge pipe", "merge r.sqlite --records pipe"]
)
def test_a_pipe_is_refused_as_a_record(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    run = ["run", "one.sql", "--on", "null", "--transactions", "1", "--records", "r.sqlite"]
    Path("one.sql").write_text("select 1;\n")
    assert run_program(run) == 0
    capsys.readouterr()
    assert run_program(words.split()) == 2
    assert "pipe: expected a file of records" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["run", "plan", "check"])
def test_every_option_stands_under_a_heading_with_a_short_text(name: str) -> None:
    command = import_module(f"assay.cli.commands.{name}").command
    context = click.Context(
        command, info_name=name, terminal_width=100, show_default=True, help_option_names=HELP_NAMES
    )
    shown = command.get_help(context)
    assert "Others:" not in shown
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help and len(option.help) <= 140, option.name
            assert f"  {option.opts[0]}" in shown


def test_the_list_says_what_is_here_and_what_was_verified(assay: Assay) -> None:
    listed = assay("list", "systems", "--format", "json")
    assert listed.status == 0, listed.err
    rows = {row["system"]: row for row in listed.document}
    members = [name for name in rows if ":" in name]
    assert tuple(rows) == (*registry.systems(), *members)
    assert "dbapi:sqlite3" in members
    for row in rows.values():
        assert row["available"] in {"found", "installable", "by URL", "missing"}
        assert row["verified"]
        assert bool(row["place"]) is (row["available"] == "found")
        assert not any("=|" in option for option in row["options"]), "no level without a word"
        assert set(row["capabilities"]) <= set(CAPABILITIES)
        assert bool(row["version"]) is (row["available"] == "found")
    assert rows["sqlite"]["available"] == "found"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("install", "sqlit"), "unknown system 'sqlit'"),
        (("install", "sqlite"), "sqlite cannot be installed by Assay"),
        (("install", "sqlite"), "it is on this machine: `assay run WORKLOAD --on sqlite`"),
        (("install", "nosuch"), "cassandra, duckdb, ferretdb, mariadb, mysql, postgresql"),
        (("install", "sqlite@"), "expected SYSTEM@VERSION"),
        (("install", "duckdb://me:geheim@x"), "expected SYSTEM@VERSION, found a URL"),
        (("install", "--remove", "sqlite"), "sqlite was not installed by Assay in"),
        (("plan", "tpcb", "--on", "sqlite@3"), "there is one version of sqlite here"),
        (("plan", "tpcb", "--on", "mysql@"), "mysql@: expected a version behind the @"),
        (("plan", "tpcb", "--on", "mysql@new"), "the beginning of one, found 'new'"),
        (("plan", "tpcb", "--on", "mysql@9[version=8]"), "expected one version, found two"),
        (("plan", "tpcb", "--on", "duckdb@0.9"), "or later, which Assay can run, found 0.9"),
        (("plan", "tpcb", "--on", "postgresql@15://u:geheim@h/d"), "has the version that it has"),
        (
            ("plan", "tpcb", "--on", "mysql://u@h/d", "--set", "mysql.version=9"),
            "mysql at h: a server by URL has the version that it has",
        ),
        (("list", "workloads", "--detail"), "--detail does not apply to `assay list workloads`"),
    ],
)
def test_what_cannot_be_installed_is_refused(
    assay: Assay, words: tuple[str, ...], message: str
) -> None:
    ended = assay(*words)
    assert ended.status == 2
    assert message in ended.err
    assert "geheim" not in ended.err


CRASHES = "#!/bin/sh\nkill -SEGV $$\n"
FAILS = "#!/bin/sh\nexit 1\n"
HANGS = "#!/bin/sh\nsleep 1111\n"


@pytest.mark.parametrize(
    ("system", "programs", "message"),
    [
        ("postgresql", {"initdb": FAILS, "postgres": FAILS}, "postgres --version ended with st"),
        ("postgresql", {"initdb": FAILS, "postgres": CRASHES}, "--version was ended by SIGSEGV"),
        ("postgresql", {"initdb": FAILS, "postgres": HANGS}, "--version did not end within 15 s"),
        (
            "postgresql",
            {"initdb": FAILS, "postgres": "\x7fELF"},
            "cannot be run: Exec format error",
        ),
        ("postgresql", {"postgres": FAILS}, "PostgreSQL's program initdb is not in"),
        ("postgresql", {"bin/postgres": FAILS}, "PostgreSQL's program initdb is not in"),
        ("postgresql", {}, "PostgreSQL's programs initdb and postgres are not in"),
        ("postgresql", "a text", "; {place} is a file"),
        ("postgresql", None, "there is no directory {place}"),
        ("mysql", {"bin/mysqld": CRASHES}, "mysqld --version was ended by SIGSEGV"),
        ("mysql", {}, "MySQL's program mysqld is not in bin or sbin of {place}"),
        ("mariadb", {"bin/mariadbd": FAILS}, "MariaDB's program mariadb-install-db is not in"),
        ("duckdb", {"libduckdb.so": "a text"}, "the DuckDB library cannot be loaded: {place}/lib"),
        ("duckdb", {}, "{place} is a folder without libduckdb.so"),
        ("ferretdb", {"bin/ferretdb": FAILS}, "expected bin/ferretdb, and a PostgreSQL with"),
        ("cassandra", {"lib/cassandra-all-5.0.9.jar": ""}, "expected the jars of Cassandra 5 in"),
    ],
)
def test_what_is_no_directory_of_programs_is_refused(
    assay: Assay,
    working_folder: Path,
    system: str,
    programs: dict[str, str] | str | None,
    message: str,
) -> None:
    place = working_folder / "built"
    if isinstance(programs, str):
        place.write_text(programs)
    if isinstance(programs, dict):
        write_programs(place, programs)
    ended = assay("run", "tpcb.select-only", "--on", f"new={system}:./built", "--transactions", "1")
    said = " ".join(ended.err.split())
    assert ended.status == 2
    assert message.format(place=place) in said
    assert f"hint: name the directory that holds its programs: {system}:DIRECTORY" in said
    assert "Traceback" not in said
    assert not [one for one in working_folder.iterdir() if one.name not in ("built", "state")]
    found = [one.info for one in process_iter(["name", "cwd"])]
    assert {"name": "sleep", "cwd": str(working_folder)} not in found


def write_programs(place: Path, programs: dict[str, str]) -> None:
    place.mkdir(mode=0o755)
    for name, text in programs.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
        (place / name).chmod(0o755)


BUILD = """#!/bin/sh
case $1 in --version) echo "(a {system}) 11.8.2"; exit ;; -C) exit ;; esac
case "$0 $*" in *--pgdata*|*--initialize*|*install-db*) {makes} ;; esac
{starts}
"""
MAKES = """for word; do case $word in --*data*=*) mkdir -p "${word#*=}" ;; esac; done; exit"""
STANDS = "trap '' INT TERM QUIT; sleep 1111; exit"
LATE = "within 5 s (ASSAY_SERVER_START_S)"


@pytest.mark.usefixtures("_own_places")
@pytest.mark.parametrize(
    ("system", "programs", "makes", "starts", "message"),
    [
        ("postgresql", "initdb postgres", MAKES, "kill -SEGV $$", "postgres was ended by SIGSEGV"),
        ("postgresql", "initdb postgres", STANDS, "", f"initdb did not end {LATE}"),
        ("postgresql", "initdb postgres", MAKES, STANDS, f"postgres did not become ready {LATE}"),
        ("mysql", "bin/mysqld", "kill -SEGV $$", "", "made: mysqld was ended by SIGSEGV"),
        ("mysql", "bin/mysqld", MAKES, "echo why; exit 1", "the server does not start: why"),
        ("mariadb", "bin/mariadbd bin/mariadb-install-db", STANDS, "", f"db did not end {LATE}"),
    ],
)
def test_a_build_that_does_not_start_is_named(
    assay: Assay,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    programs: str,
    makes: str,
    starts: str,
    message: str,
) -> None:
    place = Path(os.environ["ASSAY_DATA_DIRECTORY"], "built")
    text = BUILD.format(system=system, makes=makes, starts=starts)
    write_programs(place, dict.fromkeys(programs.split(), text))
    is_late = LATE in message
    if is_late:
        monkeypatch.setenv("ASSAY_SERVER_START_S", "5")
    ended = assay("run", "tpcb.select-only", "--on", f"{system}:{place}", "--transactions", "1")
    assert ended.status == 3
    assert message in ended.err
    assert ("at most 5 s (ASSAY_SERVER_START_S)" in ended.err) == is_late


HEAVY = {"scipy", "numpy", "vl_convert", "pandas", "starlette", "uvicorn"}
IMPORTED = """
import atexit, sys
sys.argv = ["assay", *sys.argv[1:]]
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from assay.cli import main
main()
"""


def imported(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *words], capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


MOST_MODULES = {
    ("--version",): 5,
    ("--help",): 22,
    ("completion", "bash"): 24,
    ("completion", "zsh", "--line", "assay measure "): 25,
    ("capsule",): 22,
    ("run", "--help"): 112,
    ("compare", "--help"): None,
    ("watch", "--help"): None,
    ("list", "systems"): None,  # asks each for its version
    ("run", "one.sql", "--on", "sqlite", "--transactions", "10", "--no-probe"): 275,
}
"""Of Assay, that a command imports; None: it is only asked for heavy libraries."""


@pytest.mark.parametrize("words", MOST_MODULES, ids=" ".join)
def test_a_command_imports_few_modules_and_no_heavy_library_to_begin_with(
    words: tuple[str, ...], working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(working_folder)
    (working_folder / "one.sql").write_text("select 1;\n")
    every, most = imported(*words), MOST_MODULES[words]
    found = {name for name in every if name.partition(".")[0] == "assay"}
    assert most is None or len(found) <= most
    assert "one.sql" in words or not {name.partition(".")[0] for name in every} & HEAVY
    if words == ("--help",):
        apart = ("assay.systems.", "assay.cli.commands.")
        assert not {name for name in found if name.startswith(apart)}


def test_the_list_of_commands_has_the_first_sentence_of_each() -> None:
    for name, sentence in COMMANDS.items():
        command = command_of(name)
        assert command.help is not None
        assert " ".join(command.help.split("\n\n")[0].split()) == sentence


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
    "assay measure durab": "assay measure durability ",
    "assay caps": "assay capsule ",
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
    "assay list limits bibsql --dialect db": "assay list limits bibsql --dialect db2 ",
    "assay compare --metric thr": "assay compare --metric throughput_per_s ",
    "assay run --on dbapi:psycopg2": "assay run --on dbapi:psycopg2 ",
    "assay generate tpcb --dialect postg": "assay generate tpcb --dialect postgresql ",
    "assay run min": "assay run mine.toml ",
    "assay run odd": r"assay run odd\;\ \$\(touch\ made\)\ \*.toml ",
    "assay report --records rec": "assay report --records recorded.sqlite ",
}  # fmt: skip
"""What is typed, and the line after the Tab key."""
QUOTED_BY_THE_SHELL = [
    "assay measure durab", "assay run bibsql.checks,para", "assay run tpcb --on sqlite --set sca",
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
        "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb",
        "COLUMNS": "200", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
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
