//! The answers to statements, and whether all clients got the same.

use schemars::JsonSchema;
use serde::Serialize;

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
