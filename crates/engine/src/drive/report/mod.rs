//! Takes the records of all threads; returns one observation whose outcomes add up.

mod service;
mod transactions;

use std::sync::PoisonError;
use std::time::Duration;

use assay_script::Statement;

use crate::account::{
    Aggregator, AnswerSum, Completed, Counts, End, EndState, ResultLog, StatementAnswers,
    StatementLog, ThreadRecorder, ThreadStatements, TimeSpan, before_stop, stages,
};
use crate::document::SharedNumbersDocument;
use crate::drive::plan::Plan;
use crate::drive::report::transactions::{Recorded, arrival};
use crate::drive::shared::Shared;
use crate::drive::supervision::supervisor::Watched;
use crate::observation::{
    AnswerReport, AnswerSumReport, BegunLevelReport, ClientEnd, ClientState, EndedBy,
    FirstAnswersReport, GroupReport, Latency, Observation, Passes, Resolution, ResultReport,
    StatementReport, Unfinished, VERSION,
};

/// # Panics
/// If the outcomes do not add up: an internal error.
pub fn assemble(
    shared: &Shared,
    mut watched: Watched,
    mut recorders: Vec<ThreadRecorder>,
    suspensions: &[TimeSpan],
    threads: usize,
    has_digests: bool,
) -> Observation {
    let plan = &shared.plan;
    let began_ns = watched.schedule.map_or(0, |schedule| schedule.measure_ns);
    let ends = || recorders.iter().flat_map(|recorder| &recorder.counts.ends);
    // What is deferred may be run after the measurement: no client waits for it.
    let is_deferred = |end: &&End| plan.group_of(end.client).is_deferred();
    let of_others = ends().filter(|end| !is_deferred(end));
    let last_ns = of_others.map(|end| end.at_ns).max().unwrap_or(0);
    // An open loop lasts as long as something may be due.
    let due_until_ns: Vec<u64> = (0..plan.groups.len())
        .map(|number| match watched.schedule {
            Some(schedule)
                if !watched.was_interrupted && shared.is_until_stop(number, schedule) =>
            {
                schedule.stop_ns
            }
            _ => 0,
        })
        .collect();
    let last_ns = due_until_ns.iter().copied().fold(last_ns, u64::max);
    skip_rest(shared, &mut watched, &mut recorders, last_ns);
    let (sums, statement_log) = sums(shared, recorders);
    let aggregator = merged(shared);
    let recorded = Recorded {
        plan,
        aggregator: &aggregator,
        begun: &sums.begun,
        errors: &sums.errors,
        began_ns,
    };
    let all = recorded.of_all_groups();
    let mut client_cost = watched.client_cost;
    client_cost.share_out(all.outcomes.ended());

    let ends = &sums.ends;
    let groups = plan.groups.iter().enumerate().map(|(number, group)| {
        let of_group = (ends.iter()).filter(|end| group.has_client(end.client));
        let end_ns = (of_group.map(|end| end.at_ns)).fold(due_until_ns[number], u64::max);
        let queue = shared.deferred.as_ref();
        let queue = queue.filter(|_| group.is_deferred());
        GroupReport {
            longest_queue: queue.map(|queue| queue.longest()),
            ..recorded.of_group(number, end_ns.saturating_sub(began_ns))
        }
    });
    let others = plan.groups.iter().filter(|group| !group.is_deferred());
    let arrivals: Vec<_> = others.map(|group| &group.work.arrival).collect();
    let measured = (began_ns, last_ns);
    let stop_ns = watched
        .schedule
        .map_or(u64::MAX, |schedule| schedule.stop_ns);
    let pass_times = aggregator.pass_times();
    let (mut intervals, gaps) = watched.series.finish(last_ns.saturating_sub(began_ns));
    let gaps = before_stop(gaps, stop_ns.saturating_sub(began_ns));
    let standstills = (&*gaps, suspensions);
    let (stalls, suspensions) = service::standstills(&recorded, sums.waits, standstills, measured);
    service::mark(&mut intervals, &plan.groups, &stalls, &suspensions);
    Observation {
        version: VERSION,
        started_unix_ns: watched.started_unix_ns,
        elapsed_ns: last_ns.saturating_sub(began_ns),
        drained_ns: last_ns.saturating_sub(stop_ns),
        connect_ns: watched.connect_ns,
        clients: plan.clients,
        threads: u32::try_from(threads).unwrap_or(u32::MAX),
        arrival: arrival(&arrivals),
        resolution: Resolution::OF_HISTOGRAMS,
        outcomes: all.outcomes,
        outcomes_by_transaction: all.by_transaction,
        warm_up: recorded.of_warm_up(&sums.warm_up),
        transactions: all.transactions,
        all_ok: all.all_ok,
        passes: passes(plan, &aggregator),
        pass_times_left_out: timed_passes(plan, &aggregator) - pass_times.len() as u64,
        pass_times,
        groups: groups.collect(),
        statements: sums.statements,
        per_statement: statements(shared, &aggregator),
        intervals,
        errors: recorded.errors(|_| true),
        next_transaction: match ends.iter().map(|end| end.next_number).max() {
            None | Some(0) => 0,
            Some(next) => next.saturating_add(plan.first_transaction),
        },
        shared_numbers: (plan.program.shared_numbers.reached().into_iter())
            .map(SharedNumbersDocument::from)
            .collect(),
        begun_levels: (plan.program.begun_levels.marked().into_iter())
            .map(|begun| BegunLevelReport {
                script: plan.program.scripts[begun.script as usize].name.clone(),
                number: begun.number,
                level: begun.level,
            })
            .collect(),
        ended_by: ended_by(ends, watched.was_interrupted),
        client_ends: ends
            .iter()
            .map(|end| client_end(end, plan, began_ns))
            .collect(),
        transactions_per_client: service::per_client(ends),
        in_flight: service::in_flight(ends),
        carried_over: service::carried_over(ends),
        littles_law: service::littles_law(&recorded, ends, measured),
        stalls,
        suspensions,
        servers: sums.servers.report(),
        reconnects: sums.reconnects,
        partly_durable: sums.partly_durable,
        not_retried: sums.not_retried,
        prepared_again: sums.prepared_again,
        outages: shared.outages().between(began_ns, last_ns),
        results: agreements(shared, &statement_log.results, has_digests),
        answer_sums: answer_sums(plan, &sums.answer_sums),
        answers: answers_to_statements(plan, &statement_log.answers, &sums.completed),
        client_cost,
        driver_counters: sums.counters,
        log: None,
        unfinished: (sums.abandoned > 0).then(|| Unfinished {
            transactions: sums.abandoned,
            cancelled: sums.cancelled,
            limit_s: Duration::from_nanos(plan.drain_ns).as_secs_f64(),
        }),
    }
}

