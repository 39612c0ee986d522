"""Takes an experiment, its workload and the words of the command line; refuses settings that have
no effect on any of its tests.

Each setting is listed once, with its option and the tests that it applies to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay import registry
from assay.contracts.driving import COLD_CACHES
from assay.contracts.experiment import Experiment, StorageChoice
from assay.errors import ArgumentError
from assay.experiment import machines
from assay.experiment.option_names import OPTIONS
from assay.experiment.storage_words import erased_devices
from assay.workload.declared_drives import OF_GROUPS
from assay.workload.values import Test, Workload

if TYPE_CHECKING:
    from assay.experiment.given import Words


@dataclass(frozen=True)
class _Setting:
    option: str
    """As `OPTIONS` has it."""
    field: str
    """Of `Driving`, where it is one: a step or a group may set it."""
    is_given: Callable[[Experiment], bool]
    means_something: Callable[[Experiment, Workload, Test], bool]
    because: str | Callable[[Test], str]


def _drives(_experiment: Experiment, _workload: Workload, test: Test) -> bool:
    return bool(test.drives)


def _drives_for_a_time(_experiment: Experiment, _workload: Workload, test: Test) -> bool:
    return bool(test.drives) and not test.overlaps


def _has_clients(experiment: Experiment, _workload: Workload, test: Test) -> bool:
    if experiment.group_clients:
        return any(group.name in experiment.group_clients for group in test.groups)
    return test.has_clients and not _steps_say(test, "clients")


def _drives_with(field: str) -> Callable[[Experiment, Workload, Test], bool]:
    """Whether clients run scripts, and no step or group sets ``field`` itself."""

    def means_something(_experiment: Experiment, _workload: Workload, test: Test) -> bool:
        return bool(test.drives) and not _steps_say(test, field)

    return means_something


def _steps_say(test: Test, field: str) -> bool:
    """Whether a step or a group of the test sets this field itself."""
    if test.groups and field in OF_GROUPS:
        return True
    if field == "clients":
        return any(drive.clients is not None for drive in test.drives)
    return any(field in drive.driving_changes for drive in test.drives)


def _before_the_measurement(field: str) -> Callable[[Experiment, Workload, Test], bool]:
    """As `_drives_with`, where not every measurement begins with cold caches."""
    drives_with = _drives_with(field)

    def means_something(experiment: Experiment, workload: Workload, test: Test) -> bool:
        is_left_out = all(cache in COLD_CACHES for cache in experiment.caches or test.caches)
        is_none = not experiment.driving.get(field)
        return drives_with(experiment, workload, test) and (is_none or not is_left_out)

    return means_something


def _reads_input(_experiment: Experiment, workload: Workload, test: Test) -> bool:
    reads = registry.row_source(workload.data_source).reads_input
    return bool(reads) and test.loads


def _names_no_scripts(experiment: Experiment, _workload: Workload, _test: Test) -> bool:
    return not experiment.scripts


def _starts_a_system(experiment: Experiment, _workload: Workload, _test: Test) -> bool:
    return any(system.url is None for system in experiment.systems)


def _has_prices(experiment: Experiment, _workload: Workload, _test: Test) -> bool:
    return bool(experiment.prices)


def _erases(experiment: Experiment, _workload: Workload, _test: Test) -> bool:
    return bool(erased_devices(experiment.storages))


def _caches_can_be_set(_experiment: Experiment, _workload: Workload, test: Test) -> bool:
    return test.caches_can_be_set


def _is_asked_of_all(name: str) -> Callable[[Experiment], bool]:
    """Whether levels of this factor are asked for that are not optional."""
    field, _ = machines.FACTORS[name]
    return lambda asked: bool(getattr(asked, field)) and name not in asked.optional


def _memory_can_be_limited(experiment: Experiment, _workload: Workload, _test: Test) -> bool:
    return any(machines.why_memory_not_limited(system) is None for system in experiment.systems)


def _cpus_can_be_limited(experiment: Experiment, _workload: Workload, _test: Test) -> bool:
    return any(machines.why_cpus_not_limited(system) is None for system in experiment.systems)


def _has_a_connection(experiment: Experiment, _workload: Workload, _test: Test) -> bool:
    return any(machines.why_not_moved(system) is None for system in experiment.systems)


def _in_driving(field: str) -> Callable[[Experiment], bool]:
    return lambda asked: field in asked.driving


_NO_CLIENTS_THAT_RUN_SCRIPTS = "its clients run no scripts"
_NO_MEMORY_OF_ASSAY = (
    "only a server that Assay starts can be limited, or a library in the client's own process that "
    "bounds its memory"
)
_NO_SERVER_OF_ASSAY = (
    "only a server that Assay starts can be limited, not one that is running already, and not a "
    "library in the client's own process"
)
_NO_INPUT = "its rows are not read from files"
_DRIVING = (
    ("transactions", "transactions"),
    ("arrival", "arrival"), ("think_time", "think_time"), ("keying_time", "keying_time"),
    ("latency_limit", "latency_limit_s"), ("retries", "retries"),
    ("reconnect", "reconnect_timeout_s"), ("isolation", "isolation"),
    ("connection", "connection"), ("per_statement", "per_statement"),
    ("allow_shell", "allow_shell"), ("drain", "drain_s"),
)  # fmt: skip

_SETTINGS = (
    _Setting(
        "feed", "feed", lambda asked: asked.feed is not None, _names_no_scripts,
        "its clients run the scripts that are named",
    ),
    _Setting(
        "clients", "clients", lambda asked: bool(asked.clients or asked.group_clients),
        _has_clients,
        "it has no clients",
    ),
    _Setting(
        "duration", "duration_s", _in_driving("duration_s"), _drives_for_a_time,
        "it does not end by time",
    ),
    *(
        _Setting(option, key, _in_driving(key), _drives_with(key), _NO_CLIENTS_THAT_RUN_SCRIPTS)
        for option, key in _DRIVING
    ),
    *(
        _Setting(
            option, key, _in_driving(key), _before_the_measurement(key),
            lambda test: "it would warm the caches, which are to be cold" if test.drives
            else _NO_CLIENTS_THAT_RUN_SCRIPTS,
        )
        for option, key in (("warm_up", "warm_up_s"), ("ramp_up", "ramp_up_s"))
    ),
    _Setting(
        "offered_rate", "offered_rate_per_s", lambda asked: bool(asked.offered_rates_per_s),
        _drives_with("offered_rate_per_s"), _NO_CLIENTS_THAT_RUN_SCRIPTS,
    ),
    _Setting(
        "threads", "threads", lambda asked: asked.threads > 0, _drives, _NO_CLIENTS_THAT_RUN_SCRIPTS
    ),
    _Setting(
        "protocol", "protocol", lambda asked: asked.protocol is not None, _drives,
        _NO_CLIENTS_THAT_RUN_SCRIPTS,
    ),
    _Setting(
        "input", "input", lambda asked: bool(asked.input_paths), _reads_input, _NO_INPUT
    ),
    _Setting(
        "encoding", "encoding", lambda asked: asked.encoding != Experiment.encoding,
        _reads_input, _NO_INPUT,
    ),
    _Setting(
        "keep_going", "keep_going", lambda asked: asked.keep_going, _reads_input,
        _NO_INPUT,
    ),
    _Setting(
        "cache", "cache", lambda asked: bool(asked.caches), _caches_can_be_set,
        lambda test: test.why_no_cache or "",
    ),
    _Setting(
        "memory", "memory", _is_asked_of_all("memory"), _memory_can_be_limited,
        _NO_MEMORY_OF_ASSAY,
    ),
    _Setting(
        "cpus", "cpus", _is_asked_of_all("cpus"), _cpus_can_be_limited, _NO_SERVER_OF_ASSAY
    ),
    _Setting(
        "rtt", "rtt", _is_asked_of_all("rtt"), _has_a_connection,
        "its systems run in the client's own process",
    ),
    _Setting(
        "storage", "storages", lambda asked: asked.storages != (StorageChoice(),), _starts_a_system,
        "servers that are named by their URL stay on the storage they are on",
    ),
    _Setting(
        "log", "log", lambda asked: asked.log is not None, _drives, _NO_CLIENTS_THAT_RUN_SCRIPTS
    ),
    _Setting(
        "required_rate", "required_rate_per_s", lambda asked: asked.required_rate_per_s is not None,
        _has_prices, "no storage has a price (--price)",
    ),
    _Setting(
        "erase", "erase", lambda _asked: False, _erases,
        "no storage names a device that would be erased",
    ),
)  # fmt: skip


def refuse_unused(experiment: Experiment, workload: Workload, words: Words) -> None:
    """Raises `ArgumentError` for the first setting that does not apply to any of the tests."""
    tests = [workload.test(name) for name in experiment.tests]
    for setting in _SETTINGS:
        option = OPTIONS[setting.option]
        given: Any = getattr(words, option.argument)
        is_option = given not in (None, (), False)
        if not (is_option or setting.is_given(experiment)):
            continue
        if not any(setting.means_something(experiment, workload, test) for test in tests):
            name = option.option
            is_of_steps = any(_steps_say(test, setting.field) for test in tests)
            why = setting.because if isinstance(setting.because, str) else setting.because(tests[0])
            because = "its steps or groups set it" if is_of_steps else why
            raise ArgumentError(
                f"{name} does not apply to {_names(workload, tests)}: {because}",
                hint=f"leave {name} out",
            )


def _names(workload: Workload, tests: list[Test]) -> str:
    return ", ".join(workload.full_name(test.name) for test in tests)
