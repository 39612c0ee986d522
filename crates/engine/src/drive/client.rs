//! One client: what it does next and what it makes of an answer, whatever it waits with. Both executors
//! drive it the same way; it touches no socket and reads no clock.
//!
//! ```text
//!   Between ─ [rest] ─ [arrival] ─ begin ─ [connect] ──► Running ── statement ──► Waiting ── answer ──► Running
//!                                                           ├───── pipeline ────► Syncing ── answers ─► Running
//!                                                           ├───── pause ───────► Paused ─── time ────► Running
//!                                                           ├───── end ────────────────────────────► Between
//!                                                           └── failed or aborted ► [RollingBack] ─► Between
//!                                                                                                 └► Running (again)
//!   session lost ──► Away ── back ──► Between
//! ```

use assay_drivers::{ErrorClass, Keep, Request, SystemError};
use assay_script::{Ending, Machine, StatementKind, Step};
use assay_values::Random;

use super::arrivals::Arrival;
use super::client_state::ClientState;
use super::phase::{Before, Phase};
use super::plan::{Travel, operation};
use super::schedule::Schedule;
use super::shared::Shared;
use super::transaction::{Queued, Then, Transaction, TransactionStep};
use crate::account::{State, ThreadRecorder};

/// What a client needs next.
pub enum Next<'a> {
    /// Send this, then hand in the answer ([`Client::answered`]).
    Request { request: Request<'a>, keep: Keep },
    /// Put this into the session's pipeline, then say so ([`Client::queued`]).
    Queue { request: Request<'a> },
    /// Send the pipeline, hand in each answer, then say that it has ended ([`Client::synced`]).
    Sync { keep: Keep },
    /// Wait until this instant, then [`Client::woken`].
    Pause { until_ns: u64 },
    /// Open a session, then [`Client::connected`] or [`Client::not_connected`].
    Connect,
    /// Wait for the next arrival, then [`Client::arrive`]; where there is none, [`Client::finish`].
    Arrival,
    /// A transaction has ended: ask again.
    Ended,
    /// Something of the script is settled: ask again.
    Again,
    /// A program that the script had started was ended because the run does not wait for it any longer:
    /// [`Client::abandoned`].
    Abandoned,
    /// The session could not be rolled back, so that nothing further may be asked of it: close it, then
    /// [`Client::lost`].
    Unusable { error: SystemError },
    /// The client has done its work; its end is in the recorder.
    Done,
}

/// What follows where there is no session any more, or none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The client has ended.
    Ended,
    /// Ask it what it does next.
    GoOn,
    /// Wake it at this instant.
    Pause { until_ns: u64 },
}

pub struct Client<'a> {
    pub(super) machine: Machine,
    pub(super) state: ClientState<'a>,
}

impl<'a> Client<'a> {
    #[must_use]
    pub fn new(shared: &'a Shared, schedule: Schedule, place: u32) -> Self {
        let plan = &shared.plan;
        let state = ClientState::new(shared, schedule, place);
        let mut machine = Machine::new(plan.program.clone(), plan.seed, state.number);
        machine.keep_start(state.group.most_retries > 0);
        Self { machine, state }
    }

    /// It has a session from the beginning.
    pub fn begins_with(&mut self, pipelines: bool) {
        self.state.pipelines = pipelines;
    }

