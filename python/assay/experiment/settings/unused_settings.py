"""Takes an experiment, its workload and the words of the command line; refuses settings that have
no effect on any of its tests. Says why a system cannot be given what is asked of its machine."""

from __future__ import annotations

from assay.contracts.experiment import Experiment, SystemChoice
from assay.contracts.setting import Setting
from assay.errors import ArgumentError
from assay.experiment.choices import server_limits
from assay.experiment.settings.applies import steps_say
from assay.experiment.settings.catalogue import SETTINGS, Words
from assay.text.mentions import Mention, phrase
from assay.workload.values import Test, Workload


def why_refused(choice: SystemChoice) -> str | None:
    """Why the system cannot be given its machine; None: it can."""
    for setting in SETTINGS.values():
        if setting.factor is None or setting.why_not is None:
            continue
        is_given = server_limits.level(choice.machine, setting.factor.name) is not None
        if is_given and (reason := setting.why_not(choice)):
            return f"{choice.label}: {reason}"
    return None


def refuse_unused(experiment: Experiment, workload: Workload, words: Words) -> None:
    """Raises `ArgumentError` for the first setting that does not apply to any of the tests."""
    tests = [workload.test(name) for name in experiment.tests]
    for setting in SETTINGS.values():
        applies = setting.applies
        field = setting.driving_field or setting.name
        if applies is None or not _is_given(setting, experiment, words):
            continue
        if not any(applies.means_something(experiment, workload, test, field) for test in tests):
            is_of_steps = any(steps_say(test, field) for test in tests)
            why = applies.because if isinstance(applies.because, str) else applies.because(tests[0])
            because = "its steps or groups set it" if is_of_steps else why
            raise ArgumentError(
                phrase(
                    "{} does not apply to {}: {}",
                    Mention(setting.word),
                    _names(workload, tests),
                    because,
                ),
                hint=phrase("leave {} out", Mention(setting.word)),
            )


def _is_given(setting: Setting, experiment: Experiment, words: Words) -> bool:
    """On the command line, or in a file, where its levels are not optional."""
    if words.has(setting.name):
        return True
    if setting.name == "storage" and words.on:
        return False  # of a file whose systems are replaced: of those that are started
    if setting.name == "clients":
        return bool(experiment.clients or experiment.group_clients)
    if setting.driving_field:
        return setting.driving_field in experiment.driving
    if not setting.experiment_field or setting.name in experiment.optional:
        return False
    field = setting.experiment_field
    return bool(experiment.asked(field) != _AT_DEFAULT.asked(field))


_AT_DEFAULT = Experiment(workload="", tests=(), systems=())


def _names(workload: Workload, tests: list[Test]) -> str:
    return ", ".join(workload.full_name(test.name) for test in tests)
