//! Takes a drive document; returns what all clients share: the compiled scripts, how each statement is sent,
//! and when to stop. Whatever can be decided before the first client starts is decided here.

pub(crate) mod group;
pub(crate) mod route;
pub(crate) mod script_selector;

use std::sync::Arc;

use assay_drivers::{Keep, Request};
use assay_script::{Effect, Need, Options, Program, Source, Statement, StatementKind, Values};
use assay_values::Value;

use crate::EngineError;
use crate::account::{GroupLayout, Layout, TypeLayout};
use crate::clock::nanoseconds;
use crate::document::{DriveDocument, Order, Protocol};
use crate::drive::plan::group::Group;
use crate::session::Deployment;

pub struct Plan {
    pub program: Arc<Program>,
    pub groups: Vec<Group>,
    /// By number: those of the first endpoint, the first group's first, then the same of the next endpoint.
    pub types: Vec<TransactionType>,
    /// At least one.
    pub endpoints: Vec<Endpoint>,
    pub statements: Vec<StatementPlan>,
    /// Statements of all groups that sessions prepare before the run, in the order of the scripts.
    pub to_prepare: Vec<u32>,
    pub duration_ns: Option<u64>,
    pub ramp_up_ns: u64,
    pub warm_up_ns: u64,
    pub drain_ns: u64,
    /// How long a client tries to reconnect after its session was lost; `None`: not at all.
    pub reconnect_ns: Option<u64>,
    pub connects_each: bool,
    pub times_statements: bool,
    /// Whether the answers of all transactions are summed.
    pub sums_answers: bool,
    /// Whether the answers of the first transactions are kept to be compared with those of other runs.
    pub compares_answers: bool,
    pub statement_timeout_ns: Option<u64>,
    pub statement_limit_ns: Option<u64>,
    /// Clients in this process.
    pub clients: u32,
    /// Clients in all processes together.
    pub of_clients: u32,
    pub seed: u64,
    /// Added to the numbers of transactions where scripts use them.
    pub first_transaction: u64,
    pub protocol: Protocol,
}

/// A server that clients use.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub name: String,
    pub is_replica: bool,
}

/// The transactions of one script in one group, at one of the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionType {
    pub group: u32,
    pub script: u32,
}

/// How one statement is sent and what is kept of its answer.
#[derive(Clone, Copy, Debug)]
pub struct StatementPlan {
    pub send_mode: SendMode,
    pub kind: StatementKind,
    pub effect: Effect,
    pub keep: Keep,
    /// Whether it returns or changes rows.
    pub is_of_rows: bool,
    pub has_parameters: bool,
    /// Whether its answers are compared: all its values are constants of the run, so every client should get the same
    /// answer.
    pub is_compared: bool,
}

/// How a statement is sent to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// As text.
    Text,
    /// Parsed, bound and executed each time.
    Direct,
    /// Prepared once, then executed by name.
    Prepared,
    /// As an operation of the driver, such as begin or commit ([`operation`]).
    Operation,
}

