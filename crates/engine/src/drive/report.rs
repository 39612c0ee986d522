//! Takes the accounts of all threads; gives one observation, with its identity checked.

use std::sync::PoisonError;

use super::shared::Shared;
use super::supervisor::Watched;
use crate::account::{Book, End, ErrorLog, Ledger, Outcome, ResultLog, State};
use crate::document::Order;
use crate::observation::{
    ClientEnd, Observation, Outcomes, Passes, ResponseTime, ResultReport, TransactionReport,
};

/// # Panics
/// Where the outcomes do not add up: a bug of the engine.
pub fn assemble(
    shared: &Shared,
    watched: Watched,
    ledgers: Vec<Ledger>,
    threads: usize,
    has_digests: bool,
) -> Observation {
    let plan = &shared.plan;
    let began_ns = watched.schedule.map_or(0, |schedule| schedule.measure_ns);
    let mut errors = ErrorLog::default();
    let mut results = ResultLog::new(plan.statements.len());
    let mut ends: Vec<End> = Vec::with_capacity(plan.clients as usize);
    let mut scheduled = 0;
    for ledger in ledgers {
        scheduled += ledger.scheduled;
        errors.merge(ledger.errors);
        results.merge(&ledger.results);
        ends.extend(ledger.ends);
    }
    ends.sort_by_key(|end| end.client);
    let book = merged(shared);
    let outcomes = Outcomes {
        scheduled,
        ..book.outcomes()
    };
    outcomes.assert_identity();

    let last_ns = ends.iter().map(|end| end.at_ns).max().unwrap_or(0);
    let name = |script: u32| plan.program.scripts[script as usize].name.clone();
    Observation {
        started_unix_ns: watched.started_unix_ns,
        elapsed_ns: last_ns.saturating_sub(began_ns),
        connect_ns: watched.connect_ns,
        clients: plan.clients,
        threads: u32::try_from(threads).unwrap_or(u32::MAX),
        outcomes,
        transactions: transactions(shared, &book),
        passes: (plan.order == Order::Sequence).then(|| Passes {
            count: book.passes().count(),
            response_time: ResponseTime::from(book.passes()),
        }),
        intervals: watched.series.finish(),
        errors: errors.report(name, began_ns),
        ended_by: ended_by(&ends, watched.was_interrupted),
        client_ends: ends.iter().map(|end| client_end(end, began_ns)).collect(),
        results: agreements(shared, &results, has_digests),
        client_cost: watched.client_cost,
    }
}

fn merged(shared: &Shared) -> Book {
    let mut whole = Book::new(shared.plan.program.scripts.len());
    for book in &shared.books {
        whole.merge(&book.lock().unwrap_or_else(PoisonError::into_inner));
    }
    whole
}

fn transactions(shared: &Shared, book: &Book) -> Vec<TransactionReport> {
    let mut reports = Vec::new();
    for (number, script) in shared.plan.program.scripts.iter().enumerate() {
        for outcome in Outcome::ALL {
            if let Some(times) = book.transactions(number, outcome) {
                reports.push(TransactionReport {
                    name: script.name.clone(),
                    outcome: outcome.word(),
                    count: times.count(),
                    response_time: ResponseTime::from(times),
                });
            }
        }
    }
    reports
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
        .all(|end| matches!(end.state, State::Lost | State::TimedOut))
    {
        "all clients failed"
    } else {
        "stop"
    }
}
