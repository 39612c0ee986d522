//! One client: what it does next and what it makes of an answer, whatever it waits with. Both executors
//! drive it the same way; it touches no socket and reads no clock.
//!
//! ```text
//!   Between ── begin ──► Running ── statement ──► Waiting ── answer ──► Running
//!                           ├───── pause ───────► Paused ─── time ────► Running
//!                           ├───── end ──────────────────────────────► Between
//!                           └───── failed or aborted, transaction open ► RollingBack ── answer ► Between
//! ```

use assay_drivers::{Answer, ErrorClass, Keep, Request, SystemError};
use assay_script::{Machine, Reply, Step};

use super::life::{Life, Phase};
use super::plan::{Effect, Plan};
use super::schedule::{DRAIN_NS, Schedule, Signals};
use crate::account::{Ledger, Outcome, State};

/// Ends a transaction that a failed or aborted script has left open.
const ROLLBACK: Request<'static> = Request::Text("ROLLBACK");

/// What a client needs next.
pub enum Next<'a> {
    /// Send this, then hand in the answer ([`Client::answered`]).
    Request { request: Request<'a>, keep: Keep },
    /// Wait until this instant, then [`Client::woken`].
    Pause { until_ns: u64 },
    /// A transaction has ended: ask again.
    Again,
    /// The client has done its work; its end is in the ledger.
    Done,
}

pub struct Client<'a> {
    plan: &'a Plan,
    machine: Machine,
    life: Life<'a>,
}

impl<'a> Client<'a> {
    #[must_use]
    pub fn new(plan: &'a Plan, signals: &'a Signals, schedule: Schedule, number: u32) -> Self {
        Self {
            plan,
            machine: Machine::new(plan.program.clone(), plan.seed, number),
            life: Life::new(plan, signals, schedule, number),
        }
    }

    /// Whether an answer is owed.
    #[must_use]
    #[inline]
    pub fn is_waiting(&self) -> bool {
        matches!(
            self.life.phase,
            Phase::Waiting { .. } | Phase::RollingBack { .. }
        )
    }

    /// Goes on at `now_ns` until something must be done for the client.
    #[inline]
    pub fn next(&mut self, now_ns: u64, ledger: &mut Ledger) -> Next<'_> {
        let life = &mut self.life;
        if life.phase == Phase::Between {
            if let Some(state) = life.must_end(now_ns) {
                life.end(now_ns, state, ledger);
                return Next::Done;
            }
            life.begin(now_ns, ledger);
            self.machine.begin(life.turn.script);
        }
        match self.machine.step() {
            Step::Execute {
                statement,
                parameters,
            } => {
                life.phase = Phase::Waiting { statement };
                life.has_executed = true;
                let how = &self.plan.statements[statement as usize];
                let request = if how.is_prepared {
                    Request::Execute {
                        id: statement,
                        parameters,
                    }
                } else {
                    Request::Text(&self.plan.program.statements[statement as usize].text)
                };
                Next::Request {
                    request,
                    keep: how.keep,
                }
            }
            Step::Sleep {
                duration_ns,
                inside_response_time,
            } => {
                life.phase = Phase::Paused {
                    since_ns: now_ns,
                    is_inside: inside_response_time,
                };
                Next::Pause {
                    until_ns: now_ns.saturating_add(duration_ns),
                }
            }
            Step::End(ending) => {
                let outcome = life.judge(ending, now_ns, ledger);
                if life.is_open && outcome != Outcome::Ok {
                    life.phase = Phase::RollingBack { outcome };
                    return Next::Request {
                        request: ROLLBACK,
                        keep: Keep::Count,
                    };
                }
                life.transaction_ended(now_ns, outcome, ledger);
                Next::Again
            }
        }
    }

    /// Takes the answer that was owed, complete at `now_ns`.
    #[inline]
    pub fn answered(&mut self, now_ns: u64, answer: &mut Answer, ledger: &mut Ledger) {
        let life = &mut self.life;
        match life.phase {
            Phase::Waiting { statement } => {
                life.phase = Phase::Running;
                let how = &self.plan.statements[statement as usize];
                life.error = answer.error.take();
                if life.error.is_none() {
                    match how.effect {
                        Effect::None => {}
                        Effect::Begins => life.is_open = true,
                        Effect::Ends => life.is_open = false,
                    }
                    if how.is_compared && life.is_measured {
                        let Answer { rows, digest, .. } = *answer;
                        ledger
                            .results
                            .count(statement, rows, digest, life.number, now_ns);
                    }
                }
                self.machine.answered(Reply {
                    rows: answer.rows,
                    affected: answer.affected,
                    columns: &answer.columns,
                    first_row: answer.kept.first().map(Vec::as_slice),
                    error: life
                        .error
                        .as_ref()
                        .map(|error| (error.class.word(), &*error.message)),
                });
            }
            // Whatever the rollback was answered: the transaction that it ended is over.
            Phase::RollingBack { outcome } => {
                life.is_open = false;
                life.transaction_ended(now_ns, outcome, ledger);
            }
            Phase::Between | Phase::Running | Phase::Paused { .. } | Phase::Over => {
                unreachable!("an answer was handed in that nobody was owed")
            }
        }
    }

    /// The pause is over.
    pub fn woken(&mut self, now_ns: u64) {
        self.life.resume(now_ns);
    }

    /// The run is stopping: ends a pause that is no part of a response time, since nobody would see the
    /// end of it. A transaction that has not executed anything yet was then never begun.
    pub fn cut_pause(&mut self, now_ns: u64, ledger: &mut Ledger) -> bool {
        match self.life.phase {
            Phase::Paused {
                is_inside: false, ..
            } if self.life.has_executed => {
                self.life.resume(now_ns);
                true
            }
            Phase::Paused {
                is_inside: false, ..
            } => {
                self.life.unbegin(ledger);
                true
            }
            _ => false,
        }
    }

    /// The connection is over, or was given up: nobody can know what became of a transaction under way.
    pub fn lost(&mut self, now_ns: u64, error: &SystemError, ledger: &mut Ledger) {
        let state = match error.class {
            ErrorClass::Timeout => State::TimedOut,
            _ => State::Lost,
        };
        let life = &mut self.life;
        let is_between = matches!(life.phase, Phase::Between | Phase::Over);
        let script = (!is_between).then_some(life.turn.script);
        ledger.errors.count(error, script, now_ns);
        life.give_up(now_ns, state, ledger);
    }

    /// The run does not wait for this client any longer.
    pub fn abandoned(&mut self, now_ns: u64, ledger: &mut Ledger) {
        if self.life.is_interrupted() {
            self.life.give_up(now_ns, State::Interrupted, ledger);
        } else {
            let patience = std::time::Duration::from_nanos(DRAIN_NS);
            let message = format!("still under way {patience:?} after the end of the measurement");
            self.lost(
                now_ns,
                &SystemError::new(ErrorClass::Timeout, "", message),
                ledger,
            );
        }
    }
}
