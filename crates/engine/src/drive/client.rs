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
use assay_script::{Ending, Machine, Reply, Step};

use super::arrivals::Arrival;
use super::life::Life;
use super::phase::{Before, Phase, Queued, Then};
use super::plan::Travel;
use super::rest::REFUSED_REST_NS;
use super::schedule::Schedule;
use super::shared::Shared;
use crate::account::{Ledger, Outcome, State};

/// Ends a transaction that a failed or aborted script has left open.
const ROLLBACK: Request<'static> = Request::Text("ROLLBACK");

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
    /// The client has done its work; its end is in the ledger.
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
    life: Life<'a>,
}

impl<'a> Client<'a> {
    #[must_use]
    pub fn new(shared: &'a Shared, schedule: Schedule, number: u32) -> Self {
        let plan = &shared.plan;
        let mut machine = Machine::new(plan.program.clone(), plan.seed, number);
        machine.keep_start(plan.most_retries > 0);
        Self {
            machine,
            life: Life::new(shared, schedule, number),
        }
    }

    /// It has a session from the beginning.
    pub fn begins_with(&mut self, pipelines: bool) {
        self.life.pipelines = pipelines;
    }

    /// Whether an answer is owed.
    #[must_use]
    #[inline]
    pub fn is_waiting(&self) -> bool {
        matches!(
            self.life.phase,
            Phase::Waiting { .. } | Phase::RollingBack { .. } | Phase::Syncing { .. }
        )
    }

