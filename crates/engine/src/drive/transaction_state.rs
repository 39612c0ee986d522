//! A client's transaction state, and what its recorder records of it; the script machine is separate (`client`),
//! so that its parameters can be borrowed. Long, because every transition of that one state stands here.

use assay_drivers::{Answer, Certainty, ErrorClass, Keep, SystemError};
use assay_script::Ending;

use super::arrivals::Arrival;
use super::group::Group;
use super::phase::{Before, Phase, Queued, Then};
use super::plan::Plan;
use super::schedule::Schedule;
use super::script_selector::{NextScript, ScriptSelector, script_of_number};
use super::session_transaction::SessionTransaction;
use super::shared::Shared;
use super::think_time::ThinkTime;
use crate::account::{End, State, ThreadRecorder, Worktime};
use crate::observation::Outcome;

/// Everything about a client but its machine, whose parameters are lent out with a request.
pub struct TransactionState<'a> {
    pub plan: &'a Plan,
    pub group: &'a Group,
    shared: &'a Shared,
    schedule: Schedule,
    /// Among the clients of all groups and processes.
    pub number: u32,
    selector: ScriptSelector,
    think_time: ThinkTime,
    pub phase: Phase,
    pub next_script: NextScript,
    /// The number of the transaction where values follow it: in an open loop, and in a shared list.
    pub number_in_list: Option<u64>,
    /// The system's words for the failure of the last statement, if it failed.
    pub error: Option<SystemError>,
    /// What the system has of it.
    pub session: SessionTransaction,
    pub is_measured: bool,
    pub has_executed: bool,
    /// Class and code of the failure after which the transaction is to be tried again.
    failed_as: Option<(&'static str, String)>,
    /// When the last request was sent.
    pub asked_ns: u64,
    /// Whether the session takes pipelines.
    pub pipelines: bool,
    /// What stands in the pipeline, and the answers as far as there are any.
    pub pipeline: Vec<Queued>,
    /// Transactions in a row that the script itself has failed, before it executed anything.
    own_failures: u32,
    has_begun: bool,
    due_ns: u64,
    started_ns: u64,
    /// Pauses outside the latency.
    paused_ns: u64,
    retries: u32,
    pass: Pass,
    passes: u64,
    transactions: u64,
    worktime: Worktime,
    /// Without a session that it wants to have.
    is_away: bool,
    /// Has been away, and had no transaction since that ended `ok`.
    is_unserved: bool,
}

/// A script that fails so often in a row by itself, without asking the system anything, will go on to:
/// it would only keep a processor busy.
const MOST_OWN_FAILURES: u32 = 100;

/// The pass under way.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    is_measured: bool,
    is_clean: bool,
    started_ns: u64,
    paused_ns: u64,
}

