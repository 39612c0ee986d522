"""Takes the contracts of plugins; returns the page that describes their members."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from textwrap import dedent

from assay import registry
from assay.contracts import dialects as of_dialects
from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.metric import ReportColumn, WarningText
from assay.contracts.observation import StepReport, StepTable
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages import abilities as of_storages
from assay.contracts.storages.protocol import PreparedStorage, Storage
from assay.contracts.systems.abilities import ABILITIES
from assay.contracts.systems.protocol import OptionSpec, System
from assay.load.row_sources.protocol import (
    Asked,
    DataRequest,
    ExperimentRows,
    RowSource,
    RunSystem,
    UpdatesRows,
)

_HEAD = """# Writing a system, a storage or a row source

A system under test, a kind of storage and a source of rows are plugins: an object with the members
below, and one line of its package's `pyproject.toml`. Those of Assay itself are found in the same
way.

```toml
[project.entry-points."assay.systems"]
mydb = "mydb_assay:MYDB"

[project.entry-points."assay.storages"]
ramdisk = "mydb_assay:RAMDISK"

[project.entry-points."assay.row_sources"]
csv = "mydb_assay:CSV"

[project.entry-points."assay.dialects"]
mysql_like = "mydb_assay:MYSQL_LIKE"

[project.entry-points."assay.steps"]
census = "mydb_assay:Census"

[project.entry-points."assay.step_reports"]
census = "mydb_assay:CensusReport"

[project.entry-points."assay.workloads"]
shop = "mydb_assay.shop"
```