/// Skips the arrivals that were due before the last client ended and were not started.
fn skip_rest(
    shared: &Shared,
    watched: &mut Watched,
    recorders: &mut [ThreadRecorder],
    last_ns: u64,
) {
    let Some(schedule) = watched.schedule else {
        return;
    };
    let groups = &shared.plan.groups;
    if let Some(recorder) = recorders.first_mut() {
        for (number, group) in groups.iter().enumerate() {
            if let Some(open_loop) = shared.open_loop(number, schedule) {
                // All that is queued was due when it was queued.
                let until_ns = if group.is_deferred() {
                    u64::MAX
                } else {
                    last_ns
                };
                open_loop.skip_until(until_ns, group, recorder);
            }
        }
    }
    shared.flush_buffers(schedule.measure_ns);
    for aggregator in &shared.aggregators {
        aggregator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .close_seconds(u64::MAX, &mut watched.series);
    }
}

/// The sums over the recorders of all threads.
fn sums(shared: &Shared, recorders: Vec<ThreadRecorder>) -> (Counts, StatementLog) {
    let layout = shared.plan.layout();
    let (mut sums, mut statement_log) = (Counts::new(&layout), StatementLog::new(&layout));
    for recorder in recorders {
        if let ThreadStatements::Own(log) = &recorder.statement_log {
            statement_log.merge(log);
        }
        sums.merge(recorder.counts);
    }
    for log in &shared.statement_logs {
        statement_log.merge(&log.lock().unwrap_or_else(PoisonError::into_inner));
    }
    sums.ends.sort_by_key(|end| end.client);
    (sums, statement_log)
}

fn merged(shared: &Shared) -> Aggregator {
    let mut whole = Aggregator::new(shared.plan.layout());
    for aggregator in &shared.aggregators {
        whole.merge(&aggregator.lock().unwrap_or_else(PoisonError::into_inner));
    }
    whole
}

/// The passes of all groups that have any.
fn passes(plan: &Plan, aggregator: &Aggregator) -> Option<Passes> {
    let with_passes = plan.groups.iter().filter(|group| group.has_passes());
    let all = with_passes
        .map(|group| aggregator.passes(group.number as usize).clone())
        .reduce(|mut all, passes| {
            all.merge(&passes);
            all
        })?;
    Some(Passes {
        count: all.count(),
        latency: Latency::from(&all),
    })
}

/// How many passes the groups made that keep the time of each.
fn timed_passes(plan: &Plan, aggregator: &Aggregator) -> u64 {
    let timed = plan.groups.iter().filter(|group| group.keeps_pass_times());
    timed
        .map(|group| aggregator.passes(group.number as usize).count())
        .sum()
}

fn statements(shared: &Shared, aggregator: &Aggregator) -> Vec<StatementReport> {
    let program = &shared.plan.program;
    let report = |(number, statement): (usize, &assay_script::Statement)| {
        let times = aggregator.statement(number)?;
        Some(StatementReport {
            transaction: program.scripts[statement.script as usize].name.clone(),
            statement: statement.index_in_script,
            line: statement.line,
            text: statement.text.clone(),
            count: times.count(),
            service_time: Latency::from(times),
        })
    };
    let all = program.statements.iter().enumerate();
    all.filter_map(report).collect()
}

