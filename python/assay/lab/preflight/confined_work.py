"""Takes an experiment; refuses what cannot be confined where it is that of a capsule, which may be
anyone's."""

from __future__ import annotations

from assay import registry
from assay.contracts.systems.abilities import ConfinesSessions
from assay.errors import ArgumentError
from assay.experiment import Experiment, SystemChoice
from assay.provision.confinement import confinement
from assay.text.mentions import phrase

_TRUST = phrase("read what is in the capsule; {--trust} runs it with the rights that you have")


def refuse_unconfined(experiment: Experiment) -> None:
    """Raises `ArgumentError` for a system that knows no sessions without rights, for a setting by
    which one would reach beyond them, and where nothing confines this process."""
    if not experiment.is_confined:
        return
    if not confinement.is_begun():
        raise ArgumentError(
            "the experiment is of a capsule, and this program does not confine what it runs",
            hint=phrase("run it with `assay run`; {--trust} runs it with the rights that you have"),
        )
    for choice in experiment.systems:
        _refuse(choice)


def _refuse(choice: SystemChoice) -> None:
    system = registry.system(choice.name)
    if choice.url is not None:
        return  # the user has named it, and given its sessions their rights
    if not isinstance(system, ConfinesSessions):
        raise ArgumentError(
            f"a capsule's scripts cannot be confined on {choice.label}: its sessions have all "
            "rights of the server",
            hint=_TRUST,
        )
    try:
        system.refuse_reaching_settings(choice)
    except ArgumentError as error:
        error.hint = error.hint or _TRUST
        raise
