"""After a request to stop, work and waits end at once, and say why."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from assay.contracts.events import Event, RowsSent, SecondMeasured
from assay.contracts.stop import Stop, Stopped, StopReason, look
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.provision.machine import signals
from assay.provision.machine.signals import STOP, after_teardown, stopped_by_signals
from assay.record import Store
from step_workloads import folder_of

GATE = StopReason("the gate", 1)


def test_a_wait_ends_when_another_thread_asks() -> None:
    stop = Stop()
    threading.Timer(0.2, stop.ask, [GATE]).start()
    with pytest.raises(Stopped) as caught:
        stop.wait(100_000)  # a wait that did not end would reach the limit of a test
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


def test_a_signal_does_not_interrupt_an_experiment_between_two_looks() -> None:
    with stopped_by_signals(), pytest.raises(Stopped), STOP.guides():
        signal.raise_signal(signal.SIGTERM)
        with after_teardown():
            look()
        with pytest.raises(Stopped, match="SIGTERM"):
            look()
        look()  # a teardown


def test_what_does_not_look_at_the_token_is_interrupted_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signals, "PATIENCE_S", 0.2)
    before = signal.getsignal(signal.SIGALRM)
    with stopped_by_signals(), pytest.raises(Stopped, match="SIGTERM"), STOP.guides():
        signal.raise_signal(signal.SIGTERM)
        time.sleep(60)
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_run_is_stopped_alone_and_work_goes_on() -> None:
    with stopped_by_signals(), STOP.guides():
        with STOP.of_run(17):
            signal.raise_signal(signals.run_signal(17))
            with pytest.raises(Stopped) as caught:
                look()
            assert caught.value.reason.run == 17
            look()  # its teardown
        assert not STOP.is_asked
        look()
        with STOP.of_run(18):
            signal.raise_signal(signals.run_signal(17))
            assert not STOP.is_asked, "it came too late, and is not for this run"
        signal.raise_signal(signals.run_signal(18))
        assert not STOP.is_asked, "nor between two"


def test_a_signal_ends_all_also_while_a_run_is_stopped() -> None:
    with stopped_by_signals(), pytest.raises(Stopped, match="SIGTERM"), STOP.guides():
        with STOP.of_run(17):
            signal.raise_signal(signals.run_signal(17))
            signal.raise_signal(signal.SIGTERM)
        STOP.check()


def test_a_run_that_does_not_look_is_stopped_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "PATIENCE_S", 0.2)
    with stopped_by_signals(), STOP.guides(), STOP.of_run(17):
        signal.raise_signal(signals.run_signal(17))
        with pytest.raises(Stopped):
            time.sleep(60)


def test_a_process_says_which_signals_it_expects() -> None:
    own = os.getpid()
    assert not signals.expects(own, signals.run_signal(17))
    with stopped_by_signals():
        assert signals.expects(own, signals.run_signal(17))
        assert signals.expects(own, signal.SIGTERM)
    assert not signals.expects(own, signals.run_signal(17))


def test_a_load_ends_when_another_thread_asks(tmp_path: Path) -> None:
    stop, records = Stop(), tmp_path / "r.sqlite"
    test = 'scripts = ["read"]\ntransactions = 3\n'
    toml = folder_of(tmp_path / "workload", test) / "workload.toml"
    toml.write_text(toml.read_text().replace('rows = "10"', 'rows = "100000000"'))
    words = Words(str(toml.parent), on=("null",))
    asked, _ = experiment(words)

    def ask(event: Event) -> None:
        if isinstance(event, RowsSent):
            stop.ask(GATE)

    with pytest.raises(Stopped, match="the gate"):
        lab.run(asked, records=records, sinks=[ask], stop=stop)
    with Store(records, must_exist=True) as store:
        (run,) = store.latest().runs
    assert (run.state, run.reason) == ("interrupted", "the gate")


@pytest.mark.slow
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
