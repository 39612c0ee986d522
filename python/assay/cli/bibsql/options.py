"""Takes the arguments of `bibtosql` and `bibsql`; returns their options, the system that a
server's name means, and what is wrong with the files, which are read once before anything is
written or sent."""

from __future__ import annotations

import json
import re
import signal
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, field, structs

from assay import registry
from assay.cli.process import say
from assay.contracts.dialects import SqlText
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError, RunFailed
from assay.load.bibsql.bibliography import (
    BibDocument,
    Problems,
    Scan,
    ScanDocument,
    counted,
    skipped_text,
)
from assay.provision.machine.signals import TERMINATIONS
from assay.text import paths
from assay.text.phrases import did_you_mean


class Option(Struct, frozen=True):
    name: str
    help: str
    value: str = ""
    """What its value is called; empty: it has none."""
    is_original: bool = True
    """An option of Beebe's program."""
    destroys: bool = False
    """It deletes or replaces something: never suggested for a mistyped word."""


class Parsed(Struct, frozen=True):
    given: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)
    """Everything else in its order: files, or what is for another program."""

    def last(self, name: str) -> str | None:
        """The value given last, which is never empty; None where there is none."""
        return self.values[name][-1] if name in self.values else None

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])


def parse(arguments: Sequence[str], options: Sequence[Option], *, pass_unknown: bool) -> Parsed:
    """Sorts the arguments. What follows ``--`` is rest.

    An unknown option is rest as well where ``pass_unknown``, else an `ArgumentError`. Then a single
    letter is kept only for an option of the original, and for one that prints something only
    where it is the only argument.
    """
    parsed = Parsed()
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "--":
            parsed.rest.extend(left)
            break
        if word == "-" or not word.startswith("-"):
            parsed.rest.append(word)
            continue
        name, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
        option = _find(name, word, options)
        if option is not None and pass_unknown and len(word.partition("=")[0]) == len("-h"):
            is_ours = option.is_original and (bool(option.value) or len(arguments) == 1)
            option = option if is_ours else None
        if option is None and not pass_unknown:
            raise ArgumentError(
                f"unknown option {word}",
                hint=did_you_mean(name, [known.name for known in options if not known.destroys]),
            )
        if option is None:
            parsed.rest.append(word)
        elif not option.value:
            if equals:
                raise ArgumentError(f"--{option.name} takes no value, found {value!r}")
            parsed.given.add(option.name)
        else:
            if not equals:
                if not left:
                    raise ArgumentError(
                        f"--{option.name} needs a value", hint=f"--{option.name} {option.value}"
                    )
                value = left.pop(0)
            if not value:
                raise ArgumentError(
                    f"--{option.name} has an empty value", hint=f"--{option.name} {option.value}"
                )
            parsed.values.setdefault(option.name, []).append(value)
    return parsed


def _find(name: str, word: str, options: Sequence[Option]) -> Option | None:
    """The option that ``name`` is, or begins. None: no option begins so."""
    matching = [option for option in options if name and option.name.startswith(name)]
    exact = [option for option in matching if option.name == name]
    for candidates in (exact, [option for option in matching if option.is_original], matching):
        if len(candidates) == 1:
            return candidates[0]
    if matching:
        raise ArgumentError(
            f"{word} may mean {' or '.join('--' + option.name for option in matching)}",
            hint="give one more letter",
        )
    return None


def help_text(usage: str, what: str, options: Iterable[Option], examples: str) -> str:
    """The help in 80 columns: usage, what the program does, its options, examples."""
    lines = [
        f"Usage: {usage}",
        "",
        what,
        "",
        "Options (one or two hyphens; names may be abbreviated):",
    ]
    for option in options:
        left = f"  --{option.name} {option.value}".rstrip()
        indent = " " * 22
        words = option.help.split()
        line = left.ljust(21)
        if len(left) > 20:
            lines.append(left)
            line = indent[:-1]
        for word in words:
            if len(line) + 1 + len(word) > 79:
                lines.append(line)
                line = indent[:-1]
            line += f" {word}"
        lines.append(line)
    return "\n".join([*lines, "", "Example:", examples])


DEFAULT_DATABASE = "bibtex"
_LONGEST_DATABASE_NAME = 63
"""Some servers cut a longer one, and mean the database of the shorter name."""
_DATABASE_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_-]{{0,{_LONGEST_DATABASE_NAME - 1}}}")
_DATABASE_LETTERS = re.compile(r"[A-Za-z0-9_-]")


class Server(Struct, frozen=True):
    """A system by the names these programs know it by."""

    name: str
    """The proper one, as a comment header prints it."""
    system: System
    dialect: SqlText

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.dialect.server_names, self.system.name)


def servers() -> list[Server]:
    """Every system whose dialect has a name for these programs."""
    found = [system for _, system in registry.usable_systems()]
    return [
        Server(server.dialect.server_names[0], server, server.dialect)
        for server in found
        if isinstance(server.dialect, SqlText) and server.dialect.server_names
    ]


def server_names() -> list[str]:
    """All names, for help and hints."""
    return list(dict.fromkeys(name for server in servers() for name in server.dialect.server_names))


