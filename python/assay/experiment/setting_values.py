"""Takes a setting and what an option or a key gives of it; returns the value of the field that
has it. Says, too, what a setting needs in order to mean something in a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from assay import registry
from assay.contracts.driving import COLD_CACHES, OF_GROUPS
from assay.contracts.experiment import Experiment, SystemChoice
from assay.contracts.factors import CACHE, GENERATORS, NOT_LIMITED, Scalar
from assay.contracts.setting import Levels, Pause, Route, Setting, Text
from assay.errors import ArgumentError
from assay.experiment.choices.storage_words import erased_devices
from assay.text.phrases import Mention, phrase
from assay.text.quantities import CLIENTS, Quantity, shown
from assay.workload import driving
from assay.workload.values import Test, Workload


def value(setting: Setting, given: Any) -> Any:
    """From that of the option."""
    kind = setting.kind
    return levels(setting, kind.split(given)) if isinstance(kind, Levels) else _of(setting, given)


def levels(setting: Setting, words: Sequence[str]) -> Any:
    """From each word of `Levels`."""
    kind = setting.kind
    if setting.read is not None or not isinstance(kind, Levels):
        return _of(setting, words)
    if isinstance(kind.of, tuple):
        return tuple(_known(kind.of, setting.word, kind.what, words))
    of, example = kind.of, kind.example if isinstance(kind.example, str) else kind.example(words)
    return tuple(_number(setting.word, kind, of, word, example) for word in words)


def _of(setting: Setting, given: Any) -> Any:
    if setting.read is not None:
        return setting.read(given)
    match setting.kind:
        case Pause():
            return pause(setting.name, given)
        case Route(words=words):
            return route(setting.name, given, words)
        case Text() if setting.experiment_field and not given.strip():
            expected = f"a {(setting.metavar or 'text').lower()}"
            raise ArgumentError(
                phrase("{}: expected {}, found {!r}", Mention(setting.word), expected, given)
            )
    return given


def _number(option: str, kind: Levels, of: Quantity, word: str, example: str) -> Scalar | None:
    """None: not limited."""
    if kind.may_be_none and word.strip() == NOT_LIMITED:
        return None
    try:
        return of.of_word(word)
    except ValueError as error:
        message = str(error)
        if kind.may_be_none:
            message = message.replace("expected ", f"expected {NOT_LIMITED} or ", 1)
        hint = phrase("{}", Mention(option, example)) if example else None
        raise ArgumentError(phrase("{}: {}", Mention(option), message), hint=hint) from None


def _known(known: Sequence[str], option: str, what: str, words: Iterable[str]) -> Iterator[str]:
    """These words, at least one, each of which is known."""
    for word in [word.strip() for word in words] or [""]:
        if not word:
            raise ArgumentError(
                phrase("{}: expected a {}, found nothing", Mention(option), what),
                hint=f"known: {', '.join(known)}",
            )
        if word not in known:
            raise registry.unknown(what, word, known)
        yield word


_HINT = phrase("{--clients 1,8,32}, or by group: {--clients readers=8,writers=2}")


def client_counts(words: str) -> tuple[int, ...]:
    """``1,8,32`` as client counts."""
    return tuple(
        map(
            int,
            _listed(phrase("{--clients}"), words.split(","), CLIENTS, phrase("{--clients 1,8,32}")),
        )
    )


def are_client_counts_of_groups(words: str) -> bool:
    return "=" in words


def client_counts_of_groups(words: str) -> dict[str, tuple[int, ...]]:
    """``readers=4,8,writers=2`` as client counts by group."""
    levels: dict[str, list[str]] = {}
    name = ""
    for word in words.split(","):
        before, equals, value = word.partition("=")
        if equals:
            name = before.strip()
            if not name:
                raise ArgumentError(
                    phrase("{--clients}: no group before {!r}", word.strip()), hint=_HINT
                )
            if name in levels:
                raise ArgumentError(
                    phrase("{--clients}: group {} is given twice", name), hint=_HINT
                )
        elif not name:
            raise ArgumentError(
                phrase("{--clients}: {} has no group, and others have one", word.strip()),
                hint=_HINT,
            )
        levels.setdefault(name, []).append(value if equals else word)
    return {
        group: tuple(
            map(
                int, _listed(phrase("{--clients}: group {}", group), words_of_group, CLIENTS, _HINT)
            )
        )
        for group, words_of_group in levels.items()
    }


def _listed(option: str, words: Iterable[str], quantity: Quantity, hint: str) -> list[int | float]:
    try:
        return [quantity.of_word(word) for word in words]
    except ValueError as error:
        raise ArgumentError(phrase("{}: {}", option, error), hint=hint) from None


def _meant(setting: str, word: str) -> str:
    """A constant pause is often written without the word ``constant``."""
    meant = Mention(setting, f"constant:{word}")
    is_pause = driving.is_pause(f"constant:{word}")
    return phrase("did you mean {}? ", meant) if is_pause else ""


def route(setting: str, word: str, places: Sequence[str]) -> str:
    """Where scripts are sent, as `Driving` holds it: ``replica``, or ``look=replica,buy=any``."""
    if word in places:
        return word
    pairs = [part.strip().rpartition("=") for part in word.split(",")]
    if not all(script.strip() and read.strip() in places for script, _, read in pairs):
        raise ArgumentError(
            phrase(
                "{}: expected {}, or SCRIPT=WORD for each script that does not go to the "
                "primary, found {}",
                Mention(setting),
                f"{', '.join(places[:-1])} or {places[-1]}",
                shown(word),
            ),
            hint=phrase("{}", Mention(setting, f"SCRIPT={places[1]},SCRIPT={places[2]}")),
        )
    found = {script.strip(): read.strip() for script, _, read in pairs}
    return ",".join(f"{script}={read}" for script, read in sorted(found.items()))


def pause(setting: str, word: str) -> str | None:
    """A distribution as `Driving` holds it, None for ``none``."""
    if not driving.is_pause(word):
        raise ArgumentError(
            phrase(
                "{}: expected a distribution of pauses or {}, found {}",
                Mention(setting),
                driving.NO_PAUSE,
                shown(word),
            ),
            hint=_meant(setting, word) + f"{driving.PAUSE_FORMS}; units: ns, us, ms, s, min, h",
        )
    return driving.pause(word)


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
