"""Takes a run and what its clients will do; brings the page cache and the system's buffer into the
state that the run's cell asks for, and returns what was done.

Whether a warm cache was enough is seen in the measurement: the system must read nothing from its
storage (`assay.judge.evidence.cache`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assay import registry
from assay.contracts.factors import CACHE
from assay.contracts.observation import CacheState
from assay.contracts.systems.abilities import capabilities_of
from assay.drive.prepare import Compiled
from assay.drive.read_only import may_change_data
from assay.errors import ArgumentError
from assay.experiment import AS_IS, COLD, COLD_MACHINE, WARM, SystemChoice
from assay.lab.run_context.context import RunState
from assay.plan import PlannedRun
from assay.provision.disk import page_cache
from assay.text.mentions import Mention, phrase

_INSTEAD = phrase("{--cache as-is}, with a {--warm-up}")


def check(runs: Iterable[PlannedRun]) -> None:
    """Raises `ArgumentError` where this process may not do what a run asks for. Changes nothing."""
    is_asked = any(run.cell.level(CACHE) == COLD_MACHINE for run in runs)
    if is_asked and not page_cache.can_drop_machine():
        raise ArgumentError(
            phrase(
                "{}: only root can drop the page cache of the machine",
                Mention("cache", COLD_MACHINE),
            ),
            hint=phrase("{} drops the files of the data, without root", Mention("cache", COLD)),
        )


def why_not(compiled: Compiled, run: PlannedRun) -> str | None:
    """Why the run cannot begin with the caches that its cell asks for, as far as that is known
    before anything is started; None: it can."""
    choice, cache = run.cell.system, run.cell.level(CACHE)
    if cache != WARM:
        return None
    had = capabilities_of(registry.system(choice.name), choice)
    if "stored rows" not in had:
        return f"{choice.label} stores no rows, so there is nothing that could be warm or cold"
    is_read_from_here = choice.url is None and not (
        choice.machine.memory_bytes is not None and "own processes" in had
    )
    if is_read_from_here or not may_change_data(compiled, run):
        return None
    return _cannot_be_warmed(choice)


def _cannot_be_warmed(choice: SystemChoice) -> str:
    why = "its files are not on this machine, as far as Assay knows"
    if choice.url is None:
        why = "pages of its files that are read from here would not be in its memory"
    return phrase(
        "{} cannot be warmed: {}, and the test may change the data, so it cannot be run "
        "beforehand; {}",
        choice.label,
        why,
        _INSTEAD,
    )


def prepare(state: RunState, run_once: Callable[[], object]) -> CacheState | None:
    """``run_once``: has the clients do all their work, unmeasured. None: the caches stay as they
    are."""
    cache = state.planned.cell.level(CACHE)
    if cache == AS_IS:
        return None
    if cache == WARM:
        return _warm(state, run_once)
    return _cold(state, cache)


def _cold(state: RunState, cache: str) -> CacheState:
    """Raises `ArgumentError` where Assay did not start the system."""
    state.context.events.stage("empty the caches")
    is_machine = cache == COLD_MACHINE
    restarted = state.up().restart(page_cache.drop_machine if is_machine else page_cache.drop)
    state.context.store.deployment_changed(restarted)
    dropped = "page cache of the machine dropped" if is_machine else "its files dropped"
    return CacheState(
        cache, done=("restarted", dropped), cached_bytes=restarted.page_cache_kept_bytes
    )


def _warm(state: RunState, run_once: Callable[[], object]) -> CacheState:
    """Raises `ArgumentError` where nothing can be done."""
    state.context.events.stage("warm the caches")
    deployment = state.up().deployment
    done: list[str] = []
    folders = [node.directory for node in deployment.nodes if node.directory is not None]
    if deployment.memory_limit_bytes is not None and not deployment.is_embedded:
        folders = []  # pages that this process reads would be memory beyond the server's limit
    found = [page_cache.read(folder) for folder in folders]
    file_bytes = sum(one.file_bytes for one in found)
    cached_bytes = sum(one.cached_bytes for one in found)
    if folders:
        done.append("its files read")
    if not may_change_data(state.context.compiled, state.planned):
        run_once()
        done.append("test run once")
    if not done:
        raise ArgumentError(_cannot_be_warmed(state.planned.cell.system))
    return CacheState(
        WARM,
        done=tuple(done),
        file_bytes=file_bytes if folders else None,
        cached_bytes=cached_bytes if folders else None,
    )
