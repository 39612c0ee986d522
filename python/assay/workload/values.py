"""A workload as frozen values: tables, tests, scripts, expected answers.

Longer than other files, as one value holds what a workload file declares, and gives each room its
part of it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from assay import registry
from assay.contracts.capabilities import SQL
from assay.contracts.dialects import Table
from assay.contracts.documents import ScriptDocument
from assay.contracts.driving import AS_IS, Driving, DrivingChanges
from assay.contracts.engine import GeneratedDocument
from assay.contracts.experiment import PROTOCOLS
from assay.contracts.observation import Headline, ResponseLimit
from assay.contracts.recorded import SheetRecord
from assay.registry import unknown
from assay.text import quantities
from assay.text.keys import FLAG, TEXT, Listed, NumberWithin, OneOf, in_file, named
from assay.text.toml_file import TomlData
from assay.workload import keys_of_tests
from assay.workload.declared_reports import REPRODUCES, TITLE
from assay.workload.derived_metrics import DerivedMetric
from assay.workload.in_dialect import Speaks, Writes, own
from assay.workload.parameters import Parameter, Scalar
from assay.workload.schema import Schema
from assay.workload.steps import CHANGES, MIX, ORDER, SCRIPTS, Deferred, Drive, Group, Step

if TYPE_CHECKING:
    from assay.workload.workload_record import WorkloadRecord


class Script(ScriptDocument, frozen=True):
    """One transaction type: a text in the script language."""

    language: str = SQL
    """Of its statements; empty: that of the system it is sent to."""
    is_for_all: bool = False
    """The text is of all dialects: each writes its names in double quotes as it writes names."""

    @property
    def title(self) -> str:
        """The text after its name in its first comment (``-- S01: ISBN without ISBN-13``)."""
        first = self.text.partition("\n")[0].lstrip("- ")
        name, colon, title = first.partition(":")
        return title.strip() if colon and name == self.name else first.strip()


class RunsScripts(Protocol):
    """A test or a step, which names scripts and their weights, or parameters that hold these."""

    @property
    def scripts(self) -> tuple[str, ...]: ...

    @property
    def mix(self) -> Mapping[str, int | str]: ...


class MixedScripts(Protocol):
    """The same with every weight as a number."""

    @property
    def scripts(self) -> tuple[str, ...]: ...

    @property
    def mix(self) -> Mapping[str, int]: ...


CLIENT_COUNTS = in_file(
    Listed(NumberWithin(quantities.CLIENTS)), "Numbers of concurrent clients, each measured."
)


class Quick(Struct, frozen=True):
    """What the quick version of a test has in place of its own."""

    clients: Annotated[tuple[int, ...], CLIENT_COUNTS] = ()
    """Empty: as many as ever."""
    driving: Annotated[DrivingChanges, CHANGES] = field(default_factory=DrivingChanges)


class Test(Struct, frozen=True):
    """One test of the workload."""

    name: str
    title: Annotated[str, TITLE]
    help: Annotated[str, in_file(TEXT, "What is measured, in a sentence.")]
    reproduces: Annotated[str, REPRODUCES] = ""
    steps: Annotated[tuple[Step, ...], keys_of_tests.STEPS] = field(
        default_factory=lambda: (registry.step("load")(), Drive())
    )
    scripts: Annotated[tuple[str, ...], SCRIPTS] = ()
    """Names of the transaction types, in order."""
    order: Annotated[str, ORDER] = "sequence"
    mix: Annotated[Mapping[str, int | str], MIX] = field(default_factory=dict)
    """Name → weight in the mix, or the parameter that holds it; other scripts have the weight 1."""
    clients: Annotated[tuple[int, ...], CLIENT_COUNTS] = (1,)
    driving: Annotated[Driving, keys_of_tests.DRIVING] = field(default_factory=Driving)
    """Numbers may be names of parameters."""
    caches: Annotated[tuple[str, ...], keys_of_tests.CACHE] = (AS_IS,)
    """Levels of `CACHES`."""
    cold_each_script: Annotated[
        bool,
        in_file(
            FLAG,
            "Whether, where caches are cold, the system is restarted with cold caches before each "
            "script, not the first alone; the time of a run is the sum of theirs.",
        ),
    ] = False
    protocol: Annotated[str, in_file(OneOf(PROTOCOLS), "How statements are sent.")] = "prepared"
    data: Annotated[
        str, in_file(OneOf(("loaded", "empty")), "The data on which the test runs.")
    ] = "loaded"
    """``empty``: the tables are created without rows."""
    changes_data: Annotated[
        bool, in_file(FLAG, "Whether the test changes the loaded data; false is enforced.")
    ] = True
    """Where false, sessions are read-only if the system supports it."""
    allows_native_client: Annotated[
        bool,
        in_file(
            FLAG,
            "Whether a system's own client program can run it (--client-program native): plain "
            "scripts in their order, nothing changed.",
        ),
    ] = False
    compare_results: Annotated[
        bool, in_file(FLAG, "Whether all systems must answer every transaction with the same rows.")
    ] = False
    reads_device: Annotated[
        bool,
        in_file(
            FLAG,
            "Whether it measures reads from the device: where nothing is read from it, no number "
            "of it is compared.",
        ),
    ] = False
    data_to_buffer: Annotated[float | str | None, keys_of_tests.DATA_TO_BUFFER] = None
    """The ratio of the data's size to the buffer's size, or the parameter that has it; None: the
    buffer is not sized."""
    checks: Annotated[tuple[str, ...], keys_of_tests.CHECKS] = ()
    counted_checks: Annotated[tuple[str, ...], keys_of_tests.COUNTED_CHECKS] = ()
    defaults: Annotated[Mapping[str, tuple[Scalar, ...]], keys_of_tests.DEFAULTS] = field(
        default_factory=dict
    )
    """Levels of parameters in this test, where they differ from the workload's defaults."""
    quick: Annotated[
        Quick, in_file((), "What a quick version (--quick) has in place of it.", below=Quick)
    ] = field(default_factory=Quick)
    needs: Annotated[tuple[str, ...], keys_of_tests.NEEDS] = ()
    """Capabilities that it needs of a system (`assay.contracts.capabilities`), besides those of its
    steps."""

    goes_without: Annotated[Mapping[str, tuple[str, ...]], keys_of_tests.GOES_WITHOUT] = field(
        default_factory=dict
    )
    """Dialect or language → those of the needs without which its systems run it all the same."""

    not_expressible: Annotated[Mapping[str, str], keys_of_tests.NOT_EXPRESSIBLE] = field(
        default_factory=dict
    )
    """Dialect or language → why its systems cannot express the test."""
    headline: Annotated[Headline | None, keys_of_tests.HEADLINE] = None
    """The rate by which the test is known."""
    response_limits: Annotated[tuple[ResponseLimit, ...], keys_of_tests.RESPONSE_LIMITS] = ()
    """How long its transactions may take."""
    deferred: Annotated[Deferred | None, keys_of_tests.DEFERRED] = None
    """Who runs what its scripts queue; None: they queue nothing."""

    __test__ = False  # pytest must not collect this class

    def quickly(self) -> Test:
        """Its quick version."""
        clients = self.quick.clients or self.clients
        return replace(self, clients=clients, driving=self.driving.changed(self.quick.driving))

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The drive steps, in which clients run scripts."""
        return tuple(step for step in self.steps if isinstance(step, Drive))

    def why_not_expressible(self, dialect: Speaks) -> str:
        """Why the test cannot be expressed; empty: it can."""
        return next(
            filter(None, map(self.not_expressible.get, (dialect.name, dialect.language))), ""
        )

    @property
    def named_scripts(self) -> tuple[str, ...]:
        """Of its clients, those that they queue, and those that its steps run once."""
        once = (name for step in self.steps for name in step.scripts_run_once)
        return (*self.scripts, *(self.deferred.scripts if self.deferred else ()), *once)

    @property
    def only_drive(self) -> Drive | None:
        """The drive step, where there is exactly one and it has no groups; the client options of a
        command line apply to it."""
        is_one = len(self.drives) == 1 and not (self.drives[0].groups or self.overlaps)
        return self.drives[0] if is_one else None

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of clients of all its steps."""
        return tuple(group for drive in self.drives for group in drive.groups)

    @property
    def overlaps(self) -> bool:
        """Whether clients start one after the other and end by counts, not by time."""
        return any(step.staggers_clients for step in self.steps)

    @property
    def caches_can_be_set(self) -> bool:
        """Whether the caches can be made cold or warm before the clients begin."""
        return self.why_no_cache is None

    @property
    def why_no_cache(self) -> str | None:
        """Why the caches cannot be made cold or warm before the clients begin; None: they can."""
        if not self.drives:
            return "its clients run no scripts"
        if self.overlaps:
            return "its clients start one after another"
        if any(step.needs == "restart" for step in self.steps):
            return "its own steps restart the system"
        return None

    def buffer_ratio(self, parameters: Mapping[str, Scalar]) -> float | None:
        """``data_to_buffer`` with these parameters; None, as a parameter 0: the buffer is not
        sized."""
        asked = self.data_to_buffer
        value = parameters[asked] if isinstance(asked, str) else asked
        return float(value) if value else None

    @property
    def has_clients(self) -> bool:
        return any(step.has_clients for step in self.steps)

    @property
    def loads(self) -> bool:
        """Whether a system is filled with the workload's data."""
        return any(step.loads for step in self.steps)

    @property
    def all_needs(self) -> tuple[str, ...]:
        """The needs of the test and of its steps."""
        return tuple(
            dict.fromkeys([*self.needs, *(step.needs for step in self.steps if step.needs)])
        )

    def goes_without_in(self, dialect: Speaks) -> tuple[str, ...]:
        """Those of its needs that a system of the dialect may lack: it runs without them."""
        words = (dialect.name, dialect.language)
        return tuple(
            dict.fromkeys(name for word in words for name in self.goes_without.get(word, ()))
        )

    @property
    def leaves_other_data(self) -> bool:
        """Whether the data may be different after the test."""
        return any(step.changes_data for step in self.steps) or bool(
            self.changes_data and self.drives
        )


