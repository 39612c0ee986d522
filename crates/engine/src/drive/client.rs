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

use assay_drivers::{Answer, ErrorClass, Keep, Request, SystemError};
use assay_script::{Ending, Machine, Reply, StatementKind, Step};
use assay_values::Random;

use super::arrivals::Arrival;
use super::phase::{Before, Phase, Queued, Then};
use super::plan::{Travel, operation};
use super::schedule::Schedule;
use super::shared::Shared;
use super::think_time::REFUSED_PAUSE_NS;
use super::transaction_state::TransactionState;
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
    machine: Machine,
    transaction: TransactionState<'a>,
}

impl<'a> Client<'a> {
    #[must_use]
    pub fn new(shared: &'a Shared, schedule: Schedule, place: u32) -> Self {
        let plan = &shared.plan;
        let transaction = TransactionState::new(shared, schedule, place);
        let mut machine = Machine::new(plan.program.clone(), plan.seed, transaction.number);
        machine.keep_start(transaction.group.most_retries > 0);
        Self {
            machine,
            transaction,
        }
    }

    /// It has a session from the beginning.
    pub fn begins_with(&mut self, pipelines: bool) {
        self.transaction.pipelines = pipelines;
    }

    /// Whether an answer is owed.
    #[must_use]
    #[inline]
    pub fn is_waiting(&self) -> bool {
        matches!(
            self.transaction.phase,
            Phase::Waiting { .. } | Phase::RollingBack { .. } | Phase::Syncing { .. }
        )
    }

