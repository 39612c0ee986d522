"""``assay run``: runs an experiment and prints its report."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import structs

from assay import registry
from assay.cli.options.shared_options import (
    detail_option,
    is_typed,
    no_repeat_option,
    progress_option,
    records_option,
    refuse_unused_loading,
    refuse_unused_probe,
    report_format_option,
    run_options,
)
from assay.cli.options.usage_errors import Grouped, Headed
from assay.cli.process import is_at_terminal, say, status_at_least
from assay.contracts.recorded import OptionValue
from assay.contracts.setting import Heading
from assay.errors import ArgumentError
from assay.experiment.origin import command_of, patterns
from assay.experiment.settings_catalogue import of_records
from assay.text import units

if TYPE_CHECKING:
    from assay.contracts.events import Event
    from assay.contracts.experiment import Experiment
    from assay.experiment import from_command_line
    from assay.lab.continuation import Request
    from assay.lab.lab import ExperimentResult
    from assay.load.dataset import Loading
    from assay.probe.measure import FirstUse
    from assay.record import ExperimentRecord
    from assay.workload.values import Workload


_EVERYDAY = (
    *("on", "storage", "set", "clients", "duration_s", "transactions", "warm_up_s"),
    *("offered_rate_per_s", "goal", "repetitions", "quick", "form"),
)
"""Options of ``-h``."""
_FIRST = re.compile(r"[^.;,(]*[^.;,( ]")
"""What is said of an option first."""
_EXAMPLES = """\
  assay run tpcb --on sqlite
  assay run mine.sql --on postgresql://me@db/shop --clients 8 --duration 30
  assay run tpcb --on postgresql,mariadb --clients 1,8,32 --repetitions 5
  assay run tpcb --on postgresql --set postgresql.shared_buffers=1GB,4GB
"""


class _Run(Grouped):
    """Its ``-h`` is one screen, its ``--help`` has all options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "-h" in list(itertools.takewhile(lambda word: word != "--", args)):
            click.echo(self._everyday(ctx))
            ctx.exit()
        return super().parse_args(ctx, args)

    def _everyday(self, ctx: click.Context) -> str:
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        formatter.write(f"\n{self.get_short_help_str(80)}\n\n{_EXAMPLES}\n")
        by_name = {param.name: param for param in self.params if isinstance(param, click.Option)}
        records = filter(None, (by_name[name].get_help_record(ctx) for name in _EVERYDAY))
        formatter.write_dl([(words, _FIRST.findall(said)[0]) for words, said in records])
        formatter.write(f"\nAll {len(by_name)} options: assay run --help\n")
        return formatter.getvalue().rstrip("\n")


@click.command("run", cls=_Run)
@run_options
@no_repeat_option
@report_format_option
@detail_option
@progress_option
@records_option
def command(
    words: from_command_line.Words,
    is_new: bool,
    loading: Loading,
    first_use: FirstUse,
    no_repeat: bool,
    form: str,
    detail: bool | None,
    progress_s: float,
    records: Path,
) -> int | None:
    """Run a workload on systems and storages, and print the report.

    WORKLOAD is a name of `assay list workloads` or a folder, SCRIPT a file of
    statements, FILE.toml an experiment file. Every combination of systems, storages
    and other options with several values is measured: each is a cell.

    Starts every system, loads it, drives it, checks the answers and stops it
    again; a server that is already running is left alone unless you name it by
    its URL. Before the first run Assay checks that all systems can be found. Each
    run is kept in the record file as soon as it ends. An experiment file that is
    run again continues where its last experiment was interrupted: runs that have
    ended are not repeated, unless their scripts, data, settings or versions have
    changed. After a finished experiment, or with --new, a new one begins.

    Exit status 1: a measured run failed, or an answer was wrong; otherwise 2: a
    run cannot be done as asked, or every run was refused (one that is refused
    beside others is not a failure); otherwise 3: a run could not be measured
    because of the system under test or the machine, or the record was lost or
    locked. The status of a continued experiment counts all its runs. Where systems
    answer a script of yours differently, it is not known which answer is wrong:
    nothing is ranked (warning answers-differ), and the status stays.

    \b
    Example:
      assay run bibsql --on sqlite,postgresql,mariadb --clients 1,8,32
      assay run bibsql.sequential --on mariadb --set copies=100
      assay run bibsql --on mariadb --set mariadb.engine=InnoDB,MyISAM
      assay run bibsql --on postgresql --set postgresql.shared_buffers=1GB
      assay run bibsql --on sqlite --input papers.bib --input folder/
      assay run mine.sql --on postgresql://me@db/shop --clients 8 --duration 30
      assay run mine.sql --on sqlite --set scale=10 --offered-rate 500,1000
      assay run mine.cql --on cassandra --clients 8
      assay run mine.json --on ferretdb --set day=7
      assay run -f mine.pgbench -c 8 -j 2 -T 1min --on postgresql://
      assay run tpcb --on postgresql --set scale=100 --datasets /data/loaded
      assay run experiment.toml
      assay run experiment.toml --only 'postgresql*' --only tmpfs
    """
    from assay.experiment import from_command_line
    from assay.lab.continuation import Request

    words = with_system(words)

    def insist(experiment: Experiment, _workload: Workload) -> None:
        from assay.cli.output.report_output import insist_on_readable

        from_command_line.insist_on_systems(words)
        insist_on_readable(form)
        if experiment.is_confined:
            _insist_on_reach(experiment, words)

    request = Request(command_of(words), is_new, patterns(words), _ways(), not no_repeat)
    result = measured(words, loading, first_use, progress_s, records, request, insist=insist)
    print_result(result, result.rescue or records, form, detail)
    return result.exit_code


