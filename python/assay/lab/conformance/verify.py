"""Takes a system; tries every requirement on it; gives a finding for each.

One deployment serves all of them. A requirement that leaves the server dead is followed by a new
start, so that it does not decide about the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay import _engine, registry
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.systems.abilities import BufferSize
from assay.errors import ArgumentError, AssayError
from assay.lab.conformance import statements, transactions, values
from assay.lab.conformance.requirement import CannotBeTried, Finding, NotMet, Requirement, Subject
from assay.provision.running_system import running_system
from assay.systems.options import BUFFER

REQUIREMENTS: tuple[Requirement, ...] = (
    *transactions.OF_SERVER[:1],
    *values.OF_COLUMN_TYPES,
    *values.OF_TEXTS,
    *statements.OF_STATEMENTS,
    *transactions.OF_TRANSACTIONS,
    *statements.OF_LOADING,
    *statements.OF_SESSIONS,
    *transactions.OF_SERVER[1:],
)

_CONNECTIONS = 50
_BUFFER = "256MB"
"""No system needs more, and none has less than it is asked for."""


def verify(
    choice: SystemChoice,
    storage: StorageChoice,
    requirements: tuple[Requirement, ...] = REQUIREMENTS,
) -> Iterator[Finding]:
    """Tries them in their order on one deployment, which is taken down with the iterator. A private
    one has a buffer of a known size, where that can be chosen.

    Raises as `assay.provision.running_system` does where the system cannot be brought up.
    """
    choice = _with_a_buffer(choice)
    with running_system(choice, storage, connections=_CONNECTIONS) as running:
        subject = Subject(running)
        for requirement in requirements:
            reason = requirement.why_not_applicable(subject.system, choice)
            if reason is not None:
                yield Finding(requirement, "not applicable", reason)
            else:
                yield _finding(requirement, subject)


def _with_a_buffer(choice: SystemChoice) -> SystemChoice:
    system = registry.system(choice.name)
    can_choose = isinstance(system, BufferSize) and BUFFER in system.option_specs
    is_chosen = choice.options.get(BUFFER.name) or choice.settings
    if choice.url is not None or not can_choose or is_chosen:
        return choice
    return replace(choice, options={**choice.options, BUFFER.name: _BUFFER})


def _finding(requirement: Requirement, subject: Subject) -> Finding:
    try:
        try:
            requirement.attempt(subject)
        finally:
            subject.drop_all()
    except CannotBeTried as reason:
        return Finding(requirement, "not applicable", str(reason))
    except ArgumentError as reason:
        return Finding(requirement, "not applicable", reason.message)
    except NotMet as found:
        return Finding(requirement, "not met", str(found))
    except AssayError as error:
        words = getattr(error, "error_class", "") or type(error).__name__
        return Finding(requirement, "not met", f"{error.message} ({words})")
    except _engine.EngineError as error:
        return Finding(requirement, "not met", f"{error.message} ({error.error_class})")
    except Exception as error:  # a mistake in the plugin that is being verified
        return Finding(requirement, "not met", f"{type(error).__name__}: {error}")
    return Finding(requirement, "met")
