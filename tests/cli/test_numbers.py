"""An invalid number is refused with the name of its option or key and its range, on the command
line and in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from assay import registry
from assay.cli.options.shared_options import NumberType
from assay.cli.program import COMMANDS, command_of, run_program
from assay.contracts import driving
from assay.text import quantities
from assay.workload import reader

NEVER = (
    "nan", "inf", "-inf", "1e308", "1" + "0" * 23, "-1", "", "9" * 5000, "x", "\u0661", "1e999",
)  # fmt: skip
"""Outside the range of every option."""
EXPERIMENT = """\
workload = "tpcb"
systems = ["null"]
{top}
[drive]
{drive}
[parameters]
{parameters}
"""


def options() -> Iterator[tuple[str, click.Option]]:
    for name in COMMANDS:
        for one in command_of(name).params:
            if isinstance(one, click.Option):
                yield name, one


NUMBERS = [(name, one) for name, one in options() if isinstance(one.type, NumberType)]


def expected(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message of a command that ends with 2."""
    status = run_program(words)
    out, err = capsys.readouterr()
    assert status == 2, (words, err)
    assert out == ""
    assert err.startswith("error: ")
    return err


def test_no_option_declares_a_range_of_its_own() -> None:
    own = (click.IntRange, click.FloatRange, type(click.INT), type(click.FLOAT))
    assert [one.name for _, one in options() if isinstance(one.type, own)] == []
    assert len(NUMBERS) > 10