def with_system(words: from_command_line.Words) -> from_command_line.Words:
    """With the answer of a user at a terminal who named no system."""
    from assay.experiment import from_command_line

    proposed = from_command_line.proposed_system(words) if is_at_terminal() else None
    if proposed is None:
        return words
    click.echo(
        f"systems: {', '.join(sorted(registry.systems()))}, or the URL of a server", err=True
    )
    named = str(click.prompt("Which system (--on)", default=proposed or None, err=True))
    return structs.replace(words, on=(named,))


def measured(
    words: from_command_line.Words,
    loading: Loading,
    first_use: FirstUse,
    progress_s: float,
    records: Path,
    request: Request,
    *,
    insist: Callable[[Experiment, Workload], None],
) -> ExperimentResult:
    """Runs what the words ask for, with its progress on standard error. ``insist``: on what else
    must be so, before a password is asked for."""
    from assay.experiment import from_command_line

    experiment, workload = from_command_line.experiment(words)
    refuse_unused_loading(loading, experiment, workload)
    refuse_unused_probe(experiment, first_use)
    insist(experiment, workload)
    if experiment.is_confined:
        confine(experiment, words)
    from assay.cli.output.passwords import with_passwords
    from assay.cli.output.progress import progress
    from assay.lab import lab
    from assay.provision.machine.signals import STOP

    experiment = with_passwords(experiment)
    under_way = _UnderWay()
    try:
        with progress(every_s=progress_s) as shown:
            return lab.run(
                experiment,
                workload,
                records=records,
                sinks=[shown, under_way.take],
                stop=STOP,
                loading=loading,
                request=request,
                first_use=first_use,
            )
    except KeyboardInterrupt:
        for line in under_way.stopped(records, is_continued=request.command is not None):
            say(line)
        raise


class _UnderWay:
    """What had been done where the user stops it."""

    def __init__(self) -> None:
        self._experiment = 0
        self._run = ""
        """``run 2 of 4``; empty: none is under way."""
        self._is_driven = False
        self._has_results = False

    def take(self, event: Event) -> None:
        from assay.contracts.events import ClientsAtWork, ExperimentBegun, RunBegun, RunEnded

        match event:
            case ExperimentBegun():
                self._experiment = event.experiment_id
            case RunBegun():
                self._run, self._is_driven = f"run {event.position + 1} of {event.of}", False
            case ClientsAtWork():
                self._is_driven = self._has_results = True
            case RunEnded():
                self._run, self._has_results = "", True

    def stopped(self, records: Path, *, is_continued: bool) -> Iterator[str]:
        """What was stopped, what is kept, how to go on; nothing where nothing had begun."""
        if not self._experiment:
            return
        if not self._run:
            yield "stopped between two runs"
        elif self._is_driven:
            yield f"stopped in {self._run}: it is kept as interrupted, with what was measured"
        else:
            yield f"stopped in {self._run}, before its clients began: nothing of it was measured"
        if self._has_results:
            yield f"what was measured is in the record: `{_details(self._experiment, records)}`"
        if not is_continued:
            yield "the same command begins a new experiment: only an experiment file is continued"
        else:
            again = f", and begins {self._run} again" if self._run else ""
            yield f"the same command again continues this experiment{again}"


