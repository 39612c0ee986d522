//! Takes the answers to statements; holds what is counted for each statement, for one thread or for several.
//!
//! A driver that blocks has a thread for each client. A thousand of them with ten thousand statements would need
//! gigabytes, so where there are more threads than processors, there is a log for each processor.

use std::sync::{Arc, Mutex, PoisonError};

use crate::account::{Layout, ResultLog, StatementAnswers};

/// What is counted, by statement.
#[derive(Debug, Default)]
pub struct StatementLog {
    pub results: ResultLog,
    /// Where answers are compared with those of other runs; otherwise empty.
    pub answers: Vec<StatementAnswers>,
}

/// A log that other threads may use too.
pub type SharedLog = Arc<Mutex<StatementLog>>;

/// The log that a thread writes to.
#[derive(Debug)]
pub enum ThreadStatements {
    Own(StatementLog),
    Shared(SharedLog),
}

impl StatementLog {
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        Self {
            results: ResultLog::new(layout.statements),
            answers: match layout.compares_answers {
                true => vec![StatementAnswers::default(); layout.statements],
                false => Vec::new(),
            },
        }
    }

    /// Adds the counts of a log of the same layout.
    pub fn merge(&mut self, other: &Self) {
        self.results.merge(&other.results);
        for (sum, added) in self.answers.iter_mut().zip(&other.answers) {
            sum.merge(added);
        }
    }
}

impl ThreadStatements {
    #[inline]
    pub fn with(&mut self, act: impl FnOnce(&mut StatementLog)) {
        match self {
            Self::Own(log) => act(log),
            Self::Shared(log) => act(&mut log.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}
