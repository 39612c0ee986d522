//! One client: takes answers, arrivals and the time; returns what to do next. Both executors drive it the
//! same way; it touches no socket and reads no clock.
//! `transitions` has its phases, `outcome` what its transactions become, `connection` what it does without a session.

pub(crate) mod answers;
pub(crate) mod connection;
pub(crate) mod outcome;
pub(crate) mod permanent_failures;
pub(crate) mod prepared_again;
pub(crate) mod session_transaction;
pub(crate) mod state;
pub(crate) mod tally;
pub(crate) mod transitions;

use assay_drivers::{ErrorClass, Keep, Request, SystemError};
use assay_script::{Effect, Ending, Machine, ShellCommand, ShellResult, StatementKind, Step};
use assay_values::{Random, Value};

use crate::account::{EndState, ThreadRecorder};
use crate::drive::client::state::ClientState;
use crate::drive::client::transitions::{
    AfterScript, BeforeScript, Phase, Queued, Transaction, TransactionStep,
};
use crate::drive::pace::arrivals::Arrival;
use crate::drive::pace::schedule::Schedule;
use crate::drive::plan::{SendMode, operation};
use crate::drive::shared::Shared;

/// What a client needs next.
pub enum Next<'a> {
    /// Send this, then pass the answer to [`Client::answered`].
    Request { request: Request<'a>, keep: Keep },
    /// Add this to the session's pipeline, then call [`Client::queued`].
    Queue { request: Request<'a> },
    /// Send the pipeline, pass each answer to [`Client::answered`], then call [`Client::synced`].
    Sync { keep: Keep },
    /// Wait until this instant, then call [`Client::woken`].
    Pause { until_ns: u64 },
    /// Run this command, then call [`Client::ran`].
    Run { command: ShellCommand },
    /// Open a session, then call [`Client::connected`] or [`Client::not_connected`].
    Connect,
    /// Use the session of this route for what follows, then call [`Client::next`].
    Route { route: usize },
    /// Wait for the next arrival, then call [`Client::arrive`]; if there is none, [`Client::finish`].
    Arrival,
    /// A transaction has ended: call [`Client::next`] again.
    Ended,
    /// The script has made progress without a request: call [`Client::next`] again.
    Again,
    /// A command of the script was ended because the run no longer waits for it: call [`Client::abandoned`].
    Abandoned,
    /// The session could not be rolled back and must not be used again: close it, then call [`Client::lost`].
    Unusable { error: Box<SystemError> },
    /// The client has finished; its end is in the recorder.
    Done,
}

/// What to do with a client that has no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLoss {
    /// The client has ended.
    Ended,
    /// Call [`Client::next`].
    GoOn,
    /// Wait until this instant, then call [`Client::woken`].
    Pause { until_ns: u64 },
}

#[repr(C)]
pub struct Client<'a> {
    pub(super) state: ClientState<'a>,
    pub(super) machine: Machine,
}

impl<'a> Client<'a> {
    pub fn new(shared: &'a Shared, schedule: Schedule, place: u32) -> Self {
        let plan = &shared.plan;
        let state = ClientState::new(shared, schedule, place);
        let mut machine = Machine::new(plan.program.clone(), plan.seed, state.number);
        machine.keep_start(state.group.work.retries.most > 0);
        machine.count_from(plan.first_transaction);
        Self { state, machine }
    }

    /// The client starts with an open session.
    pub fn begins_with(&mut self, pipelines: bool) {
        self.state.pipelines = pipelines;
    }

