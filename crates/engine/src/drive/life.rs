//! What a client is in the middle of, and what its ledger must hear of that: everything about it but its
//! machine.

use assay_drivers::SystemError;
use assay_script::Ending;

use super::course::{Course, Turn};
use super::pacer::Pacer;
use super::plan::Plan;
use super::schedule::{Schedule, Signals};
use crate::account::{End, Ledger, Outcome, State};

/// Everything about a client but its machine, whose parameters are lent out with a request.
pub struct Life<'a> {
    plan: &'a Plan,
    signals: &'a Signals,
    schedule: Schedule,
    pub number: u32,
    course: Course,
    pub phase: Phase,
    pub turn: Turn,
    /// The system's words for the failure of the last statement, if it failed.
    pub error: Option<SystemError>,
    /// The session has a transaction open.
    pub is_open: bool,
    pub is_measured: bool,
    pub has_executed: bool,
    started_ns: u64,
    /// Pauses outside the response time.
    paused_ns: u64,
    pass: Pass,
    passes: u64,
    transactions: u64,
}

/// The pass under way.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    is_measured: bool,
    is_clean: bool,
    started_ns: u64,
    paused_ns: u64,
}

/// What a client is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Between,
    Running,
    /// For the answer to this statement.
    Waiting {
        statement: u32,
    },
    /// By the script's wish, inside the response time or outside.
    Paused {
        since_ns: u64,
        is_inside: bool,
    },
    /// The transaction has ended this way, and the session is brought out of it.
    RollingBack {
        outcome: Outcome,
    },
    Over,
}

impl<'a> Life<'a> {
    pub fn new(plan: &'a Plan, signals: &'a Signals, schedule: Schedule, number: u32) -> Self {
        Self {
            plan,
            signals,
            schedule,
            number,
            course: Course::new(plan, number),
            phase: Phase::Between,
            turn: Turn::default(),
            error: None,
            is_open: false,
            is_measured: false,
            has_executed: false,
            started_ns: 0,
            paused_ns: 0,
            pass: Pass::default(),
            passes: 0,
            transactions: 0,
        }
    }

    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.signals.is_interrupted()
    }

    /// A pause is over.
    pub fn resume(&mut self, now_ns: u64) {
        if let Phase::Paused {
            since_ns,
            is_inside,
        } = self.phase
        {
            self.phase = Phase::Running;
            if !is_inside {
                let paused_ns = now_ns - since_ns;
                self.paused_ns += paused_ns;
                self.pass.paused_ns += paused_ns;
            }
        }
    }

    /// The transaction that had begun has not begun after all.
    pub fn unbegin(&mut self, ledger: &mut Ledger) {
        self.phase = Phase::Between;
        ledger.scheduled -= u64::from(self.is_measured);
    }

    /// Whether the client begins nothing more, and how its work has ended then.
    pub fn must_end(&self, now_ns: u64) -> Option<State> {
        let stop = &self.plan.stop;
        let is_done = now_ns >= self.schedule.stop_ns
            || stop
                .transactions
                .is_some_and(|limit| self.transactions >= limit)
            || stop.passes.is_some_and(|limit| self.passes >= limit);
        match is_done {
            true => Some(State::Done),
            false => self.is_interrupted().then_some(State::Interrupted),
        }
    }

    /// The next transaction begins.
    pub fn begin(&mut self, now_ns: u64, ledger: &mut Ledger) {
        self.phase = Phase::Running;
        self.turn = self.course.next(self.plan);
        self.started_ns = Pacer::Closed.intended_ns(now_ns);
        self.paused_ns = 0;
        self.has_executed = false;
        self.error = None;
        self.is_measured = self.started_ns >= self.schedule.measure_ns;
        ledger.scheduled += u64::from(self.is_measured);
        if self.turn.opens_pass {
            self.pass = Pass {
                is_measured: self.is_measured,
                is_clean: true,
                started_ns: self.started_ns,
                paused_ns: 0,
            };
        }
    }

    /// What the script's end means; a failure is written down in the words of whoever knows most of it.
    pub fn judge(&self, ending: Ending, now_ns: u64, ledger: &mut Ledger) -> Outcome {
        let (class, message) = match ending {
            Ending::Done => return Outcome::Ok,
            Ending::Aborted => return Outcome::Aborted,
            Ending::Failed { class, message } => (class, message),
        };
        if self.is_measured {
            let script = Some(self.turn.script);
            match &self.error {
                Some(error) if error.class.word() == class => {
                    ledger.errors.count(error, script, now_ns);
                }
                _ => ledger
                    .errors
                    .count_words(class, "", &message, script, now_ns),
            }
        }
        Outcome::Failed
    }

    #[inline]
    pub fn transaction_ended(&mut self, now_ns: u64, outcome: Outcome, ledger: &mut Ledger) {
        self.phase = Phase::Between;
        if self.is_measured {
            self.transactions += 1;
            let response_ns = now_ns - self.started_ns - self.paused_ns;
            ledger.transaction(self.turn.script, outcome, now_ns, response_ns);
        }
        self.pass.is_clean &= outcome == Outcome::Ok;
        if self.turn.closes_pass && self.pass.is_measured {
            self.passes += 1;
            if self.pass.is_clean {
                ledger.pass(now_ns, now_ns - self.pass.started_ns - self.pass.paused_ns);
            }
        }
    }

    /// Ends the client's work whatever it is doing; of a transaction under way nobody knows the outcome.
    pub fn give_up(&mut self, now_ns: u64, state: State, ledger: &mut Ledger) {
        match self.phase {
            Phase::Over => return,
            Phase::Between => {}
            // It had failed, or was to be aborted, before: the session's end rolls back as well.
            Phase::RollingBack { outcome } => self.transaction_ended(now_ns, outcome, ledger),
            Phase::Running | Phase::Waiting { .. } | Phase::Paused { .. } => {
                self.resume(now_ns);
                self.transaction_ended(now_ns, Outcome::Unknown, ledger);
            }
        }
        self.end(now_ns, state, ledger);
    }

    /// Ends the client's work between two transactions.
    pub fn end(&mut self, now_ns: u64, state: State, ledger: &mut Ledger) {
        self.phase = Phase::Over;
        ledger.ends.push(End {
            client: self.number,
            at_ns: now_ns,
            passes: self.passes,
            transactions: self.transactions,
            state,
        });
    }
}