impl<'a> TransactionState<'a> {
    pub fn new(shared: &'a Shared, schedule: Schedule, place: u32) -> Self {
        let plan = &shared.plan;
        let group = plan.group_at(place);
        let number = group.client_number(place);
        Self {
            plan,
            group,
            shared,
            schedule,
            number,
            selector: ScriptSelector::new(plan, group, number),
            think_time: ThinkTime::new(plan.seed, number),
            phase: Phase::Between,
            next_script: NextScript::default(),
            number_in_list: None,
            error: None,
            session: SessionTransaction::new(),
            is_measured: false,
            has_executed: false,
            failed_as: None,
            asked_ns: 0,
            pipelines: false,
            pipeline: Vec::new(),
            own_failures: 0,
            has_begun: false,
            due_ns: 0,
            started_ns: 0,
            paused_ns: 0,
            retries: 0,
            pass: Pass::default(),
            passes: 0,
            transactions: 0,
            worktime: Worktime::new(schedule.measure_ns, schedule.stop_ns),
            is_away: false,
            is_unserved: false,
        }
    }

    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.shared.signals.is_interrupted()
    }

    /// Whether a transaction of the workload is under way.
    #[must_use]
    pub fn is_in_transaction(&self) -> bool {
        !matches!(
            self.phase,
            Phase::Between
                | Phase::Resting
                | Phase::Rested
                | Phase::Recovering
                | Phase::Idle
                | Phase::Away { .. }
                | Phase::Over
        )
    }

    /// Brings a client that is between two transactions on its way to the next.
    pub fn before(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) -> Before {
        match self.phase {
            Phase::Connecting => return Before::Connect,
            Phase::Between | Phase::Rested | Phase::Idle | Phase::Away { .. } => {}
            phase => unreachable!("a client that is {phase:?} was asked what it does next"),
        }
        // What was due before the end is begun by those who had been free for it.
        let is_owed = |state| self.phase == Phase::Idle && state == State::Done;
        if let Some(state) = self.must_end(now_ns).filter(|state| !is_owed(*state)) {
            self.end(now_ns, state, recorder);
            return Before::Done;
        }
        match self.phase {
            Phase::Away { .. } => return Before::Connect,
            Phase::Rested => {}
            _ if self.group.is_open_loop() => {
                self.phase = Phase::Idle;
                return Before::Arrival;
            }
            _ => {
                if let Some(until_ns) = self.pause_until(now_ns) {
                    self.phase = Phase::Resting;
                    return Before::Pause { until_ns };
                }
            }
        }
        let is_measured = now_ns >= self.schedule.measure_ns;
        let number = match self.group.queue {
            None => None,
            Some(_) => match self.shared.take_number(self.group, is_measured) {
                Some(number) => Some(number),
                None => {
                    self.end(now_ns, State::Done, recorder);
                    return Before::Done;
                }
            },
        };
        let next = match number {
            None => self.selector.next(self.group),
            Some(number) => script_of_number(self.plan, self.group, number),
        };
        if is_measured {
            recorder.scheduled[next.transaction_type as usize] += 1;
        }
        self.begin(now_ns, now_ns, (next, number), is_measured, recorder);
        if self.phase == Phase::Connecting {
            return Before::Connect;
        }
        Before::Begin
    }

    /// The arrival that an idle client has waited for.
    pub fn arrive(&mut self, arrival: Arrival, now_ns: u64, recorder: &mut ThreadRecorder) {
        let next = (arrival.next, Some(arrival.number));
        self.begin(now_ns, arrival.due_ns, next, arrival.is_measured, recorder);
    }

    /// Until when a client of a closed loop pauses before it begins its next transaction, if it does.
    #[inline]
    fn pause_until(&mut self, now_ns: u64) -> Option<u64> {
        let until_ns = if self.has_begun {
            now_ns.saturating_add(self.think_time.between_ns(self.group))
        } else {
            let begin_ns = self.schedule.begin_ns(self.number, self.plan.of_clients);
            begin_ns
                .max(now_ns)
                .saturating_add(self.think_time.first_ns(self.group))
        };
        (until_ns > now_ns).then_some(until_ns)
    }

    /// Whether the client begins nothing more, and how its work has ended then.
    fn must_end(&self, now_ns: u64) -> Option<State> {
        let group = self.group;
        let is_enough = || {
            (group.stop_transactions).is_some_and(|limit| self.transactions >= limit)
                || (group.stop_passes).is_some_and(|limit| self.passes >= limit)
                || (group.queue.is_some() && self.shared.is_queue_empty(group))
        };
        if !group.is_open_loop() && is_enough() {
            return Some(State::Done);
        }
        if now_ns >= self.schedule.stop_ns {
            return Some(match self.phase {
                Phase::Away { state, .. } => state,
                _ => State::Done,
            });
        }
        if self.own_failures >= MOST_OWN_FAILURES {
            return Some(State::Failed);
        }
        self.is_interrupted().then_some(State::Interrupted)
    }

    fn begin(
        &mut self,
        now_ns: u64,
        due_ns: u64,
        (next_script, number): (NextScript, Option<u64>),
        is_measured: bool,
        recorder: &mut ThreadRecorder,
    ) {
        self.phase = if self.plan.connects_each {
            Phase::Connecting
        } else {
            Phase::Running
        };
        self.has_begun = true;
        self.next_script = next_script;
        self.number_in_list = number;
        self.due_ns = due_ns;
        self.started_ns = now_ns;
        self.paused_ns = 0;
        self.retries = 0;
        self.has_executed = false;
        self.session.begin();
        self.error = None;
        self.is_measured = is_measured;
        self.worktime.begun(now_ns, is_measured);
        recorder.attempts[next_script.transaction_type as usize] += u64::from(is_measured);
        if next_script.opens_pass {
            self.pass = Pass {
                is_measured,
                is_clean: true,
                started_ns: now_ns,
                paused_ns: 0,
            };
        }
    }

    /// A pause is over.
    pub fn resume(&mut self, now_ns: u64) {
        match self.phase {
            Phase::Paused {
                since_ns,
                is_inside,
            } => {
                self.phase = Phase::Running;
                if !is_inside {
                    let paused_ns = now_ns - since_ns;
                    self.paused_ns += paused_ns;
                    self.pass.paused_ns += paused_ns;
                }
            }
            Phase::Resting => self.phase = Phase::Rested,
            Phase::Recovering => self.phase = Phase::Between,
            _ => {}
        }
    }

    /// The transaction that had begun has not begun after all.
    pub fn unbegin(&mut self, recorder: &mut ThreadRecorder) {
        self.phase = Phase::Between;
        self.worktime.unbegun(self.started_ns);
        if !self.is_measured {
            return;
        }
        let transaction_type = self.next_script.transaction_type;
        recorder.attempts[transaction_type as usize] -= 1;
        if self.group.is_open_loop() {
            recorder.skipped(transaction_type, self.due_ns);
        } else {
            recorder.scheduled[transaction_type as usize] -= 1;
        }
    }

    /// What the answer to a statement means for the session and for the account.
    #[inline]
    pub fn statement_answered(
        &mut self,
        statement: u32,
        now_ns: u64,
        answer: &mut Answer,
        recorder: &mut ThreadRecorder,
    ) {
        let how = &self.plan.statements[statement as usize];
        self.error = answer.error.take();
        // In a pipeline the session says only at its end where it stands.
        if !matches!(self.phase, Phase::Syncing { .. }) {
            self.session.answered(answer, self.error.as_mut());
        }
        recorder
            .waits
            .waited(self.next_script.transaction_type, self.asked_ns, now_ns);
        if self.is_measured {
            recorder.statements += 1;
            if self.plan.times_statements {
                recorder.statement(statement, now_ns, now_ns - self.asked_ns);
            }
        }
        if self.error.is_none() && how.is_compared && self.is_measured {
            let Answer { rows, digest, .. } = *answer;
            recorder
                .results
                .count(statement, rows, digest, self.number, now_ns);
        }
    }

    /// What to keep of the answer to the statement at this place of the pipeline.
    #[must_use]
    pub fn keep_in_pipeline(&self, place: usize) -> Keep {
        self.pipeline.get(place).map_or(Keep::Count, |queued| {
            self.plan.statements[queued.statement as usize].keep
        })
    }

    /// A script that leaves its transaction open has failed: the next one must not go on with it.
    #[must_use]
    pub fn closed(&self, ending: Ending) -> Ending {
        let script = &self.plan.program.scripts[self.next_script.script as usize];
        if ending != Ending::Done || !self.session.is_open() || script.is_plain {
            return ending;
        }
        let path = &script.path;
        let message =
            format!("{path}: the script ended and its transaction is open: expected COMMIT");
        Ending::Failed {
            class: ErrorClass::Script.word(),
            message,
        }
    }

    /// What the script's end means; a failure is written down in the words of whoever knows most of it.
    pub fn judge(&mut self, ending: Ending, now_ns: u64, recorder: &mut ThreadRecorder) -> Then {
        let (class, message) = match ending {
            Ending::Done => {
                self.own_failures = 0;
                return Then::Ended(Outcome::Ok);
            }
            Ending::Aborted => return Then::Ended(Outcome::Aborted),
            Ending::Failed { class, message } => (class, message),
        };
        let is_own = class == ErrorClass::Script.word() && !self.has_executed;
        self.own_failures = if is_own { self.own_failures + 1 } else { 0 };
        let is_unknown =
            (self.error.as_ref()).is_some_and(|error| error.certainty == Certainty::Unknown);
        let is_again = !is_unknown
            && self.retries < self.group.most_retries
            && self.group.retried_classes.contains(&class)
            && !self.is_interrupted();
        // The one that ends the client is said also where nothing is measured yet.
        if self.is_measured || self.own_failures == MOST_OWN_FAILURES {
            let transaction_type = Some(self.next_script.transaction_type);
            let code = match &self.error {
                Some(error) if error.class.word() == class => {
                    recorder.errors.count(error, transaction_type, now_ns);
                    error.code.as_str()
                }
                _ => {
                    recorder.errors.count_words(
                        class,
                        "",
                        &message,
                        Certainty::Undone,
                        transaction_type,
                        now_ns,
                    );
                    ""
                }
            };
            self.failed_as = is_again.then(|| (class, code.to_owned()));
        }
        match (is_again, is_unknown) {
            (true, _) => Then::Again,
            (false, true) => Then::Ended(Outcome::Unknown),
            (false, false) => Then::Ended(Outcome::Failed),
        }
    }

    /// Whether the session must be rolled back before anything else. A plain file may begin a transaction in
    /// one of its statements and end it in another.
    #[must_use]
    #[inline]
    pub fn must_roll_back(&self, then: Then) -> bool {
        let script = &self.plan.program.scripts[self.next_script.script as usize];
        let goes_on = then == Then::Ended(Outcome::Ok) && script.is_plain;
        self.session.may_be_open() && !goes_on
    }

    /// The script has ended, and nothing of it is open any more.
    #[inline]
    pub fn go_on(&mut self, then: Then, now_ns: u64, recorder: &mut ThreadRecorder) {
        match then {
            Then::Ended(outcome) => self.transaction_ended(now_ns, outcome, recorder),
            Then::Again => {
                self.phase = Phase::Retrying;
                self.pipeline.clear();
                self.error = None;
                self.retries += 1;
                if self.is_measured {
                    let transaction_type = self.next_script.transaction_type;
                    recorder.attempts[transaction_type as usize] += 1;
                    recorder.retry(transaction_type, now_ns);
                    if let Some((class, code)) = self.failed_as.take() {
                        recorder.errors.retried(class, &code, transaction_type);
                    }
                }
            }
        }
    }

    #[inline]
    fn transaction_ended(&mut self, now_ns: u64, outcome: Outcome, recorder: &mut ThreadRecorder) {
        self.phase = Phase::Between;
        self.pipeline.clear();
        if self.is_measured {
            self.transactions += 1;
            let times = (
                now_ns - self.due_ns - self.paused_ns,
                now_ns - self.started_ns - self.paused_ns,
            );
            recorder.transaction(self.next_script.transaction_type, outcome, now_ns, times);
        }
        self.worktime
            .ended(now_ns, self.started_ns, self.paused_ns, self.is_measured);
        self.pass.is_clean &= outcome == Outcome::Ok;
        if self.next_script.closes_pass && self.pass.is_measured {
            self.passes += 1;
            if self.pass.is_clean {
                recorder.pass(
                    self.group.number,
                    now_ns,
                    now_ns - self.pass.started_ns - self.pass.paused_ns,
                );
            }
        }
        if self.is_unserved && outcome == Outcome::Ok {
            self.is_unserved = false;
            self.shared.outages().served(now_ns);
        }
    }

    /// A session stands again, or for the first time.
    pub fn connected(&mut self, pipelines: bool, recorder: &mut ThreadRecorder) {
        self.pipelines = pipelines;
        self.session = SessionTransaction::new();
        if self.is_away {
            self.is_away = false;
            self.is_unserved = true;
            self.shared.outages().returned(self.group.number);
        }
        match self.phase {
            Phase::Connecting => self.phase = Phase::Running,
            Phase::Away { .. } => {
                recorder.reconnects += 1;
                self.phase = Phase::Between;
            }
            _ => {}
        }
    }

    /// The client is without a session, and goes on trying to have one.
    pub fn goes_away(&mut self, now_ns: u64) {
        if !self.is_away {
            self.is_away = true;
            self.shared.outages().lost(self.group.number, now_ns);
        }
    }

    /// How long it waits before its `tries`-th try to come back.
    pub fn back_off_ns(&mut self) -> u64 {
        self.think_time.back_off_ns()
    }

    /// The first try is near again.
    pub fn reset_back_off(&mut self) {
        self.think_time.reset_back_off();
    }

    /// The session has gone, or was given up, in the middle of whatever the client does. A transaction
    /// under way ends with it: failed where it is known to be undone, and otherwise nobody knows.
    pub fn break_off(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        let is_undone = self.session.is_undone();
        self.end_transaction(now_ns, is_undone, recorder);
    }

    /// The run does not wait for the transaction any longer. Whether the system still
    /// completes it is not known.
    pub fn give_up(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        recorder.given_up += u64::from(self.is_in_transaction());
        let is_undone = self.session.is_untouched();
        self.end_transaction(now_ns, is_undone, recorder);
    }

    fn end_transaction(&mut self, now_ns: u64, is_undone: bool, recorder: &mut ThreadRecorder) {
        match self.phase {
            // It had failed, or was to be aborted, before: the session's end rolls back as well.
            Phase::RollingBack { then } => {
                let outcome = match then {
                    Then::Ended(outcome) => outcome,
                    Then::Again => Outcome::Failed,
                };
                self.transaction_ended(now_ns, outcome, recorder);
            }
            _ if !self.is_in_transaction() => {}
            _ => {
                if matches!(self.phase, Phase::Waiting { .. } | Phase::Syncing { .. }) {
                    recorder
                        .waits
                        .waited(self.next_script.transaction_type, self.asked_ns, now_ns);
                }
                self.resume(now_ns);
                let outcome = if is_undone {
                    Outcome::Failed
                } else {
                    Outcome::Unknown
                };
                self.transaction_ended(now_ns, outcome, recorder);
            }
        }
        self.session = SessionTransaction::new();
        self.pipeline.clear();
    }

    /// The error that ends the session, with what it means for the transaction under way.
    #[must_use]
    pub fn of_session(&self, error: &SystemError) -> SystemError {
        let is_undone = !self.is_in_transaction() || self.session.is_undone();
        SystemError {
            certainty: match is_undone {
                true => Certainty::Undone,
                false => Certainty::Unknown,
            },
            ..error.clone()
        }
    }

    /// Ends the client's work between two transactions.
    pub fn end(&mut self, now_ns: u64, state: State, recorder: &mut ThreadRecorder) {
        self.phase = Phase::Over;
        let is_gone = self.is_away || matches!(state, State::Lost | State::TimedOut);
        self.shared
            .outages()
            .ended(self.group.number, now_ns, self.is_away, is_gone);
        self.is_away = false;
        recorder.ends.push(End {
            client: self.number,
            at_ns: now_ns,
            passes: self.passes,
            transactions: self.transactions,
            worktime: self.worktime.finish(now_ns),
            state,
        });
    }
}