impl SendMode {
    /// The same for a statement in a pipeline, which cannot be sent as text with these protocols.
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
    /// If the document is inconsistent, or a script is wrong.
    pub fn new(document: &DriveDocument) -> Result<Self, EngineError> {
        let program = compile(document)?;
        for numbers in &document.shared_numbers {
            program.shared_numbers.go_on(&numbers.reached());
        }
        let hashes_all = document.sum_answers || document.compare_answers;
        let statements: Vec<_> = program
            .statements
            .iter()
            .map(|statement| {
                let kind = statement.kind;
                let has_parameters = statement.parameter_count > 0;
                let is_of_rows = matches!(kind, StatementKind::Rows | StatementKind::Other);
                StatementPlan {
                    send_mode: match (document.protocol, kind) {
                        _ if statement.is_operation => SendMode::Operation,
                        (Protocol::Extended, _) => SendMode::Direct,
                        (Protocol::Prepared, _) if is_prepared(statement) => SendMode::Prepared,
                        (Protocol::Simple | Protocol::Prepared, _) => SendMode::Text,
                    },
                    kind,
                    effect: match statement.effect {
                        Effect::Atomic if is_of_rows && document.leaves_parts => Effect::Partial,
                        effect => effect,
                    },
                    keep: match statement.need {
                        // Where no other run or client is asked the same, a hash of the rows says nothing.
                        Need::Rows if statement.changes_values && !hashes_all => Keep::Ends,
                        Need::Rows => Keep::FirstAndLast,
                        Need::Count if document.sum_answers => Keep::Digest,
                        Need::Count if document.digest && !statement.changes_values => Keep::Digest,
                        Need::Count => Keep::Count,
                    },
                    is_of_rows,
                    has_parameters,
                    is_compared: !statement.changes_values && is_of_rows,
                }
            })
            .collect();
        let to_prepare: Vec<u32> = (0u32..)
            .zip(&statements)
            .filter(|(_, plan)| plan.send_mode == SendMode::Prepared)
            .map(|(id, _)| id)
            .collect();
        let groups = Group::all(document, &program, &to_prepare);
        let types = groups.iter().flat_map(|group| {
            let of_group = |&script| TransactionType {
                group: group.number,
                script,
            };
            group.scripts.iter().map(of_group)
        });
        let endpoints = endpoints(document);
        Ok(Self {
            types: types.collect::<Vec<_>>().repeat(endpoints.len()),
            endpoints,
            clients: groups.iter().map(|group| group.clients).sum(),
            of_clients: groups.iter().map(|group| group.of_clients).sum(),
            groups,
            statements,
            to_prepare,
            duration_ns: document.work.stop.duration_s.map(nanoseconds),
            ramp_up_ns: nanoseconds(document.ramp_up_s),
            warm_up_ns: nanoseconds(document.warm_up_s),
            drain_ns: nanoseconds(document.drain_s),
            reconnect_ns: (document.reconnect.after_loss)
                .then(|| nanoseconds(document.reconnect.timeout_s)),
            connects_each: document.connect_each_transaction,
            times_statements: document.per_statement,
            sums_answers: document.sum_answers,
            compares_answers: document.compare_answers,
            statement_timeout_ns: document.statement_timeout_s.map(nanoseconds),
            statement_limit_ns: document.statement_limit_s.map(nanoseconds),
            seed: document.seed,
            first_transaction: document.first_transaction,
            protocol: document.protocol,
            program: Arc::new(program),
        })
    }

    /// The sessions of all clients in this process.
    pub fn sessions(&self) -> u32 {
        let of_group = |group: &Group| {
            let routes = u32::try_from(group.routes.len()).expect("there are three at most");
            group.clients.saturating_mul(routes)
        };
        let each = self.groups.iter().map(of_group);
        each.fold(0, u32::saturating_add)
    }

    /// How long a client waits for an answer before it acts; the limit of a statement comes first.
    #[inline]
    pub fn longest_wait_ns(&self) -> Option<u64> {
        self.statement_limit_ns.or(self.statement_timeout_ns)
    }

    /// Whether any group is an open loop.
    pub fn has_open_loop(&self) -> bool {
        self.groups.iter().any(Group::is_open_loop)
    }

    /// The group of the client at this place of the process.
    pub fn group_at(&self, place: u32) -> &Group {
        let is_before = |group: &Group| group.first_place <= place;
        let next = self.groups.partition_point(is_before);
        &self.groups[next - 1]
    }

    /// The group of a client by its number among the clients of all groups and processes.
    pub fn group_of(&self, client: u32) -> &Group {
        let found = self.groups.iter().find(|group| group.has_client(client));
        found.expect("every client belongs to a group")
    }

    /// The name of a transaction type's script.
    pub fn type_name(&self, transaction_type: u32) -> &str {
        let script = self.types[transaction_type as usize].script;
        &self.program.scripts[script as usize].name
    }

    /// Whether transactions of this type are due by a schedule.
    pub fn is_open(&self, transaction_type: u32) -> bool {
        self.groups[self.types[transaction_type as usize].group as usize].is_open_loop()
    }

    /// How many types there are of each endpoint.
    pub fn types_at_each(&self) -> u32 {
        u32::try_from(self.types.len() / self.endpoints.len()).expect("types have 32-bit numbers")
    }

    /// The same transaction type at the first endpoint.
    pub fn at_first(&self, transaction_type: u32) -> u32 {
        transaction_type % self.types_at_each()
    }

