"""Takes a deployment and a script; runs it once outside any measurement, its values bound; returns
the rows it answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, structs

from assay import _engine, registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Dialect
from assay.contracts.engine import DriveDocument, StopDocument, Value
from assay.drive.document import script_documents, written
from assay.experiment import Scalar
from assay.provision.engine import engine_calls
from assay.provision.engine.engine_calls import raise_as_ours
from assay.workload.values import Script

Row = tuple[str | None, ...]


class StatementAnswer(Struct, frozen=True):
    """What a statement answered, in text form."""

    is_query: bool
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def document_of(
    script: Script,
    variables: Mapping[str, Value],
    identifiers: Mapping[str, list[str]],
    dialect: Dialect,
) -> DriveDocument:
    """The engine's document, without a deployment."""
    return DriveDocument(
        scripts=script_documents([script]),
        variables=dict(variables),
        identifiers=written(identifiers, dialect),
        lexer=dialect.language,
        text_style=dialect.text_style,
        order="sequence",
        clients=1,
        protocol="prepared",
        stop=StopDocument(passes=1),
        seed=1,
    )


def ask(
    deployment: Deployment,
    script: Script,
    variables: Mapping[str, Scalar],
    identifiers: Mapping[str, list[str]] | None = None,
    session_statements: Iterable[str] = (),
) -> StatementAnswer:
    """The answer of the script's last statement; as `ask_each`."""
    answers = ask_each(deployment, script, variables, identifiers, session_statements)
    return answers[-1] if answers else StatementAnswer(False, (), ())


def ask_for_all(
    deployment: Deployment,
    script: Script,
    variables: Mapping[str, Scalar],
    identifiers: Mapping[str, list[str]] | None = None,
) -> StatementAnswer:
    """The rows of all statements of the script, one after the other, and the columns of the first:
    not every language can say in one statement what belongs together. As `ask_each`."""
    answers = ask_each(deployment, script, variables, identifiers)
    rows = tuple(row for one in answers for row in one.rows)
    is_query = any(one.is_query for one in answers)
    return StatementAnswer(is_query, answers[0].columns if answers else (), rows)


def ask_each(
    deployment: Deployment,
    script: Script,
    variables: Mapping[str, Scalar],
    identifiers: Mapping[str, list[str]] | None = None,
    session_statements: Iterable[str] = (),
) -> list[StatementAnswer]:
    """The answer of each statement of the script. ``session_statements``: what the session runs
    first, behind the deployment's own.

    Raises `ScriptError`, or `SystemRefused` and `SystemDied` where the system does not answer.
    """
    own = deployment.address.session_statements
    address = structs.replace(deployment.address, session_statements=(*own, *session_statements))
    dialect = registry.system(deployment.system).dialect
    document = document_of(script, variables, identifiers or {}, dialect)
    try:
        answers = engine_calls.query(structs.replace(document, deployment=address.for_engine()))
    except _engine.EngineError as error:
        raise_as_ours(error)
    return [
        StatementAnswer(one.is_query, tuple(one.columns), tuple(one.rows)) for _, one in answers
    ]
