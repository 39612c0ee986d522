"""The row source ``none``: tables stay empty, or there are none, as for ad hoc scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.contracts.experiment import Experiment
from assay.load.row_sources.protocol import Asked, ProgressReceiver, RowSource
from assay.workload.values import Workload

if TYPE_CHECKING:
    from assay.load.row_sources.protocol import DataRequest


class NoSource(RowSource):
    name = "none"
    makes_rows = False
    reads_parameters = ()

    def open(
        self, workload: Workload, experiment: Experiment, listener: ProgressReceiver
    ) -> NoRows:
        del workload, experiment, listener
        return NoRows()


class NoRows:
    def request(self, asked: Asked) -> DataRequest:
        del asked
        from assay.load.row_sources.protocol import DataRequest

        return DataRequest(dict, "generated", "no rows", "none", 0, rows_expected={})


NONE = NoSource()
