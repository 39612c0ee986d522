"""Takes ``[derived.NAME]`` of a workload file; returns the metrics that are derived from what was
measured, each by a formula.

    [derived.power]
    title = "Power@Size"
    help = "queries per hour at this size, by the geometric mean of their times"
    test = "power"
    scripts = ["q*.sql", "rf*.sql"]
    value = "3600.0 * :scale / :geometric_mean_s"

    [derived.both]
    title = "QphH@Size"
    help = "geometric mean of Power@Size and Throughput@Size"
    value = "sqrt(:power * :throughput)"

With a ``test`` it is of a run of that test: the formula uses `INPUTS`, parameters and constants.
Without one it is of runs of several tests: it uses the metrics above it, and parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.errors import ExperimentError
from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.derived_metrics import INPUTS, DerivedMetric
from assay.workload.parameters import Scalar
from assay.workload.scripts import script_names
from assay.workload.tables import keys
from assay.workload.values import Script, Test

BETTER = ("more", "less")


def read(
    section: TomlTable,
    tests: Mapping[str, Test],
    scripts: Mapping[str, Script],
    constants: Mapping[str, Scalar],
) -> dict[str, DerivedMetric]:
    """By name. ``constants``: parameters at their defaults, and constants. Raises `ExperimentError`
    with the line."""
    found: dict[str, DerivedMetric] = {}
    for name in section.names():
        one = section.section(name)
        if name in constants or name in INPUTS:
            raise section.error(f"{name} is the name of something else that formulas use", name)
        found[name] = metric = _metric(one, name, tests, scripts)
        one.done()
        known = dict.fromkeys(INPUTS, 1.0) if metric.test else dict.fromkeys(found, 1.0)
        if not metric.test:
            del known[name]
        _check(one, metric, {**constants, **known})
    return found


def _metric(
    section: TomlTable, name: str, tests: Mapping[str, Test], scripts: Mapping[str, Script]
) -> DerivedMetric:
    test = section.choice("test", tests) if "test" in section else ""
    named: tuple[str, ...] = tests[test].scripts if test else ()
    if "scripts" in section:
        if not test:
            raise section.error("scripts of no test", "scripts", hint='test = "NAME"')
        named = script_names.named(section, "scripts", section.texts("scripts"), scripts)
    for script in named:
        if script not in _run_by(tests[test]):
            hint = did_you_mean(script, _run_by(tests[test]))
            raise section.error(f"the test does not run {script!r}", "scripts", hint=hint)
    return DerivedMetric(
        name=name,
        **section.fields(DerivedMetric),
        value=keys.expression(section, "value"),
        test=test,
        scripts=named,
        is_more_better=section.choice("better", BETTER, BETTER[0]) == BETTER[0],
    )


def _run_by(test: Test) -> list[str]:
    return list(dict.fromkeys(_names(test)))


def _names(test: Test) -> Iterator[str]:
    yield from test.scripts
    for drive in test.drives:
        yield from drive.scripts
        for group in drive.groups:
            yield from group.scripts


def _check(section: TomlTable, metric: DerivedMetric, known: Mapping[str, Scalar]) -> None:
    """Raises `ExperimentError` for a formula that is none with these values."""
    unknown = [name for name in metric.variables if name not in known]
    if unknown:
        raise section.error(
            f"value: nothing is called {unknown[0]!r}",
            "value",
            hint=did_you_mean(unknown[0], known),
        )
    try:
        is_other = metric.is_text_or_condition(known, section.file)
    except ExperimentError as error:
        raise section.error(error.message, "value", hint=error.hint) from error
    if is_other:
        raise section.error("value: expected an expression that is a number", "value")