    /// A transaction type of the first endpoint, and the same ones of the others.
    pub fn at_all_endpoints(&self, transaction_type: u32) -> impl Iterator<Item = u32> {
        let each = self.types_at_each();
        (0u32..)
            .zip(&self.endpoints)
            .map(move |(endpoint, _)| endpoint * each + transaction_type)
    }

    /// The transaction types of one script, in all groups.
    pub fn types_of(&self, script: u32) -> impl Iterator<Item = u32> {
        let all = (0u32..).zip(&self.types);
        all.filter_map(move |(number, one)| (one.script == script).then_some(number))
    }

    /// By the number of the transaction type.
    pub fn type_names(&self) -> Vec<&str> {
        let scripts = &self.program.scripts;
        let names = (self.types.iter()).map(|kind| scripts[kind.script as usize].name.as_str());
        names.collect()
    }

    /// What the aggregators must hold.
    pub fn layout(&self) -> Layout {
        let types = self.types.iter().map(|kind| {
            let group = &self.groups[kind.group as usize];
            TypeLayout {
                group: kind.group,
                is_open_loop: group.is_open_loop(),
                late_beyond_ns: group.latency_limit_ns(),
            }
        });
        let groups = self.groups.iter().map(|group| GroupLayout {
            name: group.name.clone(),
            clients: group.clients,
            client_numbers: group.client_numbers(),
            keeps_pass_times: group.keeps_pass_times(),
        });
        Layout {
            types: types.collect(),
            groups: groups.collect(),
            statements: self.statements.len(),
            compares_answers: self.compares_answers,
        }
    }

    /// All transactions of this process, if that is known beforehand.
    pub fn scheduled(&self) -> Option<u64> {
        if self.duration_ns.is_some() {
            return None;
        }
        self.groups.iter().map(Group::scheduled).sum()
    }

    /// The statement's place in its file, for messages.
    pub fn place(&self, statement: u32) -> String {
        let statement = &self.program.statements[statement as usize];
        let script = &self.program.scripts[statement.script as usize];
        format!("{}:{}:{}", script.path, statement.line, statement.column)
    }
}

fn endpoints(document: &DriveDocument) -> Vec<Endpoint> {
    let Some(deployment) = &document.deployment else {
        return vec![Endpoint {
            name: String::new(),
            is_replica: false,
        }];
    };
    let all = deployment.at_endpoints().into_iter();
    let named = all.map(|endpoint| Endpoint {
        name: endpoint.endpoint_name(),
        is_replica: endpoint.is_replica,
    });
    named.collect()
}

/// Compiles the scripts of a drive document without connecting to a server.
///
/// # Errors
/// If the document is inconsistent, or a script is wrong.
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
    let driver_has_transactions = match &document.deployment {
        Some(deployment) => Deployment::has_transactions(&deployment.driver)?,
        None => true,
    };
    let options = Options {
        variables: &variables,
        identifiers: &document.identifiers,
        begins: &document.begins,
        unknown_statements: &document.unknown_statements,
        lexer: document.lexer.with_style(document.text_style),
        values: match (document.protocol, document.requires_bound_values) {
            (Protocol::Extended | Protocol::Prepared, _) => Values::Bound,
            (Protocol::Simple, false) => Values::Pasted,
            (Protocol::Simple, true) => Values::Refused,
        },
        has_transactions: document.has_transactions && driver_has_transactions,
        is_sequence: document
            .groups()
            .iter()
            .all(|group| group.work.order() == Order::Sequence),
        allow_shell: document.allow_shell,
    };
    let program = assay_script::compile(&sources, &options)?;
    if program.has_deferrals() {
        let groups = document.groups();
        let deferred = groups.iter().find(|group| group.is_deferred());
        program.check_deferrals(|name| {
            deferred.is_some_and(|group| group.scripts.iter().any(|one| one == name))
        })?;
    }
    Ok(program)
}

/// Whether [`Protocol::Prepared`] prepares the statement: it reads or changes rows, or has values.
pub fn is_prepared(statement: &Statement) -> bool {
    !statement.is_operation
        && (statement.kind == StatementKind::Rows || statement.parameter_count > 0)
}

/// The driver operation for a statement of this kind.
pub fn operation(kind: StatementKind) -> Request<'static> {
    match kind {
        StatementKind::Begin => Request::Begin,
        StatementKind::Commit => Request::Commit,
        StatementKind::Rollback | StatementKind::Rows | StatementKind::Other => Request::Rollback,
    }
}
