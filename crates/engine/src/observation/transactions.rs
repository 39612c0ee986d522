//! Transactions by type and outcome, passes and statements, with their distributions.

use schemars::JsonSchema;
use serde::Serialize;

use crate::observation::{Latency, Outcome};

/// The transactions of one type with one outcome.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TransactionReport {
    /// The name of the transaction type.
    pub name: String,
    /// The outcome of these transactions.
    pub outcome: Outcome,
    /// How many there were.
    pub count: u64,
    /// How many of them took longer than the limit; only `ok` transactions can be late.
    pub late: u64,
    /// From the intended start to the end, all attempts included.
    pub latency: Latency,
    /// From the actual start to the end, all attempts included.
    pub service_time: Latency,
    /// From the intended start to the actual one; null in a closed loop.
    pub schedule_lag: Option<Latency>,
    /// The one that began before all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstExecution>,
}

/// The first execution of a transaction type, which finds the caches as the measurement began with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FirstExecution {
    /// Since the start of the measurement.
    pub began_ns: u64,
    /// From the intended start to the end, all attempts included.
    pub latency_ns: u64,
}

/// The transactions of all types that ended `ok`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AllOk {
    /// How many there were.
    pub count: u64,
    /// From the intended start to the end, all attempts included.
    pub latency: Latency,
    /// From the actual start to the end, all attempts included.
    pub service_time: Latency,
    /// From the intended start to the actual one; null in a closed loop.
    pub schedule_lag: Option<Latency>,
}

/// One statement of a script.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatementReport {
    /// The name of the transaction type.
    pub transaction: String,
    /// Its number among the statements of its script, from 0.
    pub statement: u32,
    /// The line of its file where it begins, from 1.
    pub line: u32,
    /// Its text, with the names of its values.
    pub text: String,
    /// How often it was answered in measured transactions, failures included.
    pub count: u64,
    /// From sending it to the end of the answer.
    pub service_time: Latency,
}

/// Passes in which every transaction ended `ok`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Passes {
    /// How many there were.
    pub count: u64,
    /// Of whole passes, pauses between their transactions included.
    pub latency: Latency,
}

/// One pass in which every transaction ended `ok`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PassTime {
    /// The number of its client in the whole run.
    pub client: u32,
    /// Since the start of the measurement.
    pub end_ns: u64,
    /// Of the whole pass, pauses between its transactions included.
    pub latency_ns: u64,
}

/// A `\begin` with an isolation level that clients executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BegunLevelReport {
    /// The name of its script.
    pub script: String,
    /// Its number among those of its script, from 0.
    pub number: u32,
    /// As the script names it.
    pub level: String,
}

// The answers to statements, and whether all clients got the same.

/// What all transactions of one type that ended ok were answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerSumReport {
    pub transaction: String,
    pub transactions: u64,
    /// Of all their statements together.
    pub rows: u64,
    /// 16 hexadecimal digits: equal where every transaction got the same rows.
    pub digest: String,
}

/// The answers to one statement, to be compared with those of other runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AnswerReport {
    /// The name of the transaction type.
    pub transaction: String,
    /// Its number among the statements of its script, from 0.
    pub statement: u32,
    /// The line of its file where it begins, from 1.
    pub line: u32,
    /// Its text, with the names of its values.
    pub text: String,
    /// How often it was answered in measured transactions, without error.
    pub answers: u64,
    /// Rows that these returned, or else changed.
    pub rows: u64,
    /// The sum of the squares of the rows of each.
    pub rows_squared: f64,
    /// Whether it has no parameters and two answers were not the same.
    pub varies: bool,
    /// What the first transactions of the first clients were answered, warm-up included, as far as all of them ended ok
    /// at the first attempt: of 1, 2, 4 … 64 of each client.
    pub first: Vec<FirstAnswersReport>,
}

/// What the first transactions of the first clients, or of the list that they share, were answered by one statement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FirstAnswersReport {
    /// Of each client, or of the list.
    pub transactions: u64,
    /// Of how many clients: of each group the first 8; 0: of a list.
    pub clients: u32,
    pub answers: u64,
    pub rows: u64,
    /// 16 hexadecimal digits: equal where every transaction got the same rows, numbers with a fraction aside.
    pub digest: String,
    /// Cells that are numbers with a fraction.
    pub fractions: u64,
    pub fraction_sum: f64,
}

/// How far the answers to one statement agree, over all clients and passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResultReport {
    /// The name of the transaction type.
    pub transaction: String,
    /// Its number among the statements of its script, from 0.
    pub statement: u32,
    /// Of the first answer.
    pub rows: u64,
    /// Of the first answer, 16 hexadecimal digits; null if answers were only counted.
    pub digest: Option<String>,
    /// How often it was answered.
    pub answers: u64,
    /// How many differ from the first.
    pub differing: u64,
    /// What differed first, in words; null where all answers are equal.
    pub first_difference: Option<String>,
}
