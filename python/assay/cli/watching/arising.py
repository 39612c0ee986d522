"""Takes the record of an experiment, and the seconds of its run under way; gives their warnings as
JSON. Those of the run that is under way are judged by what is known so far, by the rules by which
it will be judged when it has ended."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from assay.contracts.observation import Observation
from assay.judge.evidence.values import Evidence
from assay.judge.warnings import run_warnings
from assay.record.progress import under_way
from assay.record.progress.under_way import Connection, KeptWarning, Place
from assay.record.reader import Reader
from assay.record.runs import calibrations, reading
from assay.record.runs.records import END_STATES, CalibrationRecord
from assay.report.live.status import Stage
from assay.report.live.warned import warning_lines


class LiveWarnings:
    def __init__(self) -> None:
        self.text = "[]"
        self._kept: Sequence[KeptWarning] = ()
        self._arising: Sequence[KeptWarning] = ()
        self._calibrated: Sequence[CalibrationRecord] = ()
        self._evidence: Evidence | None = None
        """Of the run under way; None: there is none, or what it measured is being checked."""
        self._position = 0
        self._judged_at: tuple[Place | None, int] = (None, 0)

    def read(
        self, reader: Reader, experiment: int, is_under_way: bool, stage: Stage | None
    ) -> None:
        """When something has changed in the record besides seconds."""
        self._kept = reader.read(lambda connection: under_way.warnings(connection, experiment))
        self._evidence = None
        if not is_under_way or stage is None or stage.state in END_STATES:
            self._arising = ()
        elif stage.state != "checking":
            run, self._position = stage.run, stage.number - 1
            self._calibrated = reader.read(
                lambda connection: calibrations.of_experiment(connection, experiment)
            )
            self._evidence = reader.read(lambda connection: _evidence(connection, run))
            self._arising = self._judged(self._evidence)
        self._say()

    def judge(self, observation: Observation | None, place: Place | None) -> None:
        """Each second of the step under way. ``observation``: as far as it is known."""
        run = self._evidence
        if run is None or observation is None or place is None or place[0] != run.run:
            return
        if (place, observation.elapsed_ns) == self._judged_at:
            return
        self._judged_at = (place, observation.elapsed_ns)
        nearest = calibrations.nearest_to(self._calibrated, run.deployment, observation, None)
        ceiling = None if nearest is None else nearest.ceiling
        self._arising = self._judged(replace(run, observation=observation, ceiling=ceiling))
        self._say()

    def _judged(self, run: Evidence) -> list[KeptWarning]:
        return [KeptWarning(self._position, *one) for one in run_warnings.of_run(run)]

    def _say(self) -> None:
        lines = warning_lines(self._kept, self._arising)
        self.text = msgspec.json.encode(lines).decode()


def _evidence(connection: Connection, run: int) -> Evidence:
    """Without what an earlier step observed."""
    return replace(reading.run(connection, run).evidence, observation=None)