def confine(experiment: Experiment, words: from_command_line.Words) -> None:
    """What is run is a capsule's, which may be anyone's. Raises `ArgumentError` where it allows its
    scripts what the user has not, `SystemUnderTestError` where this machine cannot confine it."""
    from assay.provision import confinement
    from assay.provision.install import cache

    insist_on_shell(experiment, words)
    needs_network = any(one.url is not None for one in experiment.systems)
    programs = [Path(one.programs) for one in experiment.systems if one.build]
    readable = (cache.cache_folder(), *programs)
    confinement.begin(needs_network=needs_network, readable=readable)


def _insist_on_reach(experiment: Experiment, words: from_command_line.Words) -> None:
    """As in a capsule that is run again: only what is in it and what the user names is reached."""
    from assay.experiment import origin
    from assay.record.capsule import unpacking

    folder = origin.capsule_folder_of(words.target)
    if folder is not None:
        unpacking.insist_on_named_places(experiment, words, folder)
        unpacking.insist_on_no_program(experiment, words, folder)


def insist_on_shell(experiment: Experiment, words: from_command_line.Words) -> None:
    """Raises `ArgumentError` where a capsule allows its scripts what the user has not."""
    of_tests = [one.get("driving", {}) for one in experiment.of_tests.values()]
    is_allowed = any(one.get("allow_shell") for one in (experiment.driving, *of_tests))
    if is_allowed and not words.allow_shell:
        raise ArgumentError(
            "its scripts may start programs on this machine",
            hint="read the scripts in it; --allow-shell lets them",
        )


def _ways() -> dict[str, OptionValue]:
    """The options, as typed, of how data are loaded and storages are probed: who continues the
    experiment wants the same."""
    context = click.get_current_context()
    return {
        option.opts[0].removeprefix("--"): (
            str(value) if isinstance(value := context.params[option.name], Path) else value
        )
        for option in context.command.params
        if isinstance(option, Headed)
        and (option.heading in (Heading.LOADING, Heading.STORAGES) or option.name == "log")
        and is_typed(str(option.name))
    }


def print_result(result: ExperimentResult, kept_in: Path, form: str, detail: bool | None) -> None:
    """The report, and where the record is."""
    from assay.cli.output.report_output import said_meanwhile, without_garbage_collection
    from assay.record import Store
    from assay.report.build import build
    from assay.report.summaries import first_look

    with said_meanwhile("making the report …"), without_garbage_collection():
        with Store(kept_in, must_exist=True) as store:
            kept = store.experiment(result.experiment_id)
        is_brief = form == "table" and not detail
        report = build(kept, is_brief=is_brief)
    _say_logged(kept)
    if not (is_brief and sys.stdout.isatty()):  # there the last line names the record
        say(f"kept in {kept_in} as experiment {result.experiment_id}")
    with status_at_least(result.exit_code):
        if is_brief:
            if any(section.answers for section in report.sections):
                from assay.report.forms import table

                table.render_answers(report, sys.stdout)
            first_look.render(kept, report, sys.stdout, _details(result.experiment_id, kept_in))
        else:
            registry.report_form(form)(report, sys.stdout, detail=detail)
        sys.stdout.flush()


def _say_logged(kept: ExperimentRecord) -> None:
    """How many single transactions are in the file, and what that cost."""
    logs = [run.driven.log for run in kept.runs if run.driven and run.driven.log]
    if logs:
        written = units.counted(sum(one.rows for one in logs), "transaction")
        size = units.size(sum(one.bytes for one in logs))
        took = units.short_duration(sum(one.cpu_ns for one in logs) / 1e9)
        of_share = "" if logs[-1].sample == 1 else f", {units.percent(logs[-1].sample)} of them"
        say(
            f"{written}{of_share} in {kept.experiment.log}: {size} as CSV, written in {took} of "
            "CPU time"
        )


def _details(experiment_id: int, kept_in: Path) -> str:
    """The command that prints the full report."""
    return f"assay report {experiment_id}{of_records(kept_in)}"