def server(word: str) -> Server:
    """The server that ``word`` is, or begins, whatever its letter case."""
    wanted = word.lower()
    matching: dict[str, Server] = {}
    # A system of this name comes before one of the same dialect, which has it as an alias.
    for known in sorted(servers(), key=lambda known: known.system.name != wanted):
        lowered = [name.lower() for name in known.names]
        if wanted in lowered:
            return known
        if wanted and any(name.startswith(wanted) for name in lowered):
            # Systems of one dialect are the same server to these programs.
            matching.setdefault(known.dialect.name, known)
    if len(matching) > 1:
        raise ArgumentError(
            f"server {word!r} may mean {' or '.join(known.name for known in matching.values())}",
            hint="give one more letter",
        )
    if not matching:
        raise registry.unknown("server", word, server_names())
    return next(iter(matching.values()))


def servers_alike(chosen: Server) -> list[Server]:
    """Those of the same dialect, which each other's clients reach as well; itself first."""
    others = [one for one in servers() if one.system.name != chosen.system.name]
    return [chosen, *(one for one in others if one.dialect.name == chosen.dialect.name)]


def database_name(word: str) -> str:
    """The word, where it is a name that every server takes letter by letter.

    The original drops other characters, and then the database that has the name which is left.
    """
    if _DATABASE_NAME.fullmatch(word):
        return word
    left = "".join(_DATABASE_LETTERS.findall(Path(word).stem))
    proposal = left.lstrip("-")[:_LONGEST_DATABASE_NAME] or "bibliography"
    raise ArgumentError(
        f"--database {word!r}: expected a name of letters (a to z), digits, _ and -, at most "
        f"{_LONGEST_DATABASE_NAME} of them",
        hint=f'of a file bibsql learns from a profile, file = "{word}"; bibtosql: --apply {word}'
        if paths.is_file(Path(word))
        else f"--database {proposal}",
    )


_SHOWN = 20


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """At once: a pipe without a writer is waited for inside the engine, where no Python
    handler runs, and there is nothing yet to put away."""
    handlers = [signal.signal(number, signal.SIG_DFL) for number in TERMINATIONS]
    try:
        yield
    finally:
        for number, handler in zip(TERMINATIONS, handlers, strict=True):
            signal.signal(number, handler)


def check_input(source: BibDocument) -> Scan:
    """The engine's `Scan` of the files; raises `InputError` where they are bad. Costs a tenth of
    writing them."""
    from assay import _engine
    from assay.provision.engine.engine_calls import raise_as_ours

    document = ScanDocument(
        files=source.files,
        encoding=source.encoding,
        keep_going=source.keep_going,
        strict=source.strict,
    )
    try:
        scan: Scan = json.loads(_engine.bib_scan(document.json))
    except _engine.EngineError as error:
        raise_as_ours(error)
    return scan


def files_without_entries(source: BibDocument, files: Iterable[str]) -> list[str]:
    """Those of the files in which no entry is good, and something is bad: an update keeps the rows
    that they had. Without ``keep_going`` they are errors."""
    if not source.keep_going:
        return []
    found = []
    with tempfile.NamedTemporaryFile("w", suffix=".bib") as good:
        # Files without any entry are refused together: one entry is always there.
        good.write("@Misc{good, title = {Good}}\n")
        good.flush()
        for file in files:
            # A macro may be defined in another file.
            scan = check_input(structs.replace(source, files=(good.name, file), strict=False))
            if scan["problems"]["errors"] and scan["entries"] == 1:
                found.append(file)
    return found


def kept_rows_error(files: Iterable[str]) -> RunFailed:
    """What an update ends with that has left such files out."""
    return RunFailed(
        f"no entry can be read, and the rows that are there are kept: {', '.join(files)}",
        hint="correct the errors above, and update again; the other files are done",
    )


def say_problems(
    problems: Problems, given: Collection[str], changed: Iterable[Path] | None
) -> None:
    """What was wrong and did not stop the program: the first of it, and how much there is.
    ``given``: the options ``quiet`` and ``all-warnings``. ``changed``: an update names only
    what is wrong with these files; None: with all."""
    if changed is not None:
        problems = _of_files(problems, set(map(str, changed)))
    if "quiet" in given:
        kept = [problem for problem in problems["kept"] if problem["severity"] == "error"]
        problems = {**problems, "kept": kept, "warnings": 0}
    for line in _lines(problems, len(problems["kept"]) if "all-warnings" in given else _SHOWN):
        say(line)


def _of_files(problems: Problems, files: Collection[str]) -> Problems:
    """All of them where the engine has not kept every one: those of the files may be missing."""
    if len(problems["kept"]) < problems["errors"] + problems["warnings"]:
        return problems
    kept = [problem for problem in problems["kept"] if problem["file"] in files]
    errors = sum(problem["severity"] == "error" for problem in kept)
    return {**problems, "kept": kept, "errors": errors, "warnings": len(kept) - errors}


def _lines(problems: Problems, most: int) -> list[str]:
    lines = []
    for problem in problems["kept"][:most]:
        place = ":".join(
            str(part) for part in (problem["file"], problem["line"], problem["column"]) if part
        )
        lines.append(f"{problem['severity']}: {place}: {problem['message']}")
    if not lines:
        return []
    total = f"{counted(problems['errors'], 'error')}, {counted(problems['warnings'], 'warning')}"
    if skipped := skipped_text(problems):
        total += f"; left out: {skipped}"
    if len(lines) < problems["errors"] + problems["warnings"]:
        total += f"; the first {len(lines)} are shown"
        if len(lines) < len(problems["kept"]):
            total += f": --all-warnings shows {len(problems['kept'])}"
    return [*lines, total]