    /// Whether an answer is owed.
    #[must_use]
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.state
            .transaction()
            .is_some_and(Transaction::is_waiting)
    }

    /// Whether it waits for an arrival.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.state.phase, Phase::Idle)
    }

    /// The statements that a session for it prepares: those of its group, or of the one transaction that
    /// the session is for.
    #[must_use]
    pub fn to_prepare(&self) -> &'a [u32] {
        let ClientState { plan, group, .. } = self.state;
        match &self.state.phase {
            Phase::In(transaction) if transaction.step == TransactionStep::Connecting => {
                group.to_prepare_for(&plan.program, transaction.script.script)
            }
            _ => &group.to_prepare,
        }
    }

    /// Among the clients of all groups and processes.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.state.number
    }

    /// The number of its group.
    #[must_use]
    pub fn group(&self) -> usize {
        self.state.group.number as usize
    }

    /// Puts the script at its beginning.
    fn begin_script(&mut self) {
        let Some(transaction) = self.state.transaction() else {
            return;
        };
        let script = transaction.script.script;
        match transaction.number {
            None => self.machine.begin(script),
            Some(number) => {
                let random = Random::stream(self.state.group.values_seed, number);
                self.machine.begin_numbered(script, random, number);
            }
        }
    }

    /// Goes on at `now_ns` until something must be done for the client.
    #[inline]
    pub fn next(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) -> Next<'_> {
        match &mut self.state.phase {
            Phase::In(transaction) => match transaction.step {
                TransactionStep::Running => {}
                TransactionStep::Retrying => {
                    self.machine.rewind();
                    transaction.step = TransactionStep::Running;
                }
                TransactionStep::Delivering => self.deliver(),
                TransactionStep::RollingBack { .. } => {
                    let error = transaction.error.take();
                    return Next::Unusable {
                        error: error.unwrap_or_else(not_rolled_back),
                    };
                }
                TransactionStep::Queueing { .. } => {
                    self.machine.queued();
                    transaction.step = TransactionStep::Running;
                }
                TransactionStep::Connecting => return Next::Connect,
                step => unreachable!("a client that is {step:?} was asked what it does next"),
            },
            _ => match self.state.before(now_ns, recorder) {
                Before::Begin => self.begin_script(),
                Before::Pause { until_ns } => return Next::Pause { until_ns },
                Before::Connect => return Next::Connect,
                Before::Arrival => return Next::Arrival,
                Before::Done => return Next::Done,
            },
        }
        self.step(now_ns, recorder)
    }

    /// Lets the script of the transaction under way go on.
    #[inline]
    fn step(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) -> Next<'_> {
        let state = &mut self.state;
        let Phase::In(transaction) = &mut state.phase else {
            unreachable!("a script runs in a transaction")
        };
        match self.machine.step() {
            Step::Execute {
                statement,
                parameters,
                text,
                is_pipelined,
            } => {
                let how = &state.plan.statements[statement as usize];
                let travel = match is_pipelined {
                    true => how.travel.in_pipeline(state.plan.protocol),
                    false => how.travel,
                };
                let request = match travel {
                    Travel::Text => Request::Text(text),
                    Travel::Operation => operation(how.kind),
                    Travel::Prepared => Request::Execute {
                        id: statement,
                        parameters,
                    },
                    Travel::Direct => Request::Direct {
                        pieces: &state.plan.program.statements[statement as usize].pieces,
                        parameters,
                    },
                };
                if is_pipelined && state.pipelines {
                    transaction.step = TransactionStep::Queueing { statement };
                    return Next::Queue { request };
                }
                if is_pipelined
                    && state
                        .pipeline
                        .last()
                        .is_some_and(|last| last.error.is_some())
                {
                    // As a server does with the rest of a pipeline after an error.
                    transaction.step = TransactionStep::Queueing { statement };
                    return Next::Again;
                }
                transaction.step = TransactionStep::Waiting {
                    statement,
                    is_pipelined,
                };
                transaction.has_executed = true;
                state.session.asked(how.kind);
                transaction.asked_ns = now_ns;
                Next::Request {
                    request,
                    keep: how.keep,
                }
            }
            Step::Sync => {
                let is_hopeless = |queued: &Queued| queued.error.is_some();
                if !state.pipelines || state.pipeline.iter().any(is_hopeless) {
                    transaction.step = TransactionStep::Delivering;
                    return Next::Again;
                }
                transaction.step = TransactionStep::Syncing { next: 0 };
                transaction.has_executed = true;
                // Whatever stands in it: the end of a pipeline commits what has no transaction of its own.
                state.session.asked(StatementKind::Other);
                transaction.asked_ns = now_ns;
                Next::Sync {
                    keep: state.keep_in_pipeline(0),
                }
            }
            Step::Sleep {
                duration_ns,
                is_part_of_latency,
            } => {
                transaction.step = TransactionStep::Paused {
                    since_ns: now_ns,
                    is_inside: is_part_of_latency,
                };
                Next::Pause {
                    until_ns: now_ns.saturating_add(duration_ns),
                }
            }
            Step::End(Ending::Failed { .. }) if state.plan.program.children.is_ended() => {
                Next::Abandoned
            }
            Step::End(ending) => {
                let then = state.judge(state.closed(ending), now_ns, recorder);
                // A pipeline that was never sent is forgotten with the next request.
                let has_unsent = state.pipelines && !state.pipeline.is_empty();
                if has_unsent || state.must_roll_back(then) {
                    let Phase::In(transaction) = &mut state.phase else {
                        unreachable!("a script runs in a transaction")
                    };
                    transaction.step = TransactionStep::RollingBack { then };
                    state.session.asked(StatementKind::Rollback);
                    return Next::Request {
                        request: Request::Rollback,
                        keep: Keep::Count,
                    };
                }
                state.go_on(then, now_ns, recorder);
                match then {
                    Then::Ended(_) => Next::Ended,
                    Then::Again => Next::Again,
                }
            }
        }
    }

    /// Whether a pipeline was sent, so that its end is announced by itself.
    #[must_use]
    #[inline]
    pub fn is_syncing(&self) -> bool {
        matches!(
            self.state.transaction(),
            Some(Transaction {
                step: TransactionStep::Syncing { .. },
                ..
            })
        )
    }

    /// The arrival it has waited for.
    #[inline]
    pub fn arrive(&mut self, arrival: Arrival, now_ns: u64, recorder: &mut ThreadRecorder) {
        self.state.arrive(arrival, now_ns, recorder);
        if !self.state.plan.connects_each {
            self.begin_script();
        }
    }

    /// There is no further arrival.
    pub fn finish(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        self.state.end(now_ns, State::Done, recorder);
    }

    /// The pause is over.
    pub fn woken(&mut self, now_ns: u64) {
        self.state.resume(now_ns);
    }

    /// The run is stopping: ends a pause that is no part of a latency: nothing after
    /// it would be measured. A transaction that has not executed anything yet was then never begun.
    pub fn cut_pause(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) -> bool {
        match &self.state.phase {
            Phase::In(transaction) => match transaction.step {
                TransactionStep::Paused {
                    is_inside: false, ..
                } if transaction.has_executed => self.state.resume(now_ns),
                TransactionStep::Paused {
                    is_inside: false, ..
                } => self.state.unbegin(recorder),
                _ => return false,
            },
            Phase::Resting | Phase::Recovering => self.state.resume(now_ns),
            Phase::Idle | Phase::Away { .. } => {}
            Phase::Between | Phase::Rested | Phase::Over => return false,
        }
        true
    }

    /// A session stands; `pipelines` says whether it takes several requests at once.
    pub fn connected(&mut self, pipelines: bool, recorder: &mut ThreadRecorder) {
        let begins = self.state.transaction().is_some();
        self.state.connected(pipelines, recorder);
        self.state.think_time.reset_back_off();
        if begins {
            self.begin_script();
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
