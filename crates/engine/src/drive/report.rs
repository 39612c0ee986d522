//! Takes the accounts of all threads; gives one observation, with its identities checked.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

use super::Account;
use super::service;
use super::shared::Shared;
use super::supervisor::Watched;
use crate::account::{
    Aggregator, End, ErrorLog, Outcome, ResultLog, State, TimeSpan, Times, Waits, while_asked,
};
use crate::document::{ArrivalDocument, Order};
use crate::observation::{
    AllOk, Arrival, ClientEnd, Latency, Observation, Outcomes, Passes, Resolution, ResultReport,
    StatementReport, TransactionOutcomes, TransactionReport, Unfinished,
};

/// What the recorders of all threads say together.
#[derive(Default)]
struct Sums {
    /// By script; what the aggregators do not count.
    begun: Vec<Outcomes>,
    statements: u64,
    reconnects: u64,
    given_up: u64,
    cancelled: u64,
    errors: ErrorLog,
    results: ResultLog,
    ends: Vec<End>,
    waits: Waits,
    counters: BTreeMap<&'static str, u64>,
}

/// # Panics
/// Where the outcomes do not add up: a bug of the engine.
pub fn assemble(
    shared: &Shared,
    mut watched: Watched,
    mut accounts: Vec<Account>,
    suspensions: &[TimeSpan],
    threads: usize,
    has_digests: bool,
) -> Observation {
    let plan = &shared.plan;
    let began_ns = watched.schedule.map_or(0, |schedule| schedule.measure_ns);
    let ends = || accounts.iter().flat_map(|(recorder, _)| &recorder.ends);
    let last_ns = ends().map(|end| end.at_ns).max().unwrap_or(0);
    skip_rest(shared, &mut watched, &mut accounts, last_ns);
    let sums = Sums::of(shared, accounts);
    let aggregator = merged(shared);
    let by_transaction = outcomes(shared, &aggregator, &sums.begun);
    let mut all = Outcomes::default();
    for one in &by_transaction {
        one.outcomes.assert_identities();
        all.add(&one.outcomes);
    }
    let mut client_cost = watched.client_cost;
    client_cost.share_out(all.ended());

    let name = |script: u32| plan.program.scripts[script as usize].name.clone();
    let has_passes = plan.order == Order::Sequence && !plan.is_open_loop();
    let ends = &sums.ends;
    let measured = (began_ns, last_ns);
    let stop_ns = watched
        .schedule
        .map_or(u64::MAX, |schedule| schedule.stop_ns);
    let (mut intervals, gaps) = watched.series.finish(last_ns.saturating_sub(began_ns));
    let gaps = while_asked(gaps, stop_ns.saturating_sub(began_ns));
    let stood_still = (&*gaps, suspensions);
    let (stalls, suspensions) =
        service::standstills(shared, &aggregator, sums.waits, stood_still, measured);
    service::mark(&mut intervals, &stalls, &suspensions);
    Observation {
        started_unix_ns: watched.started_unix_ns,
        elapsed_ns: last_ns.saturating_sub(began_ns),
        drained_ns: last_ns.saturating_sub(stop_ns),
        connect_ns: watched.connect_ns,
        clients: plan.clients,
        threads: u32::try_from(threads).unwrap_or(u32::MAX),
        arrival: arrival(plan.arrival),
        resolution: Resolution::OF_HISTOGRAMS,
        outcomes: all,
        outcomes_by_transaction: by_transaction,
        transactions: transactions(shared, &aggregator),
        all_ok: all_ok(shared, &aggregator),
        passes: has_passes.then(|| Passes {
            count: aggregator.passes().count(),
            latency: Latency::from(aggregator.passes()),
        }),
        statements: sums.statements,
        per_statement: statements(shared, &aggregator),
        intervals,
        errors: sums.errors.report(name, began_ns),
        ended_by: ended_by(ends, watched.was_interrupted),
        client_ends: ends.iter().map(|end| client_end(end, began_ns)).collect(),
        transactions_per_client: service::per_client(ends),
        in_flight: service::in_flight(ends),
        carried_over: service::carried_over(ends),
        littles_law: service::littles_law(shared, &aggregator, ends, measured),
        stalls,
        suspensions,
        reconnects: sums.reconnects,
        outages: shared.outages().finish(began_ns, last_ns),
        results: agreements(shared, &sums.results, has_digests),
        client_cost,
        driver_counters: sums.counters,
        unfinished: (sums.given_up > 0).then(|| Unfinished {
            transactions: sums.given_up,
            cancelled: sums.cancelled,
            limit_s: Duration::from_nanos(plan.drain_ns).as_secs_f64(),
        }),
    }
}

