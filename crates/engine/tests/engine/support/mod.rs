//! Documents, runs of them, and the checks of every observation.

pub mod generated;
pub mod quiet;
pub mod rows;
pub mod scripted;
#[path = "../../../../drivers/tests/drivers/server.rs"]
pub mod server;

use std::fs;
use std::ops::ControlFlow;

use assay_drivers::SystemError;
use assay_engine::{
    DeploymentDocument, DriveDocument, DriveProgress, EngineError, ErrorReport, Interval,
    Observation, Outcomes, Session, drive,
};
use assay_histogram::{EncodedHistogram, merge_encoded};
use serde_json::{Value, json};

use crate::support::server::Server;

/// A deployment of the null system with these options; each `name` is a different deployment.
pub fn null_deployment(name: &str, options: Value) -> Value {
    let mut options = options;
    options["deployment"] = json!(name);
    json!({ "driver": "null", "options": options })
}

pub fn deployed(deployment: &Value) -> DeploymentDocument {
    DeploymentDocument::parse(&deployment.to_string()).unwrap()
}

pub fn session(deployment: &Value) -> Session {
    Session::open(&deployed(deployment)).unwrap()
}

/// The error of a system, and in what it came.
pub fn of_system(error: EngineError) -> (SystemError, String) {
    match error {
        EngineError::System(error, context) => (error, context),
        other => panic!("{other:?}"),
    }
}

impl Server {
    /// The deployment of a PostgreSQL server, through its Unix socket.
    pub fn deployment(&self) -> Value {
        json!({ "driver": "postgresql", "unix": self.socket, "user": "postgres" })
    }

    pub fn session(&self) -> Session {
        session(&self.deployment())
    }

    /// The first cell of the answer's first row.
    pub fn value(&self, statement: &str) -> String {
        let answer = self.session().execute(statement).unwrap();
        String::from_utf8(answer.kept[0][0].as_deref().unwrap().to_vec()).unwrap()
    }
}

/// A drive document with one script for each text, named `A`, `B`, …, and the keys of `more`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "callers write the JSON in place"
)]
pub fn document(deployment: Value, texts: &[&str], more: Value) -> Value {
    let script = |(number, text): (usize, &&str)| {
        let name = char::from(b'A' + u8::try_from(number).unwrap()).to_string();
        json!({ "name": name, "path": format!("{name}.sql"), "text": text })
    };
    let mut document = json!({
        "deployment": deployment,
        "scripts": texts.iter().enumerate().map(script).collect::<Vec<_>>(),
        "order": "sequence",
        "clients": 1,
        "stop": { "passes": 1 },
        "seed": 1,
    });
    for (key, value) in more.as_object().unwrap() {
        document[key] = value.clone();
    }
    document
}

pub fn parsed(document: &Value) -> DriveDocument {
    DriveDocument::parse(&document.to_string()).unwrap()
}

/// Clients begin as soon as all are ready.
pub fn at_once() -> ControlFlow<(), Option<u64>> {
    ControlFlow::Continue(None)
}

/// Runs the document and checks what holds for every observation.
pub fn observe(document: &Value) -> Observation {
    watched(document, |_| ControlFlow::Continue(()))
}

/// Runs [`document`].
pub fn driven(deployment: Value, texts: &[&str], more: Value) -> Observation {
    observe(&self::document(deployment, texts, more))
}

/// As [`observe`]; `progress` may end the run.
pub fn watched(
    document: &Value,
    mut progress: impl FnMut(&DriveProgress) -> ControlFlow<()>,
) -> Observation {
    let observation = drive(&parsed(document), &mut progress, &mut at_once).unwrap();
    check(&observation);
    observation
}

/// As [`observe`], for a run that cannot start.
pub fn refused(document: &Value) -> EngineError {
    drive(
        &parsed(document),
        &mut |_| ControlFlow::Continue(()),
        &mut at_once,
    )
    .unwrap_err()
}

/// The error of an invalid document.
pub fn refused_document(document: &Value) -> String {
    DriveDocument::parse(&document.to_string())
        .unwrap_err()
        .to_string()
}

/// The sums that must hold for every observation.
pub fn check(observation: &Observation) {
    let outcomes = &observation.outcomes;
    let begun = outcomes.scheduled - outcomes.skipped;
    assert_eq!(
        begun,
        outcomes.ok + outcomes.aborted + outcomes.failed + outcomes.unknown
    );
    assert_eq!(outcomes.attempts, begun + outcomes.retries);
    let reports = observation.transactions.iter();
    let of_types: u64 = reports.clone().map(|report| report.count).sum();
    assert_eq!(of_types, begun);
    // Transactions that failed are in no distribution of `ok` transactions.
    let ok: u64 = (reports.filter(|report| report.outcome.word() == "ok"))
        .map(|report| report.count)
        .sum();
    assert_eq!((ok, observation.all_ok.count), (outcomes.ok, outcomes.ok));
    let lines = |count: fn(&Interval) -> u64| observation.intervals.iter().map(count).sum::<u64>();
    assert_eq!(lines(|line| line.ok), outcomes.ok);
    assert_eq!(lines(|line| line.aborted), outcomes.aborted);
    assert_eq!(lines(|line| line.failed), outcomes.failed);
    assert_eq!(lines(|line| line.unknown), outcomes.unknown);
    assert_eq!(lines(|line| line.skipped), outcomes.skipped);
    assert_eq!(lines(|line| line.late), outcomes.late);
    assert_eq!(lines(|line| line.retries), outcomes.retries);
    let of_clients: u64 = observation
        .client_ends
        .iter()
        .map(|end| end.transactions)
        .sum();
    assert_eq!(of_clients, begun);
    assert_eq!(observation.client_ends.len(), observation.clients as usize);
    check_intervals(observation);
    check_groups(observation);
}

