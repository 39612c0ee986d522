"""Two experiments of one program, in threads of it."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import Any

from assay.contracts import stop
from assay.contracts.events import RunBegun
from assay.contracts.stop import INTERRUPTED, Stopped, StopReason
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab


def test_a_request_to_stop_ends_one_experiment_of_two(tmp_path: Path) -> None:
    """Each has a token of its own, where the caller gives none."""
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    both, ended = threading.Barrier(2), {}

    def run(number: int) -> None:
        def sink(event: Any) -> None:
            if isinstance(event, RunBegun):
                both.wait(60)
                if number == 1:
                    stop._of_work.get().ask(StopReason("a test", INTERRUPTED))
                both.wait(60)

        words = Words(str(tmp_path / "one.sql"), on=("null",), transactions=10)
        asked, workload = experiment(words)
        try:
            result = lab.run(asked, workload, records=tmp_path / f"{number}.sqlite", sinks=[sink])
            ended[number] = result.exit_code
        except Stopped as error:
            ended[number] = error.reason.name
        except Exception as error:  # in a thread it would be lost
            ended[number] = "".join(traceback.format_exception(error))

    threads = [threading.Thread(target=run, args=(number,)) for number in (1, 2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(120)
    assert ended == {1: "a test", 2: 0}
    assert not stop.NEVER.is_asked
