"""``assay new``: asks for database, test, size, storage and users; shows the plan; writes the
experiment file."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
from msgspec import Struct, structs

from assay import registry
from assay.cli.commands import plan
from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.output.inventory import storage_rows, system_rows
from assay.cli.process import is_at_terminal, say, say_error
from assay.errors import ArgumentError, AssayError
from assay.experiment import from_command_line
from assay.experiment.choices import checked_choices, identity, written_systems
from assay.experiment.choices.storage_words import storage_choices
from assay.experiment.origin import patterns
from assay.lab.preflight import preflight
from assay.lab.refusal import plan_here
from assay.text.secrets import without_secrets
from assay.workload import reader
from assay.workload.parameters import Parameter

_DEFAULT_STORAGE = "here"

_Said = Callable[[str], from_command_line.Words]
"""An answer → the words that are known with it. Raises `AssayError` where it is wrong."""


class _Question(Struct, frozen=True):
    option: str
    text: str
    default: str | None
    """None: there must be an answer."""
    said: _Said
    choices: tuple[str, ...] = ()
    """Lines that are shown before it is asked."""


@click.command("new")
@click.argument(
    "file", type=click.Path(dir_okay=False, path_type=Path), default=Path("experiment.toml")
)
@click.option("--on", metavar="SYSTEM,…", help="Databases, as `assay run --on` takes them.")
@click.option("--test", metavar="WORKLOAD[.TEST]", help="What to run; see `assay list workloads`.")
@click.option(
    "--size", metavar="N,…", help="Size of the data: the first parameter of the workload."
)
@click.option("--storage", metavar="STORAGE,…", help="Where the data are: `assay list storages`.")
@click.option("--clients", metavar="N,…", help="Users: how many clients work at the same time.")
@click.option("--force", cls=DestroyingOption, is_flag=True, help="Replace the file if it exists.")
def command(file: Path, force: bool, **given: str | None) -> None:
    """Write an experiment file by answering five questions.

    It asks for database, test, size, storage and users, shows the plan with its
    estimate of time and space, and writes FILE (experiment.toml). Each answer is
    also an option. Without a terminal nothing is asked: what is not given has its
    default.

    Several values, separated by commas, are levels of a factor: each combination is
    run and compared.

    \b
    Example:
      assay new
      assay new --on postgresql,mariadb --test tpcb --size 2 --clients 1,8,32
    """
    if file.suffix != ".toml":
        raise ArgumentError(f"expected a file *.toml, found {file}", hint=f"assay new {file}.toml")
    if not file.parent.is_dir():
        raise ArgumentError(
            f"there is no folder {file.parent}", hint="make it, or name another file"
        )
    if file.is_symlink():
        raise ArgumentError(
            f"{file} is a symbolic link: expected the name of a file to write",
            hint="name the file that it leads to, or remove the link",
        )
    if file.exists() and not force:
        raise ArgumentError(
            f"the file {file} exists", hint="name another one, or --force to replace it"
        )
    answers = _Answers(given, is_asked=is_at_terminal())
    words = answers.all()
    with _written(file, experiment_text_of_words(words, file.parent)) as not_yet:
        context = plan.command.make_context("plan", [str(not_yet)], click.get_current_context())
        plan.command.invoke(context)
        if answers.is_asked and not click.confirm(f"Write {file}?", default=True, err=True):
            raise click.Abort
        not_yet.replace(file)
    say(f"{file} is written; start it: assay run {file}")


class _Answers:
    """From the options, and from the user where there is a terminal."""

    def __init__(self, given: Mapping[str, str | None], *, is_asked: bool) -> None:
        self.is_asked = is_asked
        self._given = given

    def all(self) -> from_command_line.Words:
        words = self._answered(_of_systems(self._asks("on")))
        words = self._answered(_of_tests(words, self._asks("test")))
        for option, question_of in _OF_THE_TEST.items():
            if (question := question_of(words)) is not None:
                words = self._answered(question)
            elif self._given[option] is not None:
                raise ArgumentError(
                    f"--{option} does not apply to {words.target}", hint=f"leave --{option} out"
                )
        return words

    def _asks(self, option: str) -> bool:
        return self.is_asked and self._given[option] is None

    def _answered(self, question: _Question) -> from_command_line.Words:
        """With the answer. A wrong one is asked again, an option that is wrong is refused."""
        answer = self._given[question.option]
        if answer is None and not self.is_asked:
            answer = question.default
            if answer is None:
                raise ArgumentError(
                    f"--{question.option} is missing, and there is no terminal to ask on",
                    hint=f"assay new --{question.option} …; see assay new --help",
                )
        if answer is not None:
            return question.said(answer)
        for line in question.choices:
            click.echo(line, err=True)
        while True:
            answer = click.prompt(question.text, default=question.default, err=True)
            try:
                return question.said(answer)
            except AssayError as error:
                say_error(error.message, hint=error.hint)


def _of_systems(shows_choices: bool) -> _Question:
    def said(answer: str) -> from_command_line.Words:
        checked_choices.system_choices((answer,))
        if without_secrets(answer) != answer:
            raise ArgumentError(
                "a URL in a file has no password, found one",
                hint="leave it out, and put it where the system's own clients look for it: a file, "
                "or an environment variable",
            )
        return from_command_line.Words("", on=(answer,))

    return _Question(
        "on",
        "Database (several: with commas)",
        reader.read(registry.workloads()[0]).default_system,
        said,
        tuple(_availability()) if shows_choices else (),
    )


def _availability() -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for row in system_rows(with_versions=False):
        names.setdefault(str(row["available"]), []).append(str(row["system"]))
    for availability, systems in sorted(names.items()):
        yield f"  {availability}: {', '.join(systems)}"


def _of_tests(words: from_command_line.Words, shows_choices: bool) -> _Question:
    def said(answer: str) -> from_command_line.Words:
        return _checked(structs.replace(words, target=answer))

    choices = []
    for name in registry.workloads() if shows_choices else ():
        workload = reader.read(name)
        choices += [f"  {name}: {workload.title}", f"    tests: {', '.join(workload.tests)}"]
    return _Question("test", "Test (WORKLOAD, or WORKLOAD.TEST)", None, said, tuple(choices))


def _of_size(words: from_command_line.Words) -> _Question | None:
    parameter = _size_of(words)
    if parameter is None:
        return None

    def said(answer: str) -> from_command_line.Words:
        values = ",".join(part.strip() for part in answer.split(","))
        return _checked(structs.replace(words, set=(f"{parameter.name}={values}",)))

    return _Question(
        "size", f"Size, {parameter.name}: {parameter.help}", str(parameter.default), said
    )


def _size_of(words: from_command_line.Words) -> Parameter | None:
    _, workload = from_command_line.asked(words)
    return workload.size


def _of_storage(words: from_command_line.Words) -> _Question:
    def said(answer: str) -> from_command_line.Words:
        return _checked(structs.replace(words, storage=(answer,)))

    choices = (
        *(f"  {row['storage']}: {row['what']}" for row in storage_rows()),
        "  with a directory: here:/mnt/ssd; several: here:/mnt/ssd,here:/mnt/hdd",
    )
    return _Question("storage", "Storage", _DEFAULT_STORAGE, said, choices)


def _of_clients(words: from_command_line.Words) -> _Question | None:
    """None: the test itself says who works."""

    def said(answer: str) -> from_command_line.Words:
        return _checked(structs.replace(words, clients=answer))

    usual = plan_here(*from_command_line.asked(words)).runs[0].cell.clients
    try:
        said(str(usual))
    except AssayError:
        return None
    return _Question("clients", "Clients (at the same time)", str(usual), said)


_OF_THE_TEST: Mapping[str, Callable[[from_command_line.Words], _Question | None]] = {
    "size": _of_size,
    "storage": _of_storage,
    "clients": _of_clients,
}


def _checked(words: from_command_line.Words) -> from_command_line.Words:
    """Raises `AssayError` where they are wrong, or no run of them could take place anywhere."""
    experiment, workload = from_command_line.asked(words)
    if words.target:
        checked = preflight(workload, plan_here(experiment, workload), patterns(words))
        if not checked.expressible and (refusals := [*checked.refusals.values()]):
            raise ArgumentError(
                f"no run of {words.target} could take place: {refusals[0]}",
                hint="name another database, test or storage",
            )
    return words


@contextmanager
def _written(file: Path, text: str) -> Iterator[Path]:
    """A file in the same folder, with its paths relative to it, that is removed if it is not
    wanted."""
    not_yet: Path | None = None
    try:
        try:
            # The name is random and no link is followed: other users may write in this folder.
            descriptor, name = tempfile.mkstemp(".toml", f".{file.stem}-", file.parent)
            not_yet = Path(name)
            with os.fdopen(descriptor, "w", encoding="utf-8") as content:
                os.fchmod(descriptor, 0o666 & ~_mask())
                content.write(text)
        except OSError as error:
            raise ArgumentError(
                f"{file} cannot be written: {error.strerror}", hint="name a file in another folder"
            ) from None
        yield not_yet
    finally:
        if not_yet is not None:
            not_yet.unlink(missing_ok=True)


def _mask() -> int:
    """Which permissions new files do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