    /// Whether the client waits for an answer.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.state
            .transaction()
            .is_some_and(Transaction::is_waiting)
    }

    /// The request goes to the server now: from here on it is the server's time.
    #[inline]
    pub fn sent(&mut self, now_ns: u64) {
        if let Phase::InTransaction(transaction) = &mut self.state.phase {
            transaction.sent_ns = now_ns;
        }
    }

    /// Whether the client waits for an arrival.
    pub fn is_idle(&self) -> bool {
        matches!(self.state.phase, Phase::Idle)
    }

    /// The statements to prepare in the current session of this client: those of its route, or of the single
    /// transaction that the session is for.
    pub fn to_prepare(&self) -> &'a [u32] {
        let ClientState { plan, group, .. } = self.state;
        match &self.state.phase {
            Phase::InTransaction(transaction)
                if transaction.step() == TransactionStep::Connecting =>
            {
                group.to_prepare_for(&plan.program, transaction.script.script)
            }
            _ => &group.routes[self.state.route as usize].to_prepare,
        }
    }

    /// The index of the endpoint of its current session.
    pub fn endpoint(&self) -> usize {
        self.state.endpoint() as usize
    }

    /// The index of the endpoint of its session for this route.
    pub fn endpoint_of(&self, route: usize) -> usize {
        let ClientState { group, number, .. } = self.state;
        group.routes[route].endpoint_of(number) as usize
    }

    /// The number of its group.
    pub fn group(&self) -> usize {
        self.state.group.number as usize
    }

    /// Starts the script.
    pub(super) fn begin_script(&mut self) {
        let Some(transaction) = self.state.transaction() else {
            return;
        };
        let script = transaction.script.script;
        match transaction.number {
            None => self.machine.begin(script),
            Some(number) => {
                let random = Random::stream(self.state.group.values_seed, number);
                let queue = self.state.shared.deferred.as_ref();
                let queue = queue.filter(|_| self.state.group.is_deferred());
                match queue.and_then(|queue| queue.take(number)) {
                    Some(deferred) => self.machine.begin_deferred(&deferred, random, number),
                    None => self.machine.begin_numbered(script, random, number),
                }
            }
        }
    }

    /// Continues at `now_ns` until the client needs something from the executor. The values of a statement are bound in
    /// `values`, which all clients of a thread share.
    #[inline]
    pub fn next<'n>(
        &'n mut self,
        now_ns: u64,
        recorder: &mut ThreadRecorder,
        values: &'n mut Vec<Value>,
    ) -> Next<'n> {
        match &mut self.state.phase {
            Phase::InTransaction(transaction) => match transaction.step() {
                TransactionStep::Running => {}
                TransactionStep::Retrying => {
                    self.machine.rewind();
                    transaction.goes_on();
                }
                TransactionStep::Delivering => self.deliver(),
                TransactionStep::Closed { then } => {
                    return self.state.close_attempt(then, now_ns, recorder);
                }
                TransactionStep::Unprepared {
                    statement,
                    is_pipelined,
                } => {
                    transaction.prepares(statement, is_pipelined);
                    return self.state.preparation_of(statement);
                }
                TransactionStep::Prepared {
                    statement,
                    is_pipelined,
                } => {
                    let keep = self.state.executes_again(statement, is_pipelined);
                    let parameters = self.machine.bound_again(statement, values);
                    return Next::Request {
                        request: Request::Execute {
                            id: statement,
                            parameters,
                        },
                        keep,
                    };
                }
                TransactionStep::RollingBack { .. } => {
                    let error = transaction.error.take();
                    return Next::Unusable {
                        error: Box::new(error.unwrap_or_else(not_rolled_back)),
                    };
                }
                TransactionStep::Queueing { .. } => {
                    self.machine.queued();
                    transaction.goes_on();
                }
                TransactionStep::Connecting => return Next::Connect,
                TransactionStep::Routing => {
                    transaction.goes_on();
                    let route = self.state.route as usize;
                    return Next::Route { route };
                }
                step => unreachable!("a client that is {step:?} cannot take a next step"),
            },
            _ => match self.state.before(now_ns, recorder) {
                BeforeScript::Begin => {
                    self.begin_script();
                    if self.state.group.routes.len() > 1 {
                        return Next::Again;
                    }
                }
                BeforeScript::Pause { until_ns } => return Next::Pause { until_ns },
                BeforeScript::Connect => return Next::Connect,
                BeforeScript::Arrival => return Next::Arrival,
                BeforeScript::Done => return Next::Done,
            },
        }
        self.step(now_ns, recorder, values)
    }

    /// Continues the script of the current transaction.
    #[inline]
    fn step<'n>(
        &'n mut self,
        now_ns: u64,
        recorder: &mut ThreadRecorder,
        values: &'n mut Vec<Value>,
    ) -> Next<'n> {
        let state = &mut self.state;
        let Phase::InTransaction(transaction) = &mut state.phase else {
            unreachable!("a script runs in a transaction")
        };
        match self.machine.step_with(values) {
            Step::Execute {
                statement,
                parameters,
                text,
                is_pipelined,
            } => {
                let how = &state.plan.statements[statement as usize];
                let send_mode = match is_pipelined {
                    true => how.send_mode.in_pipeline(state.plan.protocol),
                    false => how.send_mode,
                };
                let request = match send_mode {
                    SendMode::Text => Request::Text(text),
                    SendMode::Operation => operation(how.kind),
                    SendMode::Prepared => Request::Execute {
                        id: statement,
                        parameters,
                    },
                    SendMode::Direct => Request::Direct {
                        pieces: &state.plan.program.statements[statement as usize].pieces,
                        parameters,
                    },
                };
                if is_pipelined && state.pipelines {
                    transaction.queues(statement);
                    return Next::Queue { request };
                }
                if is_pipelined
                    && state
                        .pipeline
                        .last()
                        .is_some_and(|last| last.error.is_some())
                {
                    // As a server does with the rest of a pipeline after an error.
                    transaction.queues(statement);
                    return Next::Again;
                }
                transaction.waits_for(statement, is_pipelined);
                transaction.has_executed = true;
                transaction.is_second_execution = false;
                state.session.sent(how.kind, how.effect);
                transaction.sent_ns = now_ns;
                Next::Request {
                    request,
                    keep: transaction.keep(how.keep),
                }
            }
            Step::Sync => {
                let has_error = |queued: &Queued| queued.error.is_some();
                if !state.pipelines || state.pipeline.iter().any(has_error) {
                    transaction.delivers();
                    return Next::Again;
                }
                transaction.syncs(0);
                transaction.has_executed = true;
                // Even with other statements in it: the end of a pipeline commits those outside a transaction
                // block.
                state.session.sent(StatementKind::Other, Effect::Atomic);
                transaction.sent_ns = now_ns;
                Next::Sync {
                    keep: state.keep_in_pipeline(0),
                }
            }
            Step::Sleep {
                duration_ns,
                is_part_of_latency,
            } => {
                transaction.pauses(now_ns, is_part_of_latency);
                Next::Pause {
                    until_ns: now_ns.saturating_add(duration_ns),
                }
            }
            Step::Run(command) => {
                transaction.runs_command();
                Next::Run { command }
            }
            Step::Defer(deferred) => {
                state.defer(deferred, now_ns);
                Next::Again
            }
            Step::End(Ending::Failed { .. }) if state.plan.program.children.is_ended() => {
                Next::Abandoned
            }
            Step::End(ending) => {
                let then = state.judge(state.closed(ending), now_ns, recorder);
                state.end_attempt(then, now_ns, recorder)
            }
            Step::RollBack => state.end_attempt(AfterScript::Rest, now_ns, recorder),
        }
    }

    /// Whether a command of its script runs.
    pub fn is_in_command(&self) -> bool {
        let is_in_command = |one: &Transaction| one.step() == TransactionStep::InCommand;
        self.state.transaction().is_some_and(is_in_command)
    }

    /// The command of its script has ended.
    pub fn ran(&mut self, result: ShellResult) {
        if let Phase::InTransaction(transaction) = &mut self.state.phase {
            self.machine.ran(result);
            transaction.goes_on();
        }
    }

    /// Whether a pipeline was sent: its end is reported separately.
    #[inline]
    pub fn is_syncing(&self) -> bool {
        let is_syncing = |one: &Transaction| matches!(one.step(), TransactionStep::Syncing { .. });
        self.state.transaction().is_some_and(is_syncing)
    }

    /// Starts the arrival that the client waited for.
    #[inline]
    pub fn arrive(&mut self, arrival: Arrival, now_ns: u64, recorder: &mut ThreadRecorder) {
        self.state.arrive(arrival, now_ns, recorder);
        if !self.state.plan.connects_each {
            self.begin_script();
        }
    }

    /// There is no further arrival.
    pub fn finish(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        self.state.end(now_ns, EndState::Done, recorder);
    }

    /// The pause is over.
    pub fn woken(&mut self, now_ns: u64) {
        self.state.resume(now_ns);
    }

    /// The run is stopping: ends a pause that is not part of a latency, since nothing after it would be
    /// measured. A transaction that has not executed anything yet counts as never started.
    pub fn cut_pause(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) -> bool {
        match &self.state.phase {
            Phase::InTransaction(transaction) => match transaction.step() {
                TransactionStep::Paused {
                    is_inside: false, ..
                } if transaction.has_executed => {
                    self.state.resume(now_ns);
                }
                TransactionStep::Paused {
                    is_inside: false, ..
                } => self.state.retract(recorder),
                _ => return false,
            },
            Phase::Thinking { .. } | Phase::RetryPause => self.state.resume(now_ns),
            Phase::Idle | Phase::Reconnecting { .. } => {}
            Phase::Between | Phase::Ready | Phase::Ended => return false,
        }
        true
    }
}