A dialect of its own is for databases that a DB-API module reaches, without a system:
[Firebird](../guides/writing-a-dialect.md) is one, file by file; a TOML file can be one. How a
workload is packed:
[Writing a workload](../guides/writing-a-workload.md#in-a-package).

A package imports from the rooms that `ARCHITECTURE.md` opens to packages, below its import rule;
what is elsewhere may change at any time.

`assay list systems` shows the system once the package is installed. A system or a storage needs
not be derived from a class of Assay: it has the members, or it has not.

A system or storage that breaks its contract is refused when it is used, with every violation (exit
status 3). A test of the plugin's own package shows them earlier; nothing is started:

```python
from assay import storages, systems
from mydb_assay import MYDB, RAMDISK


def test_the_plugins_keep_their_contracts() -> None:
    systems.validate(MYDB)
    storages.validate(RAMDISK)
```

`assay verify mydb` then starts the system and tries what every system with its capabilities must
do: types and their limits, texts, errors, transactions, loads, sessions, a stop and a crash. What
is not met is shown with what was expected and what was found; what the system has not the
capability for is refused with that reason. In a test of the plugin's package:

```python
from assay.lab.conformance.verify import verify
from assay.experiment import StorageChoice, SystemChoice


def test_mydb_does_what_its_capabilities_say() -> None:
    found = verify(SystemChoice("mydb"), StorageChoice())
    assert not [one for one in found if one.result == "not met"]
```

`check()` is called for every choice of an experiment before anything is started, so that a mistake
costs no time: what is wrong is an `assay.errors.ArgumentError` with what was expected, what was
found and a hint. What only the server can know is refused by `provision()`, with `SystemMissing`,
`SystemRefused` or `SystemDied`.
"""

_CAPABILITIES = """## Capabilities

What a test may need of a system. A test that needs what a system lacks is refused before anything
is started: the run's state is `refused`, which is no failure, and the reason stands where the
number would stand.
"""

_DIALECT = """## What every dialect has

A system names its dialect, which writes all statements that Assay itself sends. Derived from
`assay.dialects.standard.StandardSql` it says only how it differs from standard SQL (from
`assay.dialects.limits.BoundedIndexes`, where indexes hold no large objects); derived from
`assay.dialects.minimal.MinimalDialect` it needs no SQL, no transactions and no indexes.
"""

_DIALECT_ABILITIES = """## What only some dialects can do

Each is a protocol of `assay.contracts.dialects`; `StandardSql` has what standard SQL has.
"""

_ROW_SOURCE = """## What every row source has

A workload names its source in `[data] source = "csv"`. The source derives from
`assay.load.row_sources.protocol.RowSource`, which has a default for every member but `name` and
`open`.
"""

_STEP_REPORT = """## What a report of a step has

A step derives from `assay.workload.steps.Step` and runs in
[tests](../guides/steps-and-groups.md#a-step-of-your-own) by its name. What it finds, it hands to
`state.observed(self.label, report)`; the report's type is registered under its kind, so that
records with it can be read. Where its package is not installed, a record can still be read: the
warning `report-unread` says so, and the report is shown as it is kept.
"""

_ABILITIES = """## What only some systems can do

Each is a protocol of `assay.contracts.systems.abilities`. A system has all its members or none of
them; callers ask with `isinstance`, so a system needs no method that says "not me".
"""


_STORAGE_ABILITIES = """## What only some storages can do

Each is a protocol of `assay.contracts.storages.abilities`. Callers ask with `isinstance` and pass
what `prepare` yielded.
"""


def page() -> str:
    parts = [_HEAD, "## What every system has\n", *_described(System), _ABILITIES]
    for ability in ABILITIES:
        parts += [f"### {ability.__name__}\n", *_described(ability)]
        parts.append(f"Had by: {_who_has(ability)}.\n")
    parts += [_CAPABILITIES, "| capability | meaning | had by |", "|---|---|---|"]
    for name, meaning in CAPABILITIES.items():
        having = [one for one in registry.systems() if name in registry.system(one).capabilities]
        parts.append(f"| `{name}` | {meaning} | {', '.join(having)} |")
    parts.append("\n## What `provision` and `attach` yield\n")
    for value in (Deployment, Node, Address):
        parts += [f"### {value.__name__}\n", *_described(value, fields_only=True)]
    parts += ["## What every storage has\n", *_described(Storage)]
    for value in (PreparedStorage, StorageFacts, OptionSpec):
        parts += [f"### {value.__name__}\n", *_described(value, fields_only=True)]
    parts.append(_STORAGE_ABILITIES)
    for ability in of_storages.ABILITIES:
        parts += [f"### {ability.__name__}\n", *_described(ability)]
        having = [one for one in registry.storages() if isinstance(registry.storage(one), ability)]
        parts.append(f"Had by: {', '.join(having) or 'none yet'}.\n")
    for value in (of_storages.Fault, of_storages.Account):
        parts += [f"### {value.__name__}\n", *_described(value, fields_only=True)]
    parts += [_DIALECT, *_described(Dialect)]
    parts.append(_DIALECT_ABILITIES)
    for ability in of_dialects.ABILITIES:
        parts += [f"### {ability.__name__}\n", *_described(ability)]
        having = [one.name for one in registry.dialects().values() if isinstance(one, ability)]
        parts.append(f"Had by: {', '.join(having)}.\n")
    parts += ["### NamedTables\n", *_described(of_dialects.NamedTables, fields_only=True)]
    parts += [_ROW_SOURCE, *_described(RowSource)]
    for value in (ExperimentRows, UpdatesRows, Asked, RunSystem):
        parts += [f"### {value.__name__}\n", *_described(value)]
    parts += ["### DataRequest\n", *_described(DataRequest, fields_only=True)]
    parts += [_STEP_REPORT, *_described(StepReport)]
    for value in (StepTable, ReportColumn, WarningText):
        parts += [f"### {value.__name__}\n", *_described(value, fields_only=True)]
    return "\n".join(parts).rstrip() + "\n"


def _who_has(ability: type) -> str:
    names = [name for name in registry.systems() if isinstance(registry.system(name), ability)]
    return ", ".join(names)


def _described(contract: type, *, fields_only: bool = False) -> Iterator[str]:
    """The contract's sentence, then each member with its own."""
    (declared,) = ast.parse(dedent(inspect.getsource(contract))).body
    assert isinstance(declared, ast.ClassDef)
    yield f"{_flowing(ast.get_docstring(declared))}\n"
    yield "| member | what it is |\n|---|---|"
    for at, node in enumerate(declared.body):
        if isinstance(node, ast.AnnAssign):
            yield _row(ast.unparse(node), _text_behind(declared.body[at + 1 :]))
        elif isinstance(node, ast.FunctionDef) and not fields_only:
            arguments = ast.unparse(node.args).removeprefix("self, ")
            gives = ast.unparse(node.returns) if node.returns else ""
            yield _row(f"{node.name}({arguments}) -> {gives}", ast.get_docstring(node))
    yield ""


def _text_behind(nodes: list[ast.stmt]) -> str:
    match nodes:
        case [ast.Expr(ast.Constant(str(text))), *_]:
            return text
    return ""


def _row(member: str, text: str | None) -> str:
    if not text:
        raise SystemExit(f"a member of a contract of plugins without a line about it: {member}")
    shown = member.replace("|", "\\|")
    return f"| `{shown}` | {_flowing(text)} |"


def _flowing(text: str | None) -> str:
    """One line; names as Markdown has them."""
    words = " ".join(inspect.cleandoc(text or "").split())
    return words.replace("``", "`").replace("|", "\\|")