class ExpectedAnswers(Struct, frozen=True):
    """The row counts of one known data set."""

    dataset: Annotated[str, in_file(TEXT, name="name")]
    source: Annotated[str, in_file(TEXT)]
    """How and by whom the rows were counted."""
    fingerprint: Annotated[str, in_file(TEXT)]
    """Of the data set's files, as their reader makes it (`Scan.fingerprint`)."""
    entries: Annotated[int, in_file(NumberWithin(quantities.COUNT))]
    bytes: Annotated[int, in_file(NumberWithin(quantities.COUNT))]
    counts: Annotated[
        Mapping[str, int], in_file((), below=named(NumberWithin(quantities.COUNT)))
    ] = field(default_factory=dict)
    digests: Annotated[
        Mapping[str, Mapping[str, str]], in_file((), name="answers", below=named(named(TEXT)))
    ] = field(default_factory=dict)
    """Test → script → digest of its answers, in a test that compares the results of systems."""


class ExpectedRules(Struct, frozen=True):
    """What is said of the counts of all data sets."""

    of_variant: Mapping[str, str] = field(default_factory=dict)
    """Variant → what replication does to a count."""
    holds_for: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    """Script → the values of parameters for which its counts hold; those of others hold for all."""


class Reported(Struct, frozen=True, kw_only=True):
    """What reports need of a workload as its files say it."""

    name: str = ""
    title: str = ""
    source: str = ""
    report: Mapping[str, TomlData] = field(default_factory=dict)
    """Test → the declaration of its report (`assay.report.declared.declaration`)."""
    published: Mapping[str, TomlData] = field(default_factory=dict)
    """Test → the published table, in the same form."""
    claims: tuple[TomlData, ...] = ()
    """What the paper says of its results, with the keys of `assay.report.papers.claims`."""
    series: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name → a table over several tests (`assay.report.declared.declaration`)."""
    sheets: tuple[SheetRecord, ...] = ()
    """Tables that reports show as they stand."""


class Inherited(Reported, frozen=True, kw_only=True):
    """What a workload has that another may extend; everything is empty where it extends none."""

    default_system: str = ""
    """The default system; empty: a system must be named."""
    data_source: str = ""
    """Where the rows come from: a name of `assay.load.row_sources`."""
    data: Any = None
    """The section ``[data]``, as the row source has read it."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    schema: Schema = field(default_factory=lambda: Schema(Path()))
    scripts: Mapping[str, Script] = field(default_factory=dict)
    checks: Mapping[str, Script] = field(default_factory=dict)
    """Queries that must return no row, by name."""
    overrides: Mapping[tuple[str, str], Script] = field(default_factory=dict)
    """(dialect or language, name of a script or a check) → the script that replaces it there."""
    not_expressible: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(dialect or language, name of a script or a check) → why it has no text there."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Every text that determines what is run, by path within the folder."""

    @property
    def every_script(self) -> dict[str, Script]:
        """Scripts and checks, by name."""
        return {**self.scripts, **self.checks}