impl<'a> ClientState<'a> {
    /// The script has ended, or makes only pauses now: rolls back what is left open, before `then`.
    fn end_attempt<'n>(
        &mut self,
        then: AfterScript,
        now_ns: u64,
        recorder: &mut ThreadRecorder,
    ) -> Next<'n>
    where
        'a: 'n,
    {
        // The next request discards a pipeline that was never sent.
        let has_unsent = self.pipelines && !self.pipeline.is_empty();
        if has_unsent || self.must_roll_back(then) {
            let Phase::InTransaction(transaction) = &mut self.phase else {
                unreachable!("a script runs in a transaction")
            };
            transaction.rolls_back(then);
            self.session.sent(StatementKind::Rollback, Effect::Nothing);
            return Next::Request {
                request: Request::Rollback,
                keep: Keep::Count,
            };
        }
        self.close_attempt(then, now_ns, recorder)
    }

    /// Nothing is open any more: what the server no longer accepts is prepared again, before `then`.
    fn close_attempt<'n>(
        &mut self,
        then: AfterScript,
        now_ns: u64,
        recorder: &mut ThreadRecorder,
    ) -> Next<'n>
    where
        'a: 'n,
    {
        if !self.unprepared.is_empty() && !self.plan.connects_each {
            return self.prepare_for_next(then);
        }
        self.go_on(then, now_ns, recorder);
        match then {
            AfterScript::Ended(_) => Next::Ended,
            AfterScript::Rest | AfterScript::Again => Next::Again,
        }
    }
}

fn not_rolled_back() -> SystemError {
    SystemError::new(
        ErrorClass::Other,
        "",
        "the session could not be rolled back",
    )
}
