"""Takes what was measured in parts of one drive, one after another; keeps their samples and what
their storage accounted for, as of one measurement, and returns their observation as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from msgspec import structs
from msgspec.structs import replace

from assay.contracts.engine.drive import DriveDocument
from assay.contracts.factors import CACHE
from assay.contracts.observation import CacheState, Observation
from assay.contracts.observation.merging.successive import begins_ns, successive
from assay.contracts.storages.abilities import AccountedSecond
from assay.drive.monitoring.sampler import TimedSample
from assay.experiment import COLD_CACHES
from assay.lab.run_context.context import RunState
from assay.plan.drives import PlannedDrive
from assay.workload.values import Test


class DrivenDocument(NamedTuple):
    """One of them."""

    observation: Observation
    samples: Sequence[TimedSample]


def documents_of(test: Test, planned: PlannedDrive, document: DriveDocument) -> list[DriveDocument]:
    """The drive document of each part: of each script, where each is to begin with cold caches."""
    cell = planned.run.cell
    is_split = (
        test.cold_each_script
        and cell.level(CACHE) in COLD_CACHES
        # Options may have given it another end, which all scripts have in common.
        and set(cell.driving.stop) == {"passes"}
    )
    if not is_split:
        return [document]
    return [structs.replace(document, scripts=(script,)) for script in document.scripts]


def whole(parts: Sequence[DrivenDocument]) -> Observation:
    return _with_all_caches(parts, successive([part.observation for part in parts]))


def keep_samples(state: RunState, parts: Sequence[DrivenDocument]) -> None:
    """Samples count from the first that was taken, time between the parts included; what the
    storage accounted for, from the beginning of the measurement, without it."""
    store = state.context.store
    began_ns = parts[0].observation.started_unix_ns
    store.sampled(
        replace(sample, at_s=sample.at_s + (part.observation.started_unix_ns - began_ns) / 1e9)
        for part in parts
        for sample in part.samples
    )
    store.accounted(_accounted(state, [part.observation for part in parts]))


def _accounted(state: RunState, parts: Sequence[Observation]) -> list[AccountedSecond]:
    """A second of a part counts for the second of the whole in which it began."""
    from assay.contracts.observation.merging.spans import SECOND_NS

    seconds = [
        replace(one, second=(one.second * SECOND_NS + by_ns) // SECOND_NS)
        for part, by_ns in zip(parts, begins_ns(parts), strict=True)
        for one in state.up().accounted(
            part.started_unix_ns, part.started_unix_ns + part.elapsed_ns
        )
    ]
    of_one_line = attrgetter("second", "operation")
    return [
        _added(list(lines)) for _, lines in groupby(sorted(seconds, key=of_one_line), of_one_line)
    ]


def _added(lines: Sequence[AccountedSecond]) -> AccountedSecond:
    def total(name: str) -> int:
        return sum(getattr(line, name) for line in lines)

    return replace(
        lines[0],
        count=total("count"),
        failed=total("failed"),
        bytes=total("bytes"),
        time_ns=total("time_ns"),
        longest_ns=max(line.longest_ns for line in lines),
        late_ns=total("late_ns"),
    )


def _with_all_caches(parts: Sequence[DrivenDocument], observation: Observation) -> Observation:
    """``found`` with what was done to the caches before each part."""
    states = [part.observation.cache_state for part in parts]
    first = states[0]
    if first is None or len(parts) < 2:
        return observation
    kept = [None if state is None else state.cached_bytes for state in states]
    known = [size for size in kept if size is not None]
    cached = CacheState(
        first.cache,
        done=(*first.done, f"before each of {len(parts)} scripts"),
        file_bytes=first.file_bytes,
        cached_bytes=max(known) if len(known) == len(kept) else None,
    )
    return structs.replace(observation, cache_state=cached)