/// One interval for each second and group; together they contain every sample exactly.
fn check_intervals(observation: &Observation) {
    let groups = &observation.groups;
    for (place, line) in observation.intervals.iter().enumerate() {
        assert_eq!(line.second, (place / groups.len()) as u64);
        assert_eq!(line.group, groups[place % groups.len()].name);
    }
    let whole = |parts: Vec<&EncodedHistogram>| {
        let parts: Vec<_> = parts.into_iter().cloned().collect();
        EncodedHistogram::from(&merge_encoded(&parts).unwrap())
    };
    let lines = || observation.intervals.iter();
    let latencies = lines().filter_map(|line| line.latency.as_ref()).collect();
    // What was never answered is in no second.
    let answered = EncodedHistogram {
        unanswered: 0,
        ..observation.all_ok.latency.encoded.clone()
    };
    assert_eq!(whole(latencies), answered);
    let lags = lines().filter_map(|line| line.schedule_lag.as_ref());
    let of_types = observation.transactions.iter();
    let of_types = of_types.filter_map(|report| report.schedule_lag.as_deref());
    assert_eq!(whole(lags.collect()), whole(of_types.collect()));
}

/// The results of the groups add up to the totals.
fn check_groups(observation: &Observation) {
    let groups = &observation.groups;
    let sum =
        |of: fn(&Outcomes) -> u64| groups.iter().map(|group| of(&group.outcomes)).sum::<u64>();
    let all = &observation.outcomes;
    assert_eq!(sum(|outcomes| outcomes.scheduled), all.scheduled);
    assert_eq!(sum(|outcomes| outcomes.ok), all.ok);
    assert_eq!(sum(|outcomes| outcomes.attempts), all.attempts);
    let clients: u32 = groups.iter().map(|group| group.clients).sum();
    assert_eq!(clients, observation.clients);
    let of_others = (groups.iter()).filter(|group| group.arrival.kind.word() != "deferred");
    let last_ns = of_others.map(|group| group.elapsed_ns).max();
    assert_eq!(last_ns, Some(observation.elapsed_ns));
    if let [only] = &groups[..] {
        assert_eq!(
            only.outcomes_by_transaction,
            observation.outcomes_by_transaction
        );
        assert_eq!(only.transactions, observation.transactions);
        assert_eq!(only.all_ok, observation.all_ok);
        assert_eq!(only.passes, observation.passes);
    }
}

/// (ok, aborted, failed, unknown)
pub fn outcomes(observation: &Observation) -> (u64, u64, u64, u64) {
    let outcomes = &observation.outcomes;
    (
        outcomes.ok,
        outcomes.aborted,
        outcomes.failed,
        outcomes.unknown,
    )
}

/// The only error of an observation.
pub fn the_error(observation: &Observation) -> &ErrorReport {
    assert_eq!(observation.errors.len(), 1, "{:#?}", observation.errors);
    &observation.errors[0]
}

/// How many clients ended in this state.
pub fn ended(observation: &Observation, state: &str) -> usize {
    observation
        .client_ends
        .iter()
        .filter(|end| end.state.word() == state)
        .count()
}

/// How many transactions of the type ended `ok`.
pub fn ok_count(observation: &Observation, name: &str) -> u64 {
    let is_it = |report: &&assay_engine::TransactionReport| {
        report.name == name && report.outcome.word() == "ok"
    };
    observation
        .transactions
        .iter()
        .find(is_it)
        .map_or(0, |report| report.count)
}

// Takes scripts; returns the values of their transactions, written to a file by a shell program.

pub struct Values {
    folder: tempfile::TempDir,
}

impl Values {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("assay-values-").tempdir();
        Self {
            folder: folder.unwrap(),
        }
    }

    /// A script command that writes these variables (`:a:b`) to the file.
    pub fn write(&self, variables: &str) -> String {
        let file = self.folder.path().join("values");
        let names = variables.replace(':', " :");
        format!("\\shell sh -c 'echo $* >>{}' values{names}", file.display())
    }

    /// All written values, a line for each transaction, sorted.
    pub fn sorted(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("values")).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}