/// Skips what was due before the last client ended, and nobody has begun.
fn skip_rest(shared: &Shared, watched: &mut Watched, accounts: &mut [Account], last_ns: u64) {
    let Some(schedule) = watched.schedule else {
        return;
    };
    for (recorder, arrivals) in accounts.iter_mut() {
        if let Some(arrivals) = arrivals {
            arrivals.skip_until(last_ns, &shared.plan, recorder);
        }
    }
    let rest = &mut *shared.arrivals(schedule);
    if let (Some(arrivals), Some((recorder, None))) = (rest, accounts.first_mut()) {
        arrivals.skip_until(last_ns, &shared.plan, recorder);
    }
    shared.flush_buffers(schedule.measure_ns);
    for aggregator in &shared.aggregators {
        aggregator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .close_seconds(u64::MAX, &mut watched.series);
    }
}

impl Sums {
    fn of(shared: &Shared, accounts: Vec<Account>) -> Self {
        let plan = &shared.plan;
        let mut sums = Self {
            begun: vec![Outcomes::default(); plan.program.scripts.len()],
            results: ResultLog::new(plan.statements.len()),
            waits: Waits::new(plan.program.scripts.len()),
            ..Self::default()
        };
        for (recorder, _) in accounts {
            for (script, begun) in sums.begun.iter_mut().enumerate() {
                begun.scheduled += recorder.scheduled[script];
                begun.attempts += recorder.attempts[script];
            }
            sums.statements += recorder.statements;
            sums.reconnects += recorder.reconnects;
            sums.given_up += recorder.given_up;
            sums.cancelled += recorder.cancelled;
            sums.errors.merge(recorder.errors);
            sums.results.merge(&recorder.results);
            sums.ends.extend(recorder.ends);
            sums.waits.merge(recorder.waits);
            for (name, count) in recorder.counters {
                *sums.counters.entry(name).or_default() += count;
            }
        }
        sums.ends.sort_by_key(|end| end.client);
        sums
    }
}

fn merged(shared: &Shared) -> Aggregator {
    let mut whole = Aggregator::new(shared.plan.layout());
    for aggregator in &shared.aggregators {
        whole.merge(&aggregator.lock().unwrap_or_else(PoisonError::into_inner));
    }
    whole
}

fn arrival(arrival: ArrivalDocument) -> Arrival {
    Arrival {
        kind: match arrival {
            ArrivalDocument::Closed => "closed",
            ArrivalDocument::Constant { .. } => "constant",
            ArrivalDocument::Poisson { .. } => "poisson",
        },
        offered_rate_per_s: arrival.offered_rate_per_s(),
    }
}

fn outcomes(
    shared: &Shared,
    aggregator: &Aggregator,
    begun: &[Outcomes],
) -> Vec<TransactionOutcomes> {
    let scripts = shared.plan.program.scripts.iter().enumerate();
    scripts
        .map(|(number, script)| {
            let mut outcomes = aggregator.outcomes_of(number);
            outcomes.add(&begun[number]);
            let name = script.name.clone();
            TransactionOutcomes { name, outcomes }
        })
        .collect()
}

fn transactions(shared: &Shared, aggregator: &Aggregator) -> Vec<TransactionReport> {
    let mut reports = Vec::new();
    for (number, script) in shared.plan.program.scripts.iter().enumerate() {
        for outcome in Outcome::ALL {
            if let Some(times) = aggregator.times(number, outcome) {
                let is_ok = outcome == Outcome::Ok;
                reports.push(TransactionReport {
                    name: script.name.clone(),
                    outcome: outcome.word(),
                    count: times.count(),
                    late: u64::from(is_ok) * aggregator.outcomes_of(number).late,
                    latency: Latency::from(times.response()),
                    service_time: Latency::from(times.service()),
                    schedule_lag: times.lag().map(Latency::from),
                });
            }
        }
    }
    reports
}

fn all_ok(shared: &Shared, aggregator: &Aggregator) -> AllOk {
    let mut all = Times::new(shared.plan.is_open_loop());
    for script in 0..shared.plan.program.scripts.len() {
        if let Some(times) = aggregator.times(script, Outcome::Ok) {
            all.merge(times);
        }
    }
    AllOk {
        count: all.count(),
        latency: Latency::from(all.response()),
        service_time: Latency::from(all.service()),
        schedule_lag: all.lag().map(Latency::from),
    }
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

fn client_end(end: &End, began_ns: u64) -> ClientEnd {
    ClientEnd {
        client: end.client,
        elapsed_ns: end.at_ns.saturating_sub(began_ns),
        passes: end.passes,
        transactions: end.transactions,
        state: match end.state {
            State::Done => "done",
            // Its connection is gone either way; the errors say who ended it.
            State::Lost | State::TimedOut => "lost",
            State::Failed => "failed",
            State::Refused => "refused",
            State::Interrupted => "interrupted",
        },
    }
}

fn ended_by(ends: &[End], was_interrupted: bool) -> &'static str {
    let all = |state| ends.iter().all(|end| end.state == state);
    if ends.iter().any(|end| end.state == State::Refused) {
        "refused"
    } else if was_interrupted {
        "interrupted"
    } else if all(State::Lost) {
        "lost"
    } else if ends
        .iter()
        .all(|end| matches!(end.state, State::Lost | State::TimedOut | State::Failed))
    {
        "all clients failed"
    } else {
        "stop"
    }
}