@pytest.mark.parametrize(("command", "option"), NUMBERS, ids=lambda one: getattr(one, "name", one))
def test_an_option(command: str, option: click.Option, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(option.type, NumberType)
    for value in NEVER:
        # A short name comes before the long one.
        message = expected([*command.split(), "tpcb", f"{option.opts[-1]}={value}"], capsys)
        assert f"{option.opts[-1]}: expected {option.type.quantity.expected}, found" in message


@pytest.mark.parametrize(
    ("option", "quantity"),
    [("--clients", quantities.CLIENTS), ("--offered-rate", quantities.OFFERED_RATE_PER_S)],
)
@pytest.mark.parametrize("form", ["{}", "1,{}"])
def test_a_list(
    option: str, quantity: quantities.Quantity, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in NEVER:
        message = expected(["plan", "tpcb", f"{option}={form.format(value)}"], capsys)
        assert f"{option}: expected {quantity.expected}, found" in message


@pytest.mark.parametrize("option", ["--think-time", "--keying-time"])
@pytest.mark.parametrize("value", ["nan", "constant:nan", "constant:-1s", "exponential:1e308s", ""])
def test_a_pause(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = expected(["plan", "tpcb", f"{option}={value}"], capsys)
    assert f"{option}: expected a distribution of pauses" in message


@pytest.mark.parametrize(
    ("system", "option"),
    [
        (system, spec.name)
        for system in registry.systems()
        for spec in registry.system(system).option_specs
        if not spec.levels
    ],
)
def test_an_option_of_a_system(
    system: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in ("nan", "1e308", "-1", "9" * 5000):
        for words in (
            ["--on", f"{system}[{option}={value}]"],
            ["--on", system, "--set", f"{system}.{option}={value}"],
        ):
            assert f"{option}: expected " in expected(["plan", "tpcb", *words], capsys)


@pytest.mark.parametrize("command", ["plan", "generate"])
@pytest.mark.parametrize("workload", registry.workloads())
def test_a_parameter_of_a_workload(
    workload: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    read = reader.read(workload)
    if command == "generate" and read.data_source != "generated":
        pytest.skip("makes no rows")
    for parameter in read.parameters.values():
        if parameter.quantity is None:
            continue
        test = parameter.tests[0] if parameter.tests else read.default_test
        target = workload if command == "generate" else f"{workload}.{test}"
        for value in ("nan", "1e999", "9" * 5000):
            message = expected([command, target, "--set", f"{parameter.name}={value}"], capsys)
            assert f"{parameter.name}: expected {parameter.quantity.expected}" in message


def test_a_weight_and_a_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "one.sql"
    script.write_text("select 1;\n")
    for value in {*NEVER} - {""}:
        message = expected(["plan", f"{script}@{value}"], capsys)
        assert f"weight behind the @: expected {quantities.WEIGHT.expected}" in message
        message = expected(
            ["generate", "tpcb", "--table", "pgbench_tellers", f"--part=1/{value}"], capsys
        )
        assert "--part: expected K/N with K from 1 to N" in message


TOP = {
    "clients": quantities.CLIENTS,
    "repetitions": quantities.REPETITIONS,
    "seed": quantities.SEED,
    "threads": quantities.THREADS,
}


@pytest.mark.parametrize("value", ["nan", "1" + "0" * 23, "-1", '"x"', "[]"])
@pytest.mark.parametrize("key", [*TOP, *driving.NUMBERS, "scale", "text"])
def test_a_key_of_an_experiment_file(
    key: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"{key} = {value}"
    place = "top" if key in TOP else "drive" if key in driving.NUMBERS else "parameters"
    file = tmp_path / "e.toml"
    lines = {"top": "", "drive": "", "parameters": "", place: line}
    if key == "text":  # of a script, whose variables have no declared range
        if value in ("1e308", "-1", '"x"', "true"):
            return
        (tmp_path / "s.sql").write_text("select :text;\n")
        lines["top"] = 'script = "s.sql"'
        file.write_text(EXPERIMENT.format(**lines).replace('workload = "tpcb"\n', "\n"))
    else:
        file.write_text(EXPERIMENT.format(**lines))
    message = expected(["plan", str(file)], capsys)
    number = {"top": 3, "drive": 5, "parameters": 7}[place]
    where = f"error: {file}:{number}: "
    assert message.removeprefix(where).removeprefix("drive.").startswith(key)
    quantity = {**TOP, **driving.NUMBERS, "scale": quantities.Whole(1, quantities.COUNT.most)}
    if key in quantity and value not in ("[]", '"x"'):
        assert f"expected {quantity[key].expected}" in message
    assert "expected" in message or "neither a number nor a parameter" in message


@pytest.mark.parametrize(
    ("key", "at"),
    [
        ("clients", "[tests.t]"), ("data_to_buffer", "[tests.t]"),
        *((key, "[tests.t]") for key in driving.NUMBERS), ("s", "[tests.t.mix]"),
        ("least", "[parameters.p]"), ("most", "[parameters.p]"), ("default", "[parameters.p]"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", ["inf", "1" + "0" * 23])
def test_a_key_of_a_workload_file(
    key: str, at: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if key in ("least", "most") and value != "inf":
        value += "0" * 400  # beyond what a float can be
    lines = {
        "[parameters.p]": "",
        "[tests.t]": "",
        "[tests.t.mix]": "s = 1",
        at: f"{key} = {value}",
    }
    default = "" if key == "default" else "default = 1.5"
    (tmp_path / "s.sql").write_text("select 1;\n")
    file = tmp_path / "workload.toml"
    file.write_text(
        'title = "t"\nsource = "s"\ndefault_test = "t"\n[data]\nsource = "generated"\n'
        f'[parameters.p]\n{lines["[parameters.p]"]}\ntype = "float"\nhelp = "h"\n{default}\n'
        f'[tests.t]\n{lines["[tests.t]"]}\ntitle = "t"\nhelp = "h"\n'
        f"[tests.t.mix]\n{lines['[tests.t.mix]']}\n"
    )
    message = expected(["plan", str(tmp_path), "--on", "null"], capsys)
    number = {"[parameters.p]": 7, "[tests.t]": 12, "[tests.t.mix]": 16}[at]
    assert message.startswith(f"error: {file}:{number}: {key} = ") or f": {key}: " in message
    assert "expected" in message