class Workload(Inherited, frozen=True, kw_only=True):
    """A workload folder that has been read and found consistent."""

    folder: Path
    title: Annotated[str, TITLE]
    source: Annotated[
        str, in_file(TEXT, "Where the experiment comes from: a paper, a standard, a page.")
    ]
    description: Annotated[str, in_file(TEXT, "What the workload is, in a few sentences.")] = ""
    default_test: str
    tests: Mapping[str, Test]
    expected: tuple[ExpectedAnswers, ...]
    expected_rules: ExpectedRules
    """Variant → what replication does to a count: ``times replicas`` or ``unchanged``."""
    is_ad_hoc: bool = False
    """Scripts without a workload folder (`assay.workload.ad_hoc_script`)."""
    given_scripts: str = ""
    """The names of script files that its tests run in place of their own."""
    derived: Mapping[str, DerivedMetric] = field(default_factory=dict)
    """By name, in the order in which they are declared."""

    def quickly(self) -> Workload:
        """With the quick version of every test."""
        return replace(self, tests={name: test.quickly() for name, test in self.tests.items()})

    def tests_of(self, name: str) -> tuple[str, ...]:
        """The tests of the series of that name, or the one test; raises `ArgumentError`."""
        if name in self.series:
            return tuple(dict.fromkeys(column["test"] for column in self.series[name]["columns"]))
        if name not in self.tests:
            raise unknown(f"test of {self.name}", name, [*self.tests, *self.series])
        return (name,)

    def series_among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the names that are of series."""
        return tuple(dict.fromkeys(name for name in names if name in self.series))

    def file_of(self, path: str) -> Path:
        """The file of a script, also of one of the workload that this one extends."""
        if not path.startswith(".."):
            return self.folder / path
        return Path(os.path.normpath(self.folder.resolve() / path))

    def full_name(self, test: str) -> str:
        """``tpcb.simple-update``; for an ad hoc script its file; with scripts in place of the
        test's own ``tpcb with read.sql``."""
        if self.given_scripts:
            return f"{self.name} with {self.given_scripts}"
        if self.is_ad_hoc:
            return test if len(self.tests) > 1 else self.name
        return f"{self.name}.{test}"

    def test(self, name: str) -> Test:
        """The test of that name; raises `ArgumentError` with the nearest known name."""
        if name not in self.tests:
            raise unknown(f"test of {self.name}", name, self.tests)
        return self.tests[name]

    def scripts_for(self, runs: MixedScripts, dialect: Writes) -> tuple[Script, ...]:
        """The scripts of a test or step for one dialect, with its overrides, without those of
        `left_out`."""
        missing = self.left_out(runs, dialect)
        sent = (self.script_for(name, dialect) for name in runs.scripts if name not in missing)
        return tuple(
            replace(script, weight=runs.mix.get(script.name, script.weight)) for script in sent
        )

    def left_out(self, runs: RunsScripts, dialect: Speaks) -> Mapping[str, str]:
        """The scripts of a test or step that have no text in the dialect, each with the declared
        reason: the others are run without them. Empty where no script would remain, and of a mix,
        whose load would be another one."""
        reasons = {name: self.why_not_expressible(name, dialect) for name in runs.scripts}
        missing = {name: reason for name, reason in reasons.items() if reason}
        return {} if runs.mix or len(missing) == len(runs.scripts) else missing

    def script_for(self, name: str, dialect: Writes) -> Script:
        """The script of that name for one dialect: its override, that of the dialects it derives
        from or of its language, if there is one; else the common text, with names as the dialect
        writes them."""
        return self.written(own(self.overrides, name, dialect) or self.scripts[name], dialect)

    def checks_for(self, dialect: Writes) -> tuple[Script, ...]:
        """The consistency checks for one dialect, as `script_for`; those that have no text in its
        language are left out."""
        return tuple(
            self.written(own(self.overrides, name, dialect) or check, dialect)
            for name, check in self.checks.items()
            if self.is_spoken(name, dialect)
        )

    def written(self, script: Script, dialect: Writes) -> Script:
        """With names and words as the dialect writes them, where its text is for all dialects."""
        if not script.is_for_all:
            return script
        return replace(script, text=self.schema.names.written(script.text, dialect))

    def is_spoken(self, name: str, dialect: Speaks) -> bool:
        """Whether the script or the check of that name has a text in the dialect's language."""
        if self.why_not_expressible(name, dialect):
            return False
        base = self.scripts.get(name) or self.checks[name]
        is_base = base.language in ("", dialect.language)
        return is_base or own(self.overrides, name, dialect) is not None

    def why_not_expressible(self, name: str, dialect: Speaks) -> str:
        """The declared reason for which the script or the check has no text in the dialect; empty:
        none is declared."""
        return own(self.not_expressible, name, dialect) or ""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables as declared; those of a deployment: `tables_for`."""
        return tuple(declared.table for declared in self.schema.declared)

    @property
    def size(self) -> Parameter | None:
        """The first parameter is the size of the data, where that is a number of all tests."""
        first = next(iter(self.parameters.values()), None)
        is_number = first is not None and first.type in ("int", "float")
        return first if first is not None and is_number and not first.tests else None

    def tables_for(
        self, parameters: Mapping[str, Scalar], language: str | None = None
    ) -> tuple[Table, ...]:
        """The tables of a deployment whose statements are in this language (None: those of all),
        one for each instance; ``parameters`` are those of the run, the others have their
        defaults."""
        return self.schema.tables_for(self.with_defaults(parameters), language)

    def identifiers_for(self, parameters: Mapping[str, Scalar]) -> dict[str, list[str]]:
        """What ``:{name}`` chooses among in scripts: the drive document's ``identifiers``."""
        return self.schema.identifiers_for(self.with_defaults(parameters))

    def source_for(
        self, parameters: Mapping[str, Scalar], seed: int, language: str | None = None
    ) -> GeneratedDocument:
        """The engine's source document for the rows of generated tables of `tables_for`."""
        return self.schema.source_for(self.with_defaults(parameters), seed, language)

    def with_defaults(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The values of all parameters and constants of the workload, with defaults for parameters
        that are not given."""
        known = {parameter.name: parameter.default for parameter in self.parameters.values()}
        given = {name: parameters[name] for name in known if name in parameters}
        return self.schema.with_constants({**known, **given})

    def constants_for(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The constants of the workload, with these parameters."""
        whole = self.with_defaults(parameters) if self.schema.constants else {}
        return {name: whole[name] for name in self.schema.constants}

    def parameters_of(self, test: Test) -> tuple[Parameter, ...]:
        """The parameters of this test."""
        return tuple(
            parameter
            for parameter in self.parameters.values()
            if not parameter.tests or test.name in parameter.tests
        )

    def expected_counts(
        self,
        fingerprint: str,
        replicas: int = 1,
        variant: str = "full",
        parameters: Mapping[str, Scalar] | None = None,
    ) -> dict[str, int | None]:
        """Rows that each script must return on data of that fingerprint; None: unknown."""
        for answers in self.expected:
            if answers.fingerprint == fingerprint:
                is_multiplied = self.expected_rules.of_variant.get(variant) == "times replicas"
                factor = replicas if is_multiplied else 1
                return {
                    name: answers.counts[name] * factor
                    if name in answers.counts and not self.why_not_expected(name, parameters or {})
                    else None
                    for name in self.scripts
                }
        return dict.fromkeys(self.scripts)

    def expected_digests(
        self, fingerprint: str, test: str, parameters: Mapping[str, Scalar]
    ) -> dict[str, str]:
        """Script → digest of the answers that are right on data of that fingerprint."""
        return {
            name: digest
            for answers in self.expected
            if answers.fingerprint == fingerprint
            for name, digest in answers.digests.get(test, {}).items()
            if not self.why_not_expected(name, parameters)
        }

    def why_not_expected(self, script: str, parameters: Mapping[str, Scalar]) -> str:
        """Why the counts of a script do not hold for these values of parameters: ``for year = 2012:
        known for year = 2023``; empty: they do."""
        known = self.expected_rules.holds_for.get(script, {})
        given = self.with_defaults(parameters)
        other = [name for name, value in known.items() if given[name] != value]
        if not other:
            return ""
        asked = ", ".join(f"{name} = {given[name]}" for name in other)
        held = ", ".join(f"{name} = {known[name]}" for name in other)
        return f"for {asked}: known for {held}"

    @property
    def titles(self) -> dict[str, str]:
        """Script → its title."""
        return {name: script.title for name, script in self.scripts.items()}

    def for_record(self) -> WorkloadRecord:
        """The part of the workload that reports need, since its folder may be gone."""
        from assay.workload.workload_record import WorkloadRecord

        return WorkloadRecord(
            **{name: getattr(self, name) for name in Reported.__struct_fields__},
            fingerprint=self.fingerprint,
            derived=tuple(self.derived.values()),
            bytes_per_unit={
                name: one.bytes_per_unit
                for name, one in self.parameters.items()
                if one.bytes_per_unit is not None
            },
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all texts that determine what is run."""
        digest = hashlib.sha256()
        for path, text in sorted(self.texts.items()):
            digest.update(f"{path}\0{len(text.encode())}\0".encode())
            digest.update(text.encode())
        return digest.hexdigest()
