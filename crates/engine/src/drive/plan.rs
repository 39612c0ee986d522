//! Takes a drive document; gives what all clients share: the compiled scripts, how each statement
//! travels, and when to stop. Everything that can be decided before the first client is decided here.

use std::sync::Arc;

use assay_datagen::Value;
use assay_drivers::Keep;
use assay_script::{Need, Program, Source};

use crate::EngineError;
use crate::document::{DriveDocument, Order, Protocol, StopDocument};

pub struct Plan {
    pub program: Arc<Program>,
    pub order: Order,
    /// For a mix: the weights of the scripts up to and including each.
    pub weights_so_far: Vec<u64>,
    pub statements: Vec<StatementPlan>,
    /// Statements that each session prepares before the run.
    pub to_prepare: Vec<u32>,
    pub stop: StopDocument,
    pub warm_up_ns: u64,
    pub statement_timeout_ns: Option<u64>,
    pub clients: u32,
    pub seed: u64,
}

/// How one statement is sent and what is done with its answer.
#[derive(Clone, Copy, Debug)]
pub struct StatementPlan {
    pub is_prepared: bool,
    pub effect: Effect,
    pub keep: Keep,
    /// Whether its answers are compared: it has no parameters, so that all clients ask the same.
    pub is_compared: bool,
}

/// What a statement does to the transaction of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    None,
    Begins,
    Ends,
}

impl Plan {
    /// # Errors
    /// Where the document asks for what cannot be, or a script is wrong.
    pub fn new(document: &DriveDocument) -> Result<Self, EngineError> {
        let program = compile(document)?;
        let statements: Vec<_> = program
            .statements
            .iter()
            .map(|statement| {
                let effect = Effect::of(&statement.text);
                let has_parameters = statement.parameter_count > 0;
                let wants_prepared = document.protocol == Protocol::Prepared;
                StatementPlan {
                    is_prepared: has_parameters || (wants_prepared && effect == Effect::None),
                    effect,
                    keep: match statement.need {
                        Need::Rows => Keep::Rows,
                        Need::Count if document.digest && !has_parameters => Keep::Digest,
                        Need::Count => Keep::Count,
                    },
                    is_compared: !has_parameters && effect == Effect::None,
                }
            })
            .collect();
        let to_prepare = (0u32..)
            .zip(&statements)
            .filter(|(_, plan)| plan.is_prepared)
            .map(|(id, _)| id)
            .collect();
        let mut sum = 0;
        let weights_so_far = document.scripts.iter().map(|script| {
            sum += u64::from(script.weight);
            sum
        });
        Ok(Self {
            order: document.order,
            weights_so_far: weights_so_far.collect(),
            statements,
            to_prepare,
            stop: document.stop,
            warm_up_ns: nanoseconds(document.warm_up_s),
            statement_timeout_ns: document.statement_timeout_s.map(nanoseconds),
            clients: document.clients,
            seed: document.seed,
            program: Arc::new(program),
        })
    }

    /// All transactions of the run, where that is known beforehand.
    #[must_use]
    pub fn scheduled(&self) -> Option<u64> {
        let scripts = self.program.scripts.len() as u64;
        let of_passes = self
            .stop
            .passes
            .map(|passes| passes.saturating_mul(scripts));
        let of_client = match (of_passes, self.stop.transactions) {
            (Some(one), Some(other)) => one.min(other),
            (one, other) => one.or(other)?,
        };
        self.stop
            .duration_s
            .is_none()
            .then(|| of_client.saturating_mul(self.clients.into()))
    }

    /// The statement's place, for messages.
    #[must_use]
    pub fn place(&self, statement: u32) -> String {
        let statement = &self.program.statements[statement as usize];
        let script = &self.program.scripts[statement.script as usize];
        format!("{}:{}:{}", script.path, statement.line, statement.column)
    }
}

/// Compiles the scripts of a drive document, without touching its site.
///
/// # Errors
/// Where the document asks for what cannot be, or a script is wrong.
pub fn compile(document: &DriveDocument) -> Result<Program, EngineError> {
    document.check()?;
    let sources: Vec<_> = document
        .scripts
        .iter()
        .map(|script| Source {
            name: &script.name,
            path: &script.path,
            text: &script.text,
            is_plain: script.is_plain,
        })
        .collect();
    let variables: Vec<(String, Value)> = document
        .variables
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Ok(assay_script::compile(&sources, &variables)?)
}

impl Effect {
    /// By the statement's first words, as SQL spells them.
    fn of(text: &str) -> Self {
        let mut words = text
            .split_whitespace()
            .map(|word| word.trim_end_matches(';'));
        let first = words.next().unwrap_or_default().to_ascii_lowercase();
        let goes_back_only = words.any(|word| word.eq_ignore_ascii_case("to"));
        match first.as_str() {
            "begin" | "start" => Self::Begins,
            "rollback" | "abort" if !goes_back_only => Self::Ends,
            "commit" | "end" => Self::Ends,
            _ => Self::None,
        }
    }
}

fn nanoseconds(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_savepoint_is_no_end_of_a_transaction() {
        assert_eq!(Effect::of("Start Transaction READ ONLY"), Effect::Begins);
        assert_eq!(Effect::of("begin"), Effect::Begins);
        assert_eq!(Effect::of("ROLLBACK"), Effect::Ends);
        assert_eq!(Effect::of("rollback to savepoint a"), Effect::None);
        assert_eq!(Effect::of("SELECT 'begin'"), Effect::None);
    }
}
