"""What a setting needs in order to mean something in a test, and the sentence that says why it
means nothing in others."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay import registry
from assay.contracts.driving import COLD_CACHES, OF_GROUPS
from assay.contracts.experiment import Experiment, SystemChoice
from assay.contracts.factors import CACHE, GENERATORS
from assay.experiment.choices.storage_words import erased_devices
from assay.text.mentions import phrase
from assay.workload.values import Test, Workload


class Applies(Struct, frozen=True):
    means_something: Callable[[Experiment, Workload, Test, str], bool]
    """The last one: the name of the setting, or the field of `Driving` that it sets."""
    because: str | Callable[[Test], str]
    """Why not."""


def steps_say(test: Test, field: str) -> bool:
    """Whether a step or a group of the test sets this field itself."""
    if test.groups and field in OF_GROUPS:
        return True
    if field == "clients":
        return any(drive.clients is not None for drive in test.drives)
    return any(field in drive.driving_changes for drive in test.drives)


def _has_clients(experiment: Experiment, _workload: Workload, test: Test, field: str) -> bool:
    if experiment.group_clients:
        return any(group.name in experiment.group_clients for group in test.groups)
    return test.has_clients and not steps_say(test, field)


def _drives_with(_experiment: Experiment, _workload: Workload, test: Test, field: str) -> bool:
    """Whether clients run scripts, and no step or group sets ``field`` itself."""
    return bool(test.drives) and not steps_say(test, field)


def _before_measuring(experiment: Experiment, workload: Workload, test: Test, field: str) -> bool:
    """As `_drives_with`, where not every measurement begins with cold caches."""
    is_left_out = all(
        cache in COLD_CACHES for cache in experiment.levels.get(CACHE.name) or test.caches
    )
    is_none = not experiment.driving.get(field)
    return _drives_with(experiment, workload, test, field) and (is_none or not is_left_out)


def _reads_input(_experiment: Experiment, workload: Workload, test: Test, _field: str) -> bool:
    reads = registry.row_source(workload.data_source).reads_input
    return bool(reads) and test.loads


def _of_experiment(means_something: Callable[[Experiment], bool], because: str) -> Applies:
    return Applies(lambda experiment, *_: means_something(experiment), because)


def _of_test(
    means_something: Callable[[Test], bool], because: str | Callable[[Test], str]
) -> Applies:
    return Applies(lambda _experiment, _workload, test, _field: means_something(test), because)


def to_machines(why_not: Callable[[SystemChoice], str | None], because: str) -> Applies:
    """Of a factor of the server's machine, which some system can be given."""
    return _of_experiment(
        lambda experiment: any(why_not(system) is None for system in experiment.systems), because
    )


_NO_SCRIPTS = "its clients run no scripts"

TO_CLIENTS = Applies(_has_clients, "it has no clients")
TO_A_TIME = _of_test(
    lambda test: bool(test.drives) and not test.overlaps, "it does not end by time"
)
TO_ALL_SCRIPTS = _of_test(lambda test: bool(test.drives), _NO_SCRIPTS)
TO_SCRIPTS = Applies(_drives_with, _NO_SCRIPTS)
"""As `TO_ALL_SCRIPTS`, where no step or group says it itself."""
TO_WORK_BEFORE = Applies(
    _before_measuring,
    lambda test: "it would warm the caches, which are to be cold" if test.drives else _NO_SCRIPTS,
)
TO_INPUT = Applies(_reads_input, "its rows are not read from files")
TO_NO_SCRIPTS = _of_experiment(
    lambda experiment: not experiment.scripts, "its clients run the scripts that are named"
)
TO_CACHES = _of_test(lambda test: test.caches_can_be_set, lambda test: test.why_no_cache or "")
TO_OWN_SERVERS = _of_experiment(
    lambda experiment: any(system.url is None for system in experiment.systems),
    "servers that are named by their URL stay on the storage they are on",
)
TO_GENERATORS = _of_experiment(
    lambda experiment: any(level != 1 for level in experiment.levels.get(GENERATORS.name, ())),
    phrase("one process drives all clients ({--generators})"),
)
OF_DRIVING = {
    "scripts": TO_SCRIPTS,
    "a time": TO_A_TIME,
    "work before": TO_WORK_BEFORE,
    "generators": TO_GENERATORS,
}
"""By the words that fields of `assay.contracts.driving.Driving` have for them."""
TO_GOALS = _of_experiment(
    lambda experiment: bool(experiment.goal), phrase("no rate is searched for ({--goal})")
)
TO_PRICES = _of_experiment(
    lambda experiment: bool(experiment.prices), phrase("no storage has a price ({--price})")
)
TO_DEVICES = _of_experiment(
    lambda experiment: bool(erased_devices(experiment.all_storages)),
    "no storage names a device that would be erased",
)