    /// Whether it waits for an arrival.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.life.phase == Phase::Idle
    }

    /// The transaction type for which it wants a session; none where it is between transactions.
    #[must_use]
    pub fn script_to_connect_for(&self) -> Option<u32> {
        (self.life.phase == Phase::Connecting).then_some(self.life.turn.script)
    }

    /// Goes on at `now_ns` until something must be done for the client.
    #[inline]
    pub fn next(&mut self, now_ns: u64, ledger: &mut Ledger) -> Next<'_> {
        match self.life.phase {
            Phase::Running => {}
            Phase::Retrying => {
                self.machine.rewind();
                self.life.phase = Phase::Running;
            }
            Phase::Delivering => self.deliver(),
            Phase::Queueing { .. } => {
                self.machine.queued();
                self.life.phase = Phase::Running;
            }
            _ => match self.life.before(now_ns, ledger) {
                Before::Begin => self.machine.begin(self.life.turn.script),
                Before::Pause { until_ns } => return Next::Pause { until_ns },
                Before::Connect => return Next::Connect,
                Before::Arrival => return Next::Arrival,
                Before::Done => return Next::Done,
            },
        }
        let life = &mut self.life;
        match self.machine.step() {
            Step::Execute {
                statement,
                parameters,
                text,
                is_pipelined,
            } => {
                let how = &life.plan.statements[statement as usize];
                let travel = match is_pipelined {
                    true => how.travel.in_pipeline(life.plan.protocol),
                    false => how.travel,
                };
                let request = match travel {
                    Travel::Text => Request::Text(text),
                    Travel::Prepared => Request::Execute {
                        id: statement,
                        parameters,
                    },
                    Travel::Direct => Request::Direct {
                        pieces: &life.plan.program.statements[statement as usize].pieces,
                        parameters,
                    },
                };
                if is_pipelined && life.pipelines {
                    life.phase = Phase::Queueing { statement };
                    return Next::Queue { request };
                }
                if is_pipelined
                    && life
                        .pipeline
                        .last()
                        .is_some_and(|last| last.error.is_some())
                {
                    // As a server does with the rest of a pipeline after an error.
                    life.phase = Phase::Queueing { statement };
                    return Next::Again;
                }
                life.phase = Phase::Waiting {
                    statement,
                    is_pipelined,
                };
                life.has_executed = true;
                life.may_have_done |= !how.only_begins;
                life.asked_ns = now_ns;
                Next::Request {
                    request,
                    keep: how.keep,
                }
            }
            Step::Sync => {
                let is_hopeless = |queued: &Queued| queued.error.is_some();
                if !life.pipelines || life.pipeline.iter().any(is_hopeless) {
                    life.phase = Phase::Delivering;
                    return Next::Again;
                }
                life.phase = Phase::Syncing { next: 0 };
                life.has_executed = true;
                life.may_have_done = true;
                life.asked_ns = now_ns;
                Next::Sync {
                    keep: life.keep_in_pipeline(0),
                }
            }
            Step::Sleep {
                duration_ns,
                is_part_of_latency,
            } => {
                life.phase = Phase::Paused {
                    since_ns: now_ns,
                    is_inside: is_part_of_latency,
                };
                Next::Pause {
                    until_ns: now_ns.saturating_add(duration_ns),
                }
            }
            Step::End(Ending::Failed { .. }) if life.plan.program.children.is_ended() => {
                Next::Abandoned
            }
            Step::End(ending) => {
                let then = life.judge(life.closed(ending), now_ns, ledger);
                // A pipeline that was never sent is forgotten with the next request.
                let has_unsent = life.pipelines && !life.pipeline.is_empty();
                if (life.is_open && then != Then::Ended(Outcome::Ok)) || has_unsent {
                    life.phase = Phase::RollingBack { then };
                    return Next::Request {
                        request: ROLLBACK,
                        keep: Keep::Count,
                    };
                }
                life.go_on(then, now_ns, ledger);
                match then {
                    Then::Ended(_) => Next::Ended,
                    Then::Again => Next::Again,
                }
            }
        }
    }

    /// Takes an answer that was owed, complete at `now_ns`; gives what to keep of a further one.
    #[inline]
    pub fn answered(&mut self, now_ns: u64, answer: &mut Answer, ledger: &mut Ledger) -> Keep {
        let life = &mut self.life;
        match life.phase {
            Phase::Waiting {
                statement,
                is_pipelined: false,
            } => {
                life.phase = Phase::Running;
                life.statement_answered(statement, now_ns, answer, ledger);
                self.machine.answered(reply(answer, life.error.as_ref()));
                Keep::Count
            }
            Phase::Waiting {
                statement,
                is_pipelined: true,
            } => {
                life.phase = Phase::Running;
                life.statement_answered(statement, now_ns, answer, ledger);
                life.pipeline.push(Queued {
                    statement,
                    error: life.error.clone(),
                    answer: std::mem::take(answer),
                });
                self.machine.queued();
                Keep::Count
            }
            Phase::Syncing { next } => {
                let Some(statement) = life.pipeline.get(next).map(|queued| queued.statement) else {
                    unreachable!("a pipeline has as many answers as statements")
                };
                life.phase = Phase::Syncing { next: next + 1 };
                life.statement_answered(statement, now_ns, answer, ledger);
                self.machine
                    .answered_pipelined(statement, reply(answer, life.error.as_ref()));
                life.keep_in_pipeline(next + 1)
            }
            // Whatever the rollback was answered: the attempt that it ended is over.
            Phase::RollingBack { then } => {
                life.is_open = false;
                ledger.statements += u64::from(life.is_measured);
                life.go_on(then, now_ns, ledger);
                Keep::Count
            }
            phase => unreachable!("a client that is {phase:?} was given an answer"),
        }
    }

    /// The statement is in the pipeline, or cannot be expressed.
    pub fn queued(&mut self, queued: Result<(), SystemError>) {
        let Phase::Queueing { statement } = self.life.phase else {
            unreachable!("nothing was to be put into the pipeline")
        };
        self.life.phase = Phase::Running;
        self.life.pipeline.push(Queued {
            statement,
            answer: Answer::default(),
            error: queued.err(),
        });
        self.machine.queued();
    }

    /// The pipeline has come to its end.
    pub fn synced(&mut self) {
        self.life.phase = Phase::Running;
        self.life.pipeline.clear();
    }

    /// Whether a pipeline was sent, so that its end is announced by itself.
    #[must_use]
    #[inline]
    pub fn is_syncing(&self) -> bool {
        matches!(self.life.phase, Phase::Syncing { .. })
    }

    /// The arrival it has waited for.
    #[inline]
    pub fn arrive(&mut self, arrival: Arrival, now_ns: u64, ledger: &mut Ledger) {
        self.life.arrive(arrival, now_ns, ledger);
        if self.life.phase == Phase::Running {
            self.machine.begin(arrival.script);
        }
    }

    /// There is no further arrival.
    pub fn finish(&mut self, now_ns: u64, ledger: &mut Ledger) {
        self.life.end(now_ns, State::Done, ledger);
    }

    /// The pause is over.
    pub fn woken(&mut self, now_ns: u64) {
        self.life.resume(now_ns);
    }

    /// The run is stopping: ends a pause that is no part of a latency, since nobody would see the
    /// end of it. A transaction that has not executed anything yet was then never begun.
    pub fn cut_pause(&mut self, now_ns: u64, ledger: &mut Ledger) -> bool {
        match self.life.phase {
            Phase::Paused {
                is_inside: false, ..
            } if self.life.has_executed => self.life.resume(now_ns),
            Phase::Paused {
                is_inside: false, ..
            } => self.life.unbegin(ledger),
            Phase::Resting | Phase::Recovering => self.life.resume(now_ns),
            Phase::Idle | Phase::Away { .. } => {}
            _ => return false,
        }
        true
    }

    /// A session stands; `pipelines` says whether it takes several requests at once.
    pub fn connected(&mut self, pipelines: bool, ledger: &mut Ledger) {
        let begins = self.life.phase == Phase::Connecting;
        self.life.connected(pipelines, ledger);
        self.life.reset_back_off();
        if begins {
            self.machine.begin(self.life.turn.script);
        }
    }

    /// The session that it wanted cannot be had.
    pub fn not_connected(
        &mut self,
        now_ns: u64,
        error: &SystemError,
        ledger: &mut Ledger,
    ) -> After {
        let life = &mut self.life;
        match life.phase {
            Phase::Away { since_ns, state } => {
                ledger.errors.count(error, None, now_ns);
                self.try_later(now_ns, since_ns, state, ledger)
            }
            // A transaction that has a session of its own fails with it, and the next one tries anew.
            _ => {
                ledger.errors.count(error, Some(life.turn.script), now_ns);
                life.break_off(now_ns, ledger);
                life.goes_away(now_ns);
                life.phase = Phase::Recovering;
                After::Pause {
                    until_ns: now_ns.saturating_add(REFUSED_REST_NS),
                }
            }
        }
    }

    /// The connection is over, or was given up.
    pub fn lost(&mut self, now_ns: u64, error: &SystemError, ledger: &mut Ledger) -> After {
        let life = &mut self.life;
        let state = state_after(error);
        let script = life.is_in_transaction().then_some(life.turn.script);
        ledger.errors.count(error, script, now_ns);
        life.break_off(now_ns, ledger);
        if life.plan.connects_each {
            return After::GoOn;
        }
        if life.plan.reconnect_ns.is_some() {
            life.goes_away(now_ns);
            return self.try_later(now_ns, now_ns, state, ledger);
        }
        life.end(now_ns, state, ledger);
        After::Ended
    }

    /// Its work ends here, for a reason that is not the system's.
    pub fn given_up(&mut self, now_ns: u64, error: &SystemError, ledger: &mut Ledger) {
        if self.life.phase == Phase::Over {
            return;
        }
        ledger.errors.count(error, None, now_ns);
        self.life.break_off(now_ns, ledger);
        self.life.end(now_ns, State::Lost, ledger);
    }

    /// The run does not wait for this client any longer.
    pub fn abandoned(&mut self, now_ns: u64, ledger: &mut Ledger) {
        let life = &mut self.life;
        if life.phase == Phase::Over {
            return;
        }
        let state = if life.is_interrupted() {
            State::Interrupted
        } else {
            let limit_s = std::time::Duration::from_nanos(life.plan.drain_ns).as_secs_f64();
            let message = format!(
                "not ended {limit_s} s after the end of the measurement (--drain), and cancelled"
            );
            let error = SystemError::new(ErrorClass::Timeout, "", message);
            let script = life.is_in_transaction().then_some(life.turn.script);
            ledger.errors.count(&error, script, now_ns);
            State::TimedOut
        };
        life.give_up(now_ns, ledger);
        life.end(now_ns, state, ledger);
    }

    /// Tries to come back a little later, or gives up.
    fn try_later(
        &mut self,
        now_ns: u64,
        since_ns: u64,
        state: State,
        ledger: &mut Ledger,
    ) -> After {
        let life = &mut self.life;
        let patience_ns = life.plan.reconnect_ns.unwrap_or(0);
        let until_ns = now_ns.saturating_add(life.back_off_ns());
        if until_ns > since_ns.saturating_add(patience_ns) {
            life.end(now_ns, state, ledger);
            return After::Ended;
        }
        life.phase = Phase::Away { since_ns, state };
        After::Pause { until_ns }
    }

    /// Hands the answers of a pipeline that was executed one by one to the script.
    fn deliver(&mut self) {
        let life = &mut self.life;
        for queued in &life.pipeline {
            let is_answered = !life.pipelines || queued.error.is_some();
            if is_answered {
                let reply = reply(&queued.answer, queued.error.as_ref());
                self.machine.answered_pipelined(queued.statement, reply);
            }
        }
        if let Some(failed) = life
            .pipeline
            .iter_mut()
            .find(|queued| queued.error.is_some())
        {
            life.error = failed.error.clone();
        }
        if !life.pipelines {
            life.pipeline.clear();
        }
        life.phase = Phase::Running;
    }
}

fn reply<'r>(answer: &'r Answer, error: Option<&'r SystemError>) -> Reply<'r> {
    Reply {
        rows: answer.rows,
        affected: answer.affected,
        columns: &answer.columns,
        first_row: answer.kept.first().map(Vec::as_slice),
        last_row: answer.kept.last().map(Vec::as_slice),
        error: error.map(|error| (error.class.word(), &*error.message)),
    }
}

fn state_after(error: &SystemError) -> State {
    match error.class {
        ErrorClass::Timeout => State::TimedOut,
        _ => State::Lost,
    }
}
