"""An option has one name in each of three places: the command line, Python and experiment files;
its words, and profiles of settings, are read in each."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
import pytest

import assay
from assay import registry
from assay.api import running
from assay.cli.commands.run import command
from assay.cli.program import HELP_NAMES, run_program
from assay.contracts.systems.abilities import HasProfiles
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Experiment, SystemChoice
from assay.experiment import from_file as experiment_file
from assay.experiment.choices import profiles
from assay.experiment.choices.storage_words import storage_choices
from assay.experiment.from_command_line import Words, experiment
from assay.experiment.settings_catalogue import OPTIONS
from assay.experiment.settings_validation import spelled_in_file, spelled_in_python
from assay.lab.continuation import Request
from assay.systems.sqlite import settings as sqlite
from assay.text.phrases import Mention, phrase, spelled

ONLY_OPTIONS = {"target", "scale", "no_probe", "no_durability", "no_repeat", "form", "detail"}
ONLY_OPTIONS |= {"progress_s"}
"""Of the command line: short for others, or how the report is printed."""
ONLY_IN_PYTHON = {"workload", "durability", "show_progress", "unknown"}
SAMPLES = {
    "on": "sqlite,null", "storage": "'here,disk=here:/tmp'", "set": "scale=1,2",
    "script": "one.sql@3", "memory": "64MB,none", "cpus": "0.5,none", "rtt": "0,1ms",
    "clients": "1,8", "generators": "2,4", "on_lost": "continue", "duration": "2min",
    "transactions": "1000", "warm_up": "3", "ramp_up": "500ms", "drain": "5",
    "statement_limit": "2min", "arrival": "poisson", "offered_rate": "100,2000",
    "latency_limit": "250ms", "goal": "'p99 < 5ms'", "goal_over": "scale", "goal_tolerance": "5%",
    "goal_trials": "20", "think_time": "'exponential:12s,120s'", "keying_time": "none",
    "retries": "3", "isolation": "'read committed'", "connection": "'per transaction'",
    "read": "replica", "cache": "cold,warm", "client_program": "engine,native",
    "price": "null=4500EUR", "required_rate": "500", "repetitions": "3", "precision": "5%",
    "budget": "30min", "order": "sequential", "seed": "7", "threads": "2",
    "log_storage": "'none,tmpfs'", "protocol": "extended", "input": "papers.bib",
    "encoding": "latin-1", "feed": "plain.sql",
}  # fmt: skip
"""Of each option that takes a value, one, as hints have them."""
OF_MACHINE = ("memory", "cpus", "rtt", "log_storage")
OF_GOALS = ("goal_over", "goal_tolerance", "goal_trials")
FLAGS = ("reconnect", "per_statement", "allow_shell", "keep_going")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.sql").write_text("SELECT 1;\n")
    Path("plain.sql").write_text("SELECT 1;\n")


def test_every_option_of_a_run_is_an_argument_and_a_key_by_the_one_list() -> None:
    arguments = set(inspect.signature(assay.run).parameters)
    assert {one.argument for one in OPTIONS.values()} == arguments - ONLY_IN_PYTHON
    spelled = {
        word.removeprefix("--").replace("-", "_")
        for one in command.params
        if isinstance(one, click.Option) and not {one.name} & ONLY_OPTIONS
        for word in one.opts
        if word.startswith("--") and word != "--bib"
    }
    assert spelled == OPTIONS.keys()
    in_a_file = {one.word for one in OPTIONS.values() if one.path is not None}
    assert in_a_file == SAMPLES.keys() | set(FLAGS)
    keys = {one.path.rpartition(".")[2] for one in OPTIONS.values() if one.path is not None}
    guide = (Path(__file__).parents[3] / "docs/guides/experiment-files.md").read_text()
    assert {key for key in keys if f"`{key}`" not in guide and f"`[{key}]`" not in guide} == set()


@pytest.mark.parametrize("field", [*SAMPLES, *FLAGS])
def test_a_hint_means_the_same_in_all_three_places(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = OPTIONS[field]
    mention = Mention(field, SAMPLES.get(field), is_wished=field in FLAGS)
    words = _typed(str(mention))
    in_python = spelled_in_python(mention)
    in_a_file = spelled_in_file(mention)
    assert in_a_file is not None
    assert in_python.startswith(f"{name.argument}=")

    taken: list[Words] = []
    monkeypatch.setattr(running, "_result", lambda words, *_: taken.append(words))
    workload = "bibsql" if field in ("input", "encoding", "keep_going") else "tpcb"
    assay.run(workload, **eval(f"dict({in_python})"))
    asked = getattr(taken[0], name.argument)
    assert _plain(asked) == _plain(getattr(words, name.argument))

    system = "postgresql" if field in OF_MACHINE else "null"
    equals = "" if "=" in in_a_file else " = true"
    systems = "" if field == "on" else f'systems = "{system}"\n'
    Path("e.toml").write_text(f'workload = "{workload}"\n{systems}{in_a_file}{equals}\n')
    read, _ = experiment_file.read(Path("e.toml"))
    given = {"on": (system,), name.argument: getattr(words, name.argument)}
    if field == "required_rate":  # without it nothing is required
        given["price"] = ("here=1/GB",)
    if field in OF_GOALS:  # without one nothing is searched for
        given["goal"] = SAMPLES["goal"].strip("'")
    if field == "on_lost":  # of one process nothing is lost
        given["generators"] = "2"
    expected, _ = experiment(Words(workload, **given))  # type: ignore[arg-type]
    expected = replace(expected, goal="") if field in OF_GOALS else expected
    expected = replace(expected, levels={}) if field == "on_lost" else expected
    # The command line alone reads what the files hold.
    expected = replace(expected, prices={}, feed_content="", workload_content="")
    differ = [
        one.name for one in fields(read) if getattr(read, one.name) != getattr(expected, one.name)
    ]
    assert differ in ([], ["input_paths"], ["feed"], ["scripts"])  # these have a folder in a file


def _typed(hint: str) -> Words:
    """What the command line makes of it."""
    words = ["tpcb", *shlex.split(hint)]
    context = command.make_context("run", words, help_option_names=HELP_NAMES)
    return Words(**{name: context.params[name] for name in Words.__struct_fields__})


def _plain(value: Any) -> Any:
    """What is listed in one word or in several."""
    return ",".join(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("text", "in_python", "in_a_file"),
    [
        ("a longer {--warm-up}, or {--cache cold}", 'a longer warm_up_s, or cache="cold"',
         'a longer drive.warm_up_s, or cache = "cold"'),
        ("{--clients 8}, or by group: {--clients readers=4,8,writers=2}",
         'clients=8, or by group: clients={"readers": [4, 8], "writers": 2}',
         "clients = 8, or by group: clients = { readers = [4, 8], writers = 2 }"),
        ("{--set sqlite.journal_mode=wal,delete} measures each",
         'set={"sqlite.journal_mode": ["wal", "delete"]} measures each',
         'system.sqlite.journal_mode = ["wal", "delete"] measures each'),
        ("leave {--erase} out", "leave erase out", "leave --erase out"),
        ("`assay run tpcb --scale 2 --clients 3`", "`assay run tpcb --scale 2 --clients 3`",
         "`assay run tpcb --scale 2 --clients 3`"),
        ("systemd-run --user --scope", "systemd-run --user --scope", "systemd-run --user --scope"),
        ("{--on sqlite://x}, {--on NAME}", 'on="sqlite://x", on="NAME"',
         'systems = "sqlite://x", systems = "NAME"'),
    ],
)  # fmt: skip
def test_a_hint_names_what_the_person_wrote(text: str, in_python: str, in_a_file: str) -> None:
    hint = phrase(text)
    assert hint == text.replace("{", "").replace("}", "")
    error = ArgumentError("not so", hint=hint)
    error.respell(spelled_in_python)
    assert error.hint == in_python
    assert spelled(hint, spelled_in_file) == in_a_file


def test_what_is_said_of_a_setting_of_the_file_has_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("e.toml").write_text(
        'workload = "tpcb"\nsystems = "sqlite"\ncpus = 1\n[drive]\nretries = 1\n'
    )
    refused = "cpus does not apply to tpcb.tpcb-like: only a server"
    assert run_program(["plan", "e.toml"]) == 2
    assert f"error: e.toml:3: {refused}" in capsys.readouterr().err
    with pytest.raises(ArgumentError, match=f"e.toml:3: {refused}"):
        assay.run("e.toml")
    assert run_program(["plan", "e.toml", "--cpus", "2"]) == 2
    assert f"error: --{refused}" in capsys.readouterr().err


def test_what_is_typed_beside_a_file_is_an_option_and_the_rest_is_a_key(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("e.toml").write_text('workload = "tpcb"\nmemory = "1 gig"\n')
    with pytest.raises(ExperimentError, match="toml:2: memory: expected none or a size") as refused:
        experiment_file.read(Path("e.toml"))
    assert refused.value.hint == 'memory = ["8GB", "1GB"]'
    Path("e.toml").write_text('workload = "tpcb"\nsystems = "null"\ncache = ["cold", "cold"]\n')
    assert run_program(["plan", "e.toml"]) == 2
    assert capsys.readouterr().err == (
        "error: e.toml:3: cache: cold is given twice\n\n"
        "hint: give it once; repetitions = 2 measures every cell twice\n"
    )
    Path("e.toml").write_text('workload = "tpcb"\nsystems = "null"\n')
    assert run_program(["plan", "e.toml", "--cache", "warm,warm"]) == 2
    assert "error: --cache: warm is given twice" in capsys.readouterr().err


def test_a_file_continues_in_python_as_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []
    monkeypatch.setattr(running, "_result", lambda *taken: asked.append(taken[4]))
    assay.run("e.toml")
    assay.run("e.toml", new=True)
    assert [one.is_new for one in asked] == [False, True]
    assert all(one.command is not None for one in asked)


def asked(target: str, **given: object) -> Experiment:
    return experiment(Words(target, **given))[0]  # type: ignore[arg-type]


def test_options_and_settings_are_distinguished_and_their_levels_are_choices() -> None:
    pool = "mariadb.innodb_buffer_pool_size=1G"
    found = asked(
        "bibsql", on=("sqlite,mariadb",), set=("mariadb.engine=innodb,MyISAM", pool, "replicas=1,3")
    )
    settings = {"innodb_buffer_pool_size": "1G"}
    assert found.systems == (
        SystemChoice("sqlite"),
        SystemChoice("mariadb", options={"engine": "InnoDB"}, settings=settings),
        SystemChoice("mariadb", options={"engine": "MyISAM"}, settings=settings),
    )
    assert found.systems[2].label == "mariadb engine=MyISAM innodb_buffer_pool_size=1G"
    assert found.parameters == {"replicas": (1, 3)}
    # Brackets and quotes protect commas.
    on = ("mariadb[engine=MyISAM,max_heap_table_size=1M],postgresql",)
    found = asked("bibsql", on=on, set=('postgresql.search_path="a,b",c',))
    assert [one.label for one in found.systems] == [
        "mariadb engine=MyISAM max_heap_table_size=1M",
        "postgresql search_path=a,b",
        "postgresql search_path=c",
    ]


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("loop[ size = 1024 mb ]", "loop[size=1G]"),
        ("loop[mount=noatime,fs=XFS,size=1073741824]", "loop[fs=xfs,size=1G,mount=noatime]"),
        ("loop[,]", "loop"),
        ("modelled[size=64M,profile=nvme]", "modelled[profile=nvme,size=64M]"),
        ("throttled[size=16M,read_iops=0100]", "throttled[read_iops=100,size=16M]"),
        ("tmpfs[size=050 %]", "tmpfs[size=50%]"),
        ("here : /srv//disk/", "here:/srv/disk"),
        ('here:"/srv/a,b"', 'here:"/srv/a,b"'),
        ("here:~/data", f"here:{Path.home()}/data"),
    ],
)
def test_a_storage_has_one_spelling(word: str, label: str) -> None:
    (choice,) = storage_choices([word])
    assert choice.name == label
    assert storage_choices([label]) == (choice,)
    (same,) = storage_choices([f"a={word}"])
    assert replace(same, name=choice.name) == choice or choice.kind in ("modelled", "throttled")


def choices(*words: str, on: str) -> tuple[SystemChoice, ...]:
    return experiment(Words("ssd.insert", on=(on,), set=words))[0].systems


def test_every_profile_is_read_and_says_what_it_is() -> None:
    found = {
        name: system.profiles()
        for name, system in registry.usable_systems()
        if isinstance(system, HasProfiles)
    }
    assert found
    for name, known in found.items():
        assert "durable" in known, name
        for profile in known.values():
            assert profile.title and (profile.settings or profile.options)
    tuned = found["sqlite"]["tuned"].settings
    assert not sqlite.durability_lowered_by(tuned), "what is tuned loses no commit either"
    asked, _ = experiment(Words("ssd.insert", on=("mysql",), set=("mysql.profile=paper",)))
    (used,) = asked.profiles
    assert "query_cache_size = 64M" in used.printed, "a printed setting that is gone"


def test_no_profile_is_a_level_too() -> None:
    none, tuned = choices("sqlite.profile=none,tuned", on="sqlite")
    assert (none.label, tuned.label) == ("sqlite", "sqlite profile=tuned")
    assert none == SystemChoice("sqlite")
    for key in ("profil", "Profile"):  # which is not taken for a setting
        with pytest.raises(ArgumentError, match=f"the setting {key} is not one") as raised:
            choices(f"sqlite.{key}=tuned", on="sqlite")
        assert "did you mean 'profile'?" in str(raised.value.hint)


def test_a_setting_wins_over_the_profile() -> None:
    words = ["mysql.profile=paper", "mysql.innodb_flush_log_at_trx_commit=2"]
    for given in (words, words[::-1]):
        (chosen,) = choices(*given, on="mysql")
        assert chosen.settings["innodb_flush_log_at_trx_commit"] == "2"
        assert chosen.label == "mysql innodb_flush_log_at_trx_commit=2 profile=paper"
    own = ("postgresql.profile=paper", "postgresql.shared_buffers=64MB")
    (chosen,) = choices(*own, on="postgresql")
    assert not chosen.options, "it replaces the buffer of the profile"
    assert chosen.settings["shared_buffers"] == "64MB"


def test_a_users_own_value_that_the_profile_has_too_stays_when_the_profile_changes() -> None:
    found = choices("mysql.buffer=4GB", "mysql.profile=paper,tuned,none", on="mysql")
    assert [one.options.get("buffer") for one in found] == ["4GB"] * 3
    assert [one.label.replace("mysql buffer=4GB", "") for one in found] == [
        " profile=paper", " profile=tuned", ""
    ]  # fmt: skip
    (file_choice,) = choices("mysql.profile=paper", "mysql.buffer=4GB", on="mysql")
    assert profiles.applied(file_choice, "none").options == {"buffer": "4GB"}
    assert "buffer" not in file_choice.of_profile


def test_a_profile_that_cannot_be_is_refused() -> None:
    url = "mysql://me@localhost/db"
    for on, word, complaint in (
        ("mysql", "mysql.profile=papr", "unknown profile of mysql 'papr'"),
        ("null", "null.profile=paper", "null has no profiles of settings"),
        (url, "mysql.profile=paper", "a profile is for a server that Assay starts"),
    ):
        with pytest.raises(ArgumentError, match=complaint):
            choices(word, on=on)
