//! The outcomes of all scheduled transactions, in numbers that add up.

use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of a transaction that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It did what the script asks for.
    Ok,
    /// The script asked for a rollback.
    Aborted,
    /// It ended in an error, and its effect is undone.
    Failed,
    /// It ended in an error, and its effect cannot be known.
    Unknown,
}

impl Outcome {
    /// All outcomes, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Aborted, Self::Failed, Self::Unknown];

    /// The word of records and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Aborted => "aborted",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// `scheduled = ok + aborted + failed + unknown + skipped` and
/// `attempts = scheduled − skipped + retries`, asserted at the end of every run.
///
/// In a closed loop a transaction is scheduled when its client starts it, so none is ever skipped. In an open
/// loop it is scheduled when it is due: one that could not start within the latency limit, or that was not
/// started when the run ended, is skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outcomes {
    /// All measured transactions, including arrivals that could not begin.
    pub scheduled: u64,
    /// Transactions that did what their scripts ask for.
    pub ok: u64,
    /// Rolled back by the workload.
    pub aborted: u64,
    /// Not done, or known to be undone; also if the session was lost in an open transaction before its commit
    /// was sent.
    pub failed: u64,
    /// The connection or the wait for the answer ended before the answer arrived.
    pub unknown: u64,
    /// Too late to start.
    pub skipped: u64,
    /// How many `ok` transactions took longer than the latency limit.
    pub late: u64,
    /// Attempts after the first of each transaction.
    pub retries: u64,
    /// First attempts and retries.
    pub attempts: u64,
}

/// The outcomes of one transaction type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransactionOutcomes {
    /// The name of the transaction type.
    pub name: String,
    /// Its outcomes.
    #[serde(flatten)]
    pub outcomes: Outcomes,
}

/// Transactions of one type that began in the warm-up: with the measured ones they are all that may have changed
/// the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WarmUpOutcomes {
    /// The name of the transaction type.
    pub name: String,
    /// Transactions that did what their scripts ask for.
    pub ok: u64,
    /// The connection or the wait for the answer ended before the answer arrived.
    pub unknown: u64,
}

impl Outcomes {
    pub(crate) fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Ok => &mut self.ok,
            Outcome::Aborted => &mut self.aborted,
            Outcome::Failed => &mut self.failed,
            Outcome::Unknown => &mut self.unknown,
        } += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.ok += other.ok;
        self.aborted += other.aborted;
        self.failed += other.failed;
        self.unknown += other.unknown;
        self.skipped += other.skipped;
        self.late += other.late;
        self.retries += other.retries;
        self.attempts += other.attempts;
    }

    /// All transactions that were started and have ended, with any outcome.
    pub fn ended(&self) -> u64 {
        self.ok + self.aborted + self.failed + self.unknown
    }

    /// # Panics
    /// If a transaction was lost or counted twice: an internal error, after which no number of the run is
    /// reliable.
    pub(crate) fn assert_identities(&self) {
        assert!(
            self.scheduled == self.ended() + self.skipped
                && self.attempts == self.ended() + self.retries
                && self.late <= self.ok,
            "internal error: the transaction counts do not add up; please report this: {self:?}"
        );
    }
}

// The errors of a run, by class and code.

/// All errors of one class, code and certainty in one transaction type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorReport {
    /// The error class, the same for all systems.
    pub class: &'static str,
    /// The system's own code.
    pub code: String,
    /// Whether the failed statement is known to be undone.
    pub certainty: Certainty,
    /// The message of the first of them.
    pub message: String,
    /// How many such errors there were.
    pub count: u64,
    /// After how many of these the transaction was retried.
    pub retried: u64,
    /// Null if no transaction was running (while connecting).
    pub transaction: Option<String>,
    /// Since the start of the measurement, 0 if it was before; if nothing was measured, since the start of
    /// the run.
    pub first_at_ns: u64,
}

/// Whether the statement is known to have had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Nothing was changed.
    Undone,
    /// Something may have been changed: the answer to a commit was lost.
    Unknown,
}

impl From<assay_drivers::Certainty> for Certainty {
    fn from(certainty: assay_drivers::Certainty) -> Self {
        match certainty {
            assay_drivers::Certainty::Undone => Self::Undone,
            assay_drivers::Certainty::Unknown => Self::Unknown,
        }
    }
}