    /// Whether it waits for an arrival.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.transaction.phase == Phase::Idle
    }

    /// The statements that a session for it prepares: those of its group, or of the one transaction that
    /// the session is for.
    #[must_use]
    pub fn to_prepare(&self) -> &'a [u32] {
        let TransactionState { plan, group, .. } = self.transaction;
        match self.transaction.phase {
            Phase::Connecting => {
                group.to_prepare_for(&plan.program, self.transaction.next_script.script)
            }
            _ => &group.to_prepare,
        }
    }

    /// Among the clients of all groups and processes.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.transaction.number
    }

    /// The number of its group.
    #[must_use]
    pub fn group(&self) -> usize {
        self.transaction.group.number as usize
    }

    /// Puts the script at its beginning.
    fn begin_script(&mut self) {
        let TransactionState { group, .. } = self.transaction;
        let script = self.transaction.next_script.script;
        match self.transaction.number_in_list {
            None => self.machine.begin(script),
            Some(number) => {
                let random = Random::stream(group.values_seed, number);
                self.machine.begin_numbered(script, random, number);
            }
        }
    }

    /// Goes on at `now_ns` until something must be done for the client.
    #[inline]
    pub fn next(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) -> Next<'_> {
        match self.transaction.phase {
            Phase::Running => {}
            Phase::Retrying => {
                self.machine.rewind();
                self.transaction.phase = Phase::Running;
            }
            Phase::Delivering => self.deliver(),
            Phase::RollingBack { .. } => {
                let error = self.transaction.error.take();
                return Next::Unusable {
                    error: error.unwrap_or_else(not_rolled_back),
                };
            }
            Phase::Queueing { .. } => {
                self.machine.queued();
                self.transaction.phase = Phase::Running;
            }
            _ => match self.transaction.before(now_ns, recorder) {
                Before::Begin => self.begin_script(),
                Before::Pause { until_ns } => return Next::Pause { until_ns },
                Before::Connect => return Next::Connect,
                Before::Arrival => return Next::Arrival,
                Before::Done => return Next::Done,
            },
        }
        let transaction = &mut self.transaction;
        match self.machine.step() {
            Step::Execute {
                statement,
                parameters,
                text,
                is_pipelined,
            } => {
                let how = &transaction.plan.statements[statement as usize];
                let travel = match is_pipelined {
                    true => how.travel.in_pipeline(transaction.plan.protocol),
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
                        pieces: &transaction.plan.program.statements[statement as usize].pieces,
                        parameters,
                    },
                };
                if is_pipelined && transaction.pipelines {
                    transaction.phase = Phase::Queueing { statement };
                    return Next::Queue { request };
                }
                if is_pipelined
                    && transaction
                        .pipeline
                        .last()
                        .is_some_and(|last| last.error.is_some())
                {
                    // As a server does with the rest of a pipeline after an error.
                    transaction.phase = Phase::Queueing { statement };
                    return Next::Again;
                }
                transaction.phase = Phase::Waiting {
                    statement,
                    is_pipelined,
                };
                transaction.has_executed = true;
                transaction.session.asked(how.kind);
                transaction.asked_ns = now_ns;
                Next::Request {
                    request,
                    keep: how.keep,
                }
            }
            Step::Sync => {
                let is_hopeless = |queued: &Queued| queued.error.is_some();
                if !transaction.pipelines || transaction.pipeline.iter().any(is_hopeless) {
                    transaction.phase = Phase::Delivering;
                    return Next::Again;
                }
                transaction.phase = Phase::Syncing { next: 0 };
                transaction.has_executed = true;
                // Whatever stands in it: the end of a pipeline commits what has no transaction of its own.
                transaction.session.asked(StatementKind::Other);
                transaction.asked_ns = now_ns;
                Next::Sync {
                    keep: transaction.keep_in_pipeline(0),
                }
            }
            Step::Sleep {
                duration_ns,
                is_part_of_latency,
            } => {
                transaction.phase = Phase::Paused {
                    since_ns: now_ns,
                    is_inside: is_part_of_latency,
                };
                Next::Pause {
                    until_ns: now_ns.saturating_add(duration_ns),
                }
            }
            Step::End(Ending::Failed { .. }) if transaction.plan.program.children.is_ended() => {
                Next::Abandoned
            }
            Step::End(ending) => {
                let then = transaction.judge(transaction.closed(ending), now_ns, recorder);
                // A pipeline that was never sent is forgotten with the next request.
                let has_unsent = transaction.pipelines && !transaction.pipeline.is_empty();
                if has_unsent || transaction.must_roll_back(then) {
                    transaction.phase = Phase::RollingBack { then };
                    transaction.session.asked(StatementKind::Rollback);
                    return Next::Request {
                        request: Request::Rollback,
                        keep: Keep::Count,
                    };
                }
                transaction.go_on(then, now_ns, recorder);
                match then {
                    Then::Ended(_) => Next::Ended,
                    Then::Again => Next::Again,
                }
            }
        }
    }

    /// Takes an answer that was owed, complete at `now_ns`; gives what to keep of a further one.
    #[inline]
    pub fn answered(
        &mut self,
        now_ns: u64,
        answer: &mut Answer,
        recorder: &mut ThreadRecorder,
    ) -> Keep {
        let transaction = &mut self.transaction;
        match transaction.phase {
            Phase::Waiting {
                statement,
                is_pipelined: false,
            } => {
                transaction.phase = Phase::Running;
                transaction.statement_answered(statement, now_ns, answer, recorder);
                self.machine
                    .answered(reply(answer, transaction.error.as_ref()));
                Keep::Count
            }
            Phase::Waiting {
                statement,
                is_pipelined: true,
            } => {
                transaction.phase = Phase::Running;
                transaction.statement_answered(statement, now_ns, answer, recorder);
                let status = answer.transaction;
                transaction.pipeline.push(Queued {
                    statement,
                    error: transaction.error.clone(),
                    answer: std::mem::take(answer),
                });
                answer.transaction = status;
                self.machine.queued();
                Keep::Count
            }
            Phase::Syncing { next } => {
                let Some(statement) = transaction
                    .pipeline
                    .get(next)
                    .map(|queued| queued.statement)
                else {
                    unreachable!("a pipeline has as many answers as statements")
                };
                transaction.phase = Phase::Syncing { next: next + 1 };
                transaction.statement_answered(statement, now_ns, answer, recorder);
                self.machine
                    .answered_pipelined(statement, reply(answer, transaction.error.as_ref()));
                transaction.keep_in_pipeline(next + 1)
            }
            // Where it is rolled back the attempt that it ended is over, whatever the answer.
            Phase::RollingBack { then } => {
                transaction.error = answer.error.take();
                transaction
                    .session
                    .answered(answer, transaction.error.as_mut());
                recorder.statements += u64::from(transaction.is_measured);
                if transaction.error.is_none() || !transaction.session.may_be_open() {
                    transaction.go_on(then, now_ns, recorder);
                }
                Keep::Count
            }
            phase => unreachable!("a client that is {phase:?} was given an answer"),
        }
    }

    /// The statement is in the pipeline, or cannot be expressed.
    pub fn queued(&mut self, queued: Result<(), SystemError>) {
        let Phase::Queueing { statement } = self.transaction.phase else {
            unreachable!("nothing was to be put into the pipeline")
        };
        self.transaction.phase = Phase::Running;
        self.transaction.pipeline.push(Queued {
            statement,
            answer: Answer::default(),
            error: queued.err(),
        });
        self.machine.queued();
    }

    /// The pipeline has come to its end, with this answer.
    pub fn synced(&mut self, answer: &Answer) {
        self.transaction.session.answered(answer, None);
        self.transaction.phase = Phase::Running;
        self.transaction.pipeline.clear();
    }

    /// Whether a pipeline was sent, so that its end is announced by itself.
    #[must_use]
    #[inline]
    pub fn is_syncing(&self) -> bool {
        matches!(self.transaction.phase, Phase::Syncing { .. })
    }

    /// The arrival it has waited for.
    #[inline]
    pub fn arrive(&mut self, arrival: Arrival, now_ns: u64, recorder: &mut ThreadRecorder) {
        self.transaction.arrive(arrival, now_ns, recorder);
        if self.transaction.phase == Phase::Running {
            self.begin_script();
        }
    }

    /// There is no further arrival.
    pub fn finish(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        self.transaction.end(now_ns, State::Done, recorder);
    }

    /// The pause is over.
    pub fn woken(&mut self, now_ns: u64) {
        self.transaction.resume(now_ns);
    }

    /// The run is stopping: ends a pause that is no part of a latency, since nobody would see the
    /// end of it. A transaction that has not executed anything yet was then never begun.
    pub fn cut_pause(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) -> bool {
        match self.transaction.phase {
            Phase::Paused {
                is_inside: false, ..
            } if self.transaction.has_executed => self.transaction.resume(now_ns),
            Phase::Paused {
                is_inside: false, ..
            } => self.transaction.unbegin(recorder),
            Phase::Resting | Phase::Recovering => self.transaction.resume(now_ns),
            Phase::Idle | Phase::Away { .. } => {}
            _ => return false,
        }
        true
    }

    /// A session stands; `pipelines` says whether it takes several requests at once.
    pub fn connected(&mut self, pipelines: bool, recorder: &mut ThreadRecorder) {
        let begins = self.transaction.phase == Phase::Connecting;
        self.transaction.connected(pipelines, recorder);
        self.transaction.reset_back_off();
        if begins {
            self.begin_script();
        }
    }

    /// The session that it wanted cannot be had.
    pub fn not_connected(
        &mut self,
        now_ns: u64,
        error: &SystemError,
        recorder: &mut ThreadRecorder,
    ) -> After {
        let transaction = &mut self.transaction;
        match transaction.phase {
            Phase::Away { since_ns, state } => {
                recorder.errors.count(error, None, now_ns);
                self.try_later(now_ns, since_ns, state, recorder)
            }
            // A transaction that has a session of its own fails with it, and the next one tries anew.
            _ => {
                recorder.errors.count(
                    error,
                    Some(transaction.next_script.transaction_type),
                    now_ns,
                );
                transaction.break_off(now_ns, recorder);
                transaction.goes_away(now_ns);
                transaction.phase = Phase::Recovering;
                After::Pause {
                    until_ns: now_ns.saturating_add(REFUSED_PAUSE_NS),
                }
            }
        }
    }

    /// The connection is over, or was given up.
    pub fn lost(
        &mut self,
        now_ns: u64,
        error: &SystemError,
        recorder: &mut ThreadRecorder,
    ) -> After {
        let transaction = &mut self.transaction;
        let state = state_after(error);
        let script = transaction
            .is_in_transaction()
            .then_some(transaction.next_script.transaction_type);
        let of_session = transaction.of_session(error);
        recorder.errors.count(&of_session, script, now_ns);
        transaction.break_off(now_ns, recorder);
        if transaction.plan.connects_each {
            return After::GoOn;
        }
        if transaction.plan.reconnect_ns.is_some() {
            transaction.goes_away(now_ns);
            return self.try_later(now_ns, now_ns, state, recorder);
        }
        transaction.end(now_ns, state, recorder);
        After::Ended
    }

    /// Its work ends here, for a reason that is not the system's.
    pub fn given_up(&mut self, now_ns: u64, error: &SystemError, recorder: &mut ThreadRecorder) {
        if self.transaction.phase == Phase::Over {
            return;
        }
        recorder.errors.count(error, None, now_ns);
        self.transaction.break_off(now_ns, recorder);
        self.transaction.end(now_ns, State::Lost, recorder);
    }

    /// The run does not wait for this client any longer.
    pub fn abandoned(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        let transaction = &mut self.transaction;
        if transaction.phase == Phase::Over {
            return;
        }
        let state = if transaction.is_interrupted() {
            State::Interrupted
        } else {
            let limit_s = std::time::Duration::from_nanos(transaction.plan.drain_ns).as_secs_f64();
            let message = format!(
                "not ended {limit_s} s after the end of the measurement (--drain), and cancelled"
            );
            let error = SystemError::new(ErrorClass::Timeout, "", message);
            let error = match transaction.session.is_untouched() {
                true => error,
                false => error.unknown(),
            };
            let script = transaction
                .is_in_transaction()
                .then_some(transaction.next_script.transaction_type);
            recorder.errors.count(&error, script, now_ns);
            State::TimedOut
        };
        transaction.give_up(now_ns, recorder);
        transaction.end(now_ns, state, recorder);
    }

    /// Tries to come back a little later, or gives up.
    fn try_later(
        &mut self,
        now_ns: u64,
        since_ns: u64,
        state: State,
        recorder: &mut ThreadRecorder,
    ) -> After {
        let transaction = &mut self.transaction;
        let patience_ns = transaction.plan.reconnect_ns.unwrap_or(0);
        let until_ns = now_ns.saturating_add(transaction.back_off_ns());
        if until_ns > since_ns.saturating_add(patience_ns) {
            transaction.end(now_ns, state, recorder);
            return After::Ended;
        }
        transaction.phase = Phase::Away { since_ns, state };
        After::Pause { until_ns }
    }

    /// Hands the answers of a pipeline that was executed one by one to the script.
    fn deliver(&mut self) {
        let transaction = &mut self.transaction;
        for queued in &transaction.pipeline {
            let is_answered = !transaction.pipelines || queued.error.is_some();
            if is_answered {
                let reply = reply(&queued.answer, queued.error.as_ref());
                self.machine.answered_pipelined(queued.statement, reply);
            }
        }
        if let Some(failed) = transaction
            .pipeline
            .iter_mut()
            .find(|queued| queued.error.is_some())
        {
            transaction.error = failed.error.clone();
        }
        if !transaction.pipelines {
            transaction.pipeline.clear();
        }
        transaction.phase = Phase::Running;
    }
}

fn reply<'r>(answer: &'r Answer, error: Option<&'r SystemError>) -> Reply<'r> {
    Reply {
        rows: answer.rows,
        affected: answer.affected,
        columns: &answer.columns,
        types: &answer.cell_types,
        first_row: answer.kept.first().map(Vec::as_slice),
        last_row: answer.kept.last().map(Vec::as_slice),
        error: error.map(|error| (error.class.word(), &*error.message)),
    }
}

fn not_rolled_back() -> SystemError {
    SystemError::new(
        ErrorClass::Other,
        "",
        "the session could not be rolled back",
    )
}

fn state_after(error: &SystemError) -> State {
    match error.class {
        ErrorClass::Timeout => State::TimedOut,
        _ => State::Lost,
    }
}
