"""After a request to stop, work and waits end at once, and say why."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest

from assay.contracts.events import Event, SecondMeasured
from assay.contracts.stop import Stop, Stopped, StopReason
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.provision.machine.signals import STOP, stopped_by_signals
from assay.record import Store

GATE = StopReason("the gate", 1)


def test_a_wait_ends_when_another_thread_asks() -> None:
    stop = Stop()
    threading.Timer(0.2, stop.ask, [GATE]).start()
    began_s = time.monotonic()
    with pytest.raises(Stopped) as caught:
        stop.wait(600)
    assert time.monotonic() - began_s < 60
    assert caught.value.reason == GATE


def test_the_first_reason_counts() -> None:
    stop = Stop()
    stop.check()
    stop.ask(GATE)
    stop.ask(StopReason())
    with pytest.raises(Stopped, match="the gate"):
        stop.check()


def test_a_signal_does_not_interrupt_who_looks_at_the_token_and_a_second_one_does() -> None:
    with stopped_by_signals():
        with STOP.looked_at():
            signal.raise_signal(signal.SIGINT)
            assert STOP.is_asked
            with pytest.raises(Stopped):
                signal.raise_signal(signal.SIGINT)
        with pytest.raises(Stopped):
            STOP.check()
    assert not STOP.is_asked


def test_an_experiment_in_another_thread_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    """No signal is needed: a page, a deadline or a gate may ask."""
    script, records, stop = tmp_path / "one.sql", tmp_path / "r.sqlite", Stop()
    script.write_text("select 1;\n")
    asked, _ = experiment(Words(str(script), on=("null",), clients="2", duration_s=600.0))
    raised: list[BaseException] = []

    def ask(event: Event) -> None:
        if isinstance(event, SecondMeasured):
            stop.ask(GATE)

    def run() -> None:
        try:
            lab.run(asked, records=records, sinks=[ask], stop=stop)
        except Stopped as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(120)
    assert [str(error) for error in raised] == ["the gate"]
    with Store(records, must_exist=True) as store:
        (run_,) = store.latest().runs
    assert (run_.state, run_.reason) == ("interrupted", "the gate")
    assert run_.driven is not None and run_.driven.outcomes.ok > 0
