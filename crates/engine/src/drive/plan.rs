//! Takes a drive document; gives what all clients share: the compiled scripts, how each statement
//! travels, and when to stop. Everything that can be decided before the first client is decided here.

use std::sync::Arc;

use assay_drivers::Keep;
use assay_script::{Need, Options, Program, ScriptError, Source, StatementKind, Values};
use assay_values::{Distribution, Value};

use crate::EngineError;
use crate::account::Layout;
use crate::document::{ArrivalDocument, DriveDocument, Order, Protocol, StopDocument};
use crate::session::Site;

pub struct Plan {
    pub program: Arc<Program>,
    pub order: Order,
    /// For a mix: the weights of the scripts up to and including each.
    pub weights_so_far: Vec<i64>,
    pub statements: Vec<StatementPlan>,
    /// Statements that each session prepares before the run, in the order of the scripts.
    pub to_prepare: Vec<u32>,
    pub stop: StopDocument,
    pub arrival: ArrivalDocument,
    pub think_time: Option<Distribution>,
    pub keying_time: Option<Distribution>,
    pub ramp_up_ns: u64,
    pub warm_up_ns: u64,
    pub drain_ns: u64,
    pub latency_limit_ns: Option<u64>,
    pub most_retries: u32,
    /// Words of the error classes after which a transaction is tried again.
    pub retried_classes: Vec<&'static str>,
    /// For how long a client tries to come back after its session was lost; none: not at all.
    pub reconnect_ns: Option<u64>,
    pub connects_each: bool,
    pub times_statements: bool,
    pub statement_timeout_ns: Option<u64>,
    pub clients: u32,
    pub seed: u64,
    pub protocol: Protocol,
}

/// How one statement is sent and what is done with its answer.
#[derive(Clone, Copy, Debug)]
pub struct StatementPlan {
    pub travel: Travel,
    pub kind: StatementKind,
    pub keep: Keep,
    /// Whether its answers are compared: it has no parameters, so that all clients ask the same.
    pub is_compared: bool,
}

/// How a statement gets to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Travel {
    /// As text.
    Text,
    /// Compiled, bound and executed each time.
    Direct,
    /// By the name under which it was prepared.
    Prepared,
    /// The driver begins a transaction.
    Begin,
    /// The driver commits.
    Commit,
}

impl Travel {
    /// Of a statement in a pipeline, where a text is no statement by itself.
    #[must_use]
    pub fn in_pipeline(self, protocol: Protocol) -> Self {
        match (self, protocol) {
            (Self::Text, Protocol::Extended | Protocol::Prepared) => Self::Direct,
            _ => self,
        }
    }
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
                let kind = statement.kind;
                let has_parameters = statement.parameter_count > 0;
                let is_of_rows = matches!(kind, StatementKind::Rows | StatementKind::Other);
                StatementPlan {
                    travel: match (document.protocol, kind) {
                        (_, StatementKind::Begin) if statement.is_operation => Travel::Begin,
                        _ if statement.is_operation => Travel::Commit,
                        (Protocol::Extended, _) => Travel::Direct,
                        (Protocol::Prepared, StatementKind::Rows) => Travel::Prepared,
                        (Protocol::Prepared, _) if has_parameters => Travel::Prepared,
                        (Protocol::Simple | Protocol::Prepared, _) => Travel::Text,
                    },
                    kind,
                    keep: match statement.need {
                        Need::Rows => Keep::Rows,
                        Need::Count if document.digest && !has_parameters => Keep::Digest,
                        Need::Count => Keep::Count,
                    },
                    is_compared: !has_parameters && is_of_rows,
                }
            })
            .collect();
        let to_prepare = (0u32..)
            .zip(&statements)
            .filter(|(_, plan)| plan.travel == Travel::Prepared)
            .map(|(id, _)| id)
            .collect();
        let mut sum = 0;
        let weights_so_far = document.scripts.iter().map(|script| {
            sum += i64::from(script.weight);
            sum
        });
        Ok(Self {
            order: document.order,
            weights_so_far: weights_so_far.collect(),
            statements,
            to_prepare,
            stop: document.stop,
            arrival: document.arrival,
            think_time: document.think_time,
            keying_time: document.keying_time,
            ramp_up_ns: nanoseconds(document.ramp_up_s),
            warm_up_ns: nanoseconds(document.warm_up_s),
            drain_ns: nanoseconds(document.drain_s),
            latency_limit_ns: document.latency_limit_s.map(nanoseconds),
            most_retries: document.retries.most,
            retried_classes: (document.retries.classes.iter())
                .map(|class| class.word())
                .collect(),
            reconnect_ns: (document.reconnect.after_loss)
                .then(|| nanoseconds(document.reconnect.patience_s)),
            connects_each: document.connect_each_transaction,
            times_statements: document.per_statement,
            statement_timeout_ns: document.statement_timeout_s.map(nanoseconds),
            clients: document.clients,
            seed: document.seed,
            protocol: document.protocol,
            program: Arc::new(program),
        })
    }

    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.arrival != ArrivalDocument::Closed
    }

    /// What of [`Plan::to_prepare`] one script needs.
    #[must_use]
    pub fn to_prepare_for(&self, script: u32) -> &[u32] {
        let ids = &self.program.scripts[script as usize].statement_ids;
        let from = self.to_prepare.partition_point(|id| *id < ids.start);
        let to = self.to_prepare.partition_point(|id| *id < ids.end);
        &self.to_prepare[from..to]
    }

    /// How aggregators are to be kept.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout {
            scripts: self.program.scripts.len(),
            statements: self.statements.len(),
            is_open_loop: self.is_open_loop(),
            late_beyond_ns: self.latency_limit_ns.unwrap_or(u64::MAX),
        }
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
    let options = Options {
        variables: &variables,
        identifiers: &document.identifiers,
        begins: &document.begins,
        unknown_statements: &document.unknown_statements,
        lexer: document.lexer,
        values: match (document.protocol, document.requires_bound_values) {
            (Protocol::Extended | Protocol::Prepared, _) => Values::Bound,
            (Protocol::Simple, false) => Values::Pasted,
            (Protocol::Simple, true) => Values::Refused,
        },
        allow_shell: document.allow_shell,
    };
    let program = assay_script::compile(&sources, &options)?;
    match &document.site {
        Some(site) if !Site::has_transactions(&site.driver)? => without_transactions(program),
        _ => Ok(program),
    }
}

/// The program, unless a script begins or ends a transaction.
fn without_transactions(program: Program) -> Result<Program, EngineError> {
    let is_of_transaction = |kind| !matches!(kind, StatementKind::Rows | StatementKind::Other);
    let found = (program.statements.iter()).find(|statement| is_of_transaction(statement.kind));
    match found {
        None => Ok(program),
        Some(statement) => Err(EngineError::Script(ScriptError {
            path: program.scripts[statement.script as usize].path.clone(),
            line: statement.line,
            column: statement.column,
            message: format!("found {}: this system has no transactions", statement.text),
            hint: Some("leave it out: each statement stands for itself there".to_owned()),
        })),
    }
}

fn nanoseconds(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