# Takes the words of a command line; returns the text of the experiment file that says the same.
# Its scripts and workload are relative to its folder, its storages have whole directories.

_IN_BRACKETS = re.compile(r"\[[^\]]*\]")


def experiment_text_of_words(words: from_command_line.Words, folder: Path) -> str:
    """``folder``: that of the file."""
    experiment, _ = from_command_line.asked(words)
    if experiment.is_ad_hoc:
        # Behind commas in one text each script is measured; a list is a mix.
        scripts = [
            _from(folder, one.path) + ("" if one.weight == 1 else f"@{one.weight}")
            for one in experiment.scripts
        ]
        what = [f"script = {_quoted(','.join(scripts))}"]
    else:
        name = experiment.workload
        is_known = name in registry.workloads()
        what = [
            f"workload = {_quoted(name if is_known else _from(folder, name))}",
            f"tests = {_list(list(experiment.tests))}",
        ]
    systems = [one for word in words.on for one in written_systems.split_systems(word)]
    storages = [_storage(one) for word in words.storage for one in checked_choices.split(word)]
    lines = [
        "# Run it: assay run FILE; look at it first: assay plan FILE; shorter: --quick.",
        "# All keys: `assay schema experiment`, and the guide on experiment files.",
        f"title = {_quoted(f'{words.target} on ' + ', '.join(systems))}",
        *what,
        f"systems = {_list(systems)}",
        f"storages = {_list(storages)}",
    ]
    if words.clients is not None:
        lines += ["# Users; several numbers make a curve.", f"clients = {_numbers(words.clients)}"]
    lines += [
        "# How often each run is repeated: one says nothing of how much numbers vary.",
        "repetitions = 3",
    ]
    for assignment in words.set:
        key, _, values = assignment.partition("=")
        lines += ["", "[parameters]", f"{key} = {_numbers(values)}"]
    return "\n".join(lines) + "\n"


def _from(folder: Path, path: str) -> str:
    return os.path.relpath(path, folder)


def _storage(word: str) -> str:
    """With its directory whole: a relative one would mean another from another folder."""
    before, has_directory, _ = _IN_BRACKETS.sub("", word).partition(":")
    if not has_directory:
        return word
    (choice,) = storage_choices((word,))
    name, equals, _ = before.partition("=")
    return f"{name}{equals}{identity.written_storage(choice)}"


def _list(words: list[str]) -> str:
    return f"[{', '.join(_quoted(word.strip()) for word in words)}]"


def _numbers(words: str) -> str:
    """As they are written on a command line."""
    numbers = [word.strip() for word in words.split(",")]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"


def _quoted(text: str) -> str:
    """A basic string of TOML has JSON's escapes."""
    return json.dumps(text, ensure_ascii=False)