/// For each script, over all groups that run it; empty if answers were not summed.
fn answer_sums(plan: &Plan, by_type: &[AnswerSum]) -> Vec<AnswerSumReport> {
    let scripts = (0u32..).zip(&plan.program.scripts);
    let report = |(number, script): (u32, &assay_script::Script)| {
        let mut sum = AnswerSum::default();
        for kind in plan.types_of(number) {
            sum.merge(&by_type[kind as usize]);
        }
        AnswerSumReport {
            transaction: script.name.clone(),
            transactions: sum.transactions,
            rows: sum.rows,
            digest: format!("{:016x}", sum.digest),
        }
    };
    if plan.sums_answers {
        scripts.map(report).collect()
    } else {
        Vec::new()
    }
}

fn agreements(shared: &Shared, results: &ResultLog, has_digests: bool) -> Vec<ResultReport> {
    let program = &shared.plan.program;
    let report = |(number, agreement): (usize, crate::account::Agreement)| {
        let statement = &program.statements[number];
        ResultReport {
            transaction: program.scripts[statement.script as usize].name.clone(),
            statement: statement.index_in_script,
            rows: agreement.rows,
            digest: has_digests.then(|| format!("{:016x}", agreement.digest)),
            answers: agreement.answers,
            differing: agreement.differing,
            first_difference: agreement.first_difference,
        }
    };
    results.agreements().map(report).collect()
}

/// Empty where answers were not compared; statements that were never answered are left out.
fn answers_to_statements(
    plan: &Plan,
    answers: &[StatementAnswers],
    completed: &[Completed],
) -> Vec<AnswerReport> {
    let report = |(statement, answers): (&Statement, &StatementAnswers)| AnswerReport {
        transaction: plan.program.scripts[statement.script as usize].name.clone(),
        statement: statement.index_in_script,
        line: statement.line,
        text: statement.text.clone(),
        answers: answers.answers,
        rows: answers.rows,
        rows_squared: answers.rows_squared,
        varies: answers.varies,
        first: first(plan, statement, answers, completed),
    };
    let all = plan.program.statements.iter().zip(answers);
    all.filter(|(_, answers)| answers.answers > 0)
        .map(report)
        .collect()
}

/// Up to the stage at which a transaction is missing, in any group that runs the script.
fn first(
    plan: &Plan,
    statement: &Statement,
    answers: &StatementAnswers,
    completed: &[Completed],
) -> Vec<FirstAnswersReport> {
    let runs_it =
        |group: &&crate::drive::plan::group::Group| group.scripts.contains(&statement.script);
    let is_whole = |stage: usize, transactions: u64| {
        plan.groups.iter().filter(runs_it).all(|group| {
            completed[group.number as usize].until(stage) == group.of_first(transactions)
        })
    };
    let clients = (plan.groups.iter().filter(runs_it))
        .map(crate::drive::plan::group::Group::compared_clients)
        .sum();
    stages()
        .take_while(|(stage, transactions)| is_whole(*stage, *transactions))
        .map(|(stage, transactions)| {
            let until = answers.until(stage);
            FirstAnswersReport {
                transactions,
                clients,
                answers: until.answers,
                rows: until.rows,
                digest: format!("{:016x}", until.digest),
                fractions: until.fractions,
                fraction_sum: until.fraction_sum,
            }
        })
        .collect()
}

fn client_end(end: &End, plan: &Plan, began_ns: u64) -> ClientEnd {
    ClientEnd {
        client: end.client,
        group: plan.group_of(end.client).name.clone(),
        elapsed_ns: end.at_ns.saturating_sub(began_ns),
        passes: end.passes,
        transactions: end.transactions,
        state: match end.state {
            EndState::Done => ClientState::Done,
            // The connection is gone in both cases; the errors show which side closed it.
            EndState::Lost | EndState::TimedOut => ClientState::Lost,
            EndState::Failed => ClientState::Failed,
            EndState::Refused => ClientState::Refused,
            EndState::Interrupted => ClientState::Interrupted,
        },
    }
}

fn ended_by(ends: &[End], was_interrupted: bool) -> EndedBy {
    let all = |state| ends.iter().all(|end| end.state == state);
    if ends.iter().any(|end| end.state == EndState::Refused) {
        EndedBy::Refused
    } else if was_interrupted {
        EndedBy::Interrupted
    } else if all(EndState::Lost) {
        EndedBy::Lost
    } else if ends.iter().all(|end| {
        matches!(
            end.state,
            EndState::Lost | EndState::TimedOut | EndState::Failed
        )
    }) {
        EndedBy::AllClientsFailed
    } else {
        EndedBy::Stop
    }
}
