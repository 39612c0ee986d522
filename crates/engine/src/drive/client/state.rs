//! A client's current transaction and phase, without its script machine: a request borrows the machine's
//! parameters while this state changes.

use std::time::Duration;

use assay_drivers::SystemError;
use assay_script::{Deferred, NumberOutcome};
use assay_values::{Distribution, Random};

use crate::account::{
    COMPARED_ROWS, COMPARED_TRANSACTIONS, DoneTransaction, End, EndState, Identity,
    LoggedTransaction, ThreadRecorder,
};
use crate::drive::client::permanent_failures::PermanentFailures;
use crate::drive::client::session_transaction::SessionTransaction;
use crate::drive::client::tally::Tally;
use crate::drive::client::transitions::{
    BeforeScript, Phase, Queued, Transaction, TransactionStep,
};
use crate::drive::pace::arrivals::Arrival;
use crate::drive::pace::schedule::Schedule;
use crate::drive::plan::Plan;
use crate::drive::plan::group::Group;
use crate::drive::plan::script_selector::{NextScript, ScriptSelector, script_of_number};
use crate::drive::shared::Shared;
use crate::observation::Outcome;

/// In this order: first what every statement needs, then what a transaction needs, so that both take few lines of the
/// processor's caches; with many clients none is still there when a client's next answer arrives.
#[repr(C)]
pub struct ClientState<'a> {
    pub plan: &'a Plan,
    /// Its number among the clients of all groups and processes.
    pub number: u32,
    /// The state of the client's transaction on the server.
    pub session: SessionTransaction,
    /// Whether the session accepts pipelines.
    pub pipelines: bool,
    pub phase: Phase,
    pub group: &'a Group,
    pub(super) shared: &'a Shared,
    /// The pipelined statements, with the answers received so far.
    pub pipeline: Vec<Queued>,
    pub(super) tally: Tally,
    schedule: Schedule,
    selector: ScriptSelector,
    pub think_time: ThinkTime,
    pub(super) permanent_failures: PermanentFailures,
    /// One more than the highest number of its transactions, those of the warm-up included. Where no schedule or list
    /// gives numbers, how many it has begun.
    next_number: u64,
    /// Rows of answers that it has got to compare.
    pub(super) compared_rows: u64,
    has_begun: bool,
    /// Prepared statements that the server no longer accepts.
    pub(super) unprepared: Vec<u32>,
    /// The session was lost in a pause, which ends at this instant.
    pub(super) pause_ends_ns: Option<u64>,
    /// Has no session, and tries to open one.
    pub(super) is_reconnecting: bool,
    /// Has reconnected, and no transaction has been `ok` since.
    pub(super) is_unserved: bool,
    /// Its place among the clients of this process.
    place: u32,
    /// The index of the route of its current or last transaction.
    pub route: u32,
}

impl<'a> ClientState<'a> {
    /// Creates the state of the client at this place of the process.
    pub fn new(shared: &'a Shared, schedule: Schedule, place: u32) -> Self {
        let plan = &shared.plan;
        let group = plan.group_at(place);
        let number = group.client_number(place);
        Self {
            plan,
            number,
            session: SessionTransaction::new(),
            pipelines: false,
            phase: Phase::Between,
            group,
            shared,
            pipeline: Vec::new(),
            tally: Tally::new(
                shared.client_counts.begun(number),
                schedule.measure_ns,
                schedule.stop_ns,
            ),
            schedule,
            selector: ScriptSelector::new(plan, group, number),
            think_time: ThinkTime::new(plan.seed, number),
            permanent_failures: PermanentFailures::default(),
            next_number: 0,
            compared_rows: 0,
            has_begun: false,
            unprepared: Vec::new(),
            pause_ends_ns: None,
            is_reconnecting: false,
            is_unserved: false,
            place,
            route: 0,
        }
    }

    pub fn is_interrupted(&self) -> bool {
        self.shared.signals.is_interrupted()
    }

    /// The current transaction.
    #[inline]
    pub fn transaction(&self) -> Option<&Transaction> {
        match &self.phase {
            Phase::InTransaction(transaction) => Some(transaction),
            _ => None,
        }
    }

    /// The error of the last statement, if it failed.
    #[inline]
    pub fn error(&self) -> Option<&SystemError> {
        self.transaction()?.error.as_ref()
    }

    /// The type of the current transaction.
    pub fn transaction_type(&self) -> Option<u32> {
        let transaction = self.transaction()?;
        Some(transaction.script.transaction_type)
    }

    /// Takes a client between two transactions to its next one.
    pub fn before(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) -> BeforeScript {
        let is_between = matches!(
            self.phase,
            Phase::Between | Phase::Ready | Phase::Idle | Phase::Reconnecting { .. }
        );
        assert!(is_between, "a client in a pause cannot begin a transaction");
        // An idle client begins the transactions that were due before the end.
        let is_owed = matches!(self.phase, Phase::Idle);
        let must_end = self.must_end(now_ns);
        if let Some(state) = must_end.filter(|state| !is_owed || *state != EndState::Done) {
            self.end(now_ns, state, recorder);
            return BeforeScript::Done;
        }
        match self.phase {
            Phase::Reconnecting { .. } => return BeforeScript::Connect,
            Phase::Ready => {}
            _ if self.group.is_open_loop() => {
                self.phase.waits_for_arrival();
                return BeforeScript::Arrival;
            }
            _ => {
                if let Some(until_ns) = self.pause_until(now_ns) {
                    self.phase.thinks(until_ns);
                    return BeforeScript::Pause { until_ns };
                }
            }
        }
        let is_measured = now_ns >= self.schedule.measure_ns;
        let number = match self.group.work.stop.queue {
            None => None,
            Some(_) => match self.shared.take_number(self.group, is_measured) {
                Some(number) => Some(number),
                None => {
                    self.end(now_ns, EndState::Done, recorder);
                    return BeforeScript::Done;
                }
            },
        };
        let next = match number {
            None => self.selector.next(self.group),
            Some(number) => script_of_number(self.plan, self.group, number),
        };
        let next = self.routed(next);
        if is_measured {
            recorder.counts.begun[next.transaction_type as usize].scheduled += 1;
        }
        self.begin(now_ns, now_ns, (next, number), is_measured, recorder);
        match self.plan.connects_each {
            true => BeforeScript::Connect,
            false => BeforeScript::Begin,
        }
    }

    /// Starts the arrival that an idle client waited for.
    pub fn arrive(&mut self, arrival: Arrival, now_ns: u64, recorder: &mut ThreadRecorder) {
        let next = (self.routed(arrival.next), Some(arrival.number));
        self.begin(now_ns, arrival.due_ns, next, arrival.is_measured, recorder);
    }

    /// A script of the group, as a transaction type of the endpoint that it is sent to.
    #[inline]
    fn routed(&mut self, next: NextScript) -> NextScript {
        self.route = self
            .group
            .route_of(next.transaction_type - self.group.first_type);
        next.later_by(self.endpoint() * self.plan.types_at_each())
    }

    /// The index of the endpoint of its route.
    pub fn endpoint(&self) -> u32 {
        self.group.routes[self.route as usize].endpoint_of(self.number)
    }

    /// When a client of a closed loop may begin its next transaction, if it must pause before.
    #[inline]
    fn pause_until(&mut self, now_ns: u64) -> Option<u64> {
        let until_ns = if let Some(until_ns) = self.pause_ends_ns.take() {
            until_ns
        } else if self.has_begun {
            let pause_ns = self.think_time.between_ns(self.group);
            now_ns.saturating_add(pause_ns.max(self.permanent_failures.pause_ns()))
        } else {
            let begin_ns = self.schedule.begin_ns(self.number, self.plan.of_clients);
            begin_ns
                .max(now_ns)
                .saturating_add(self.think_time.first_ns(self.group))
        };
        (until_ns > now_ns).then_some(until_ns)
    }

    /// Whether the client must end, and with which state.
    fn must_end(&self, now_ns: u64) -> Option<EndState> {
        let group = self.group;
        if group.is_deferred() {
            // It ends when the queue is empty and nothing more can come: with the arrivals.
            let has_failed = self.permanent_failures.end_the_client();
            let is_interrupted = self.is_interrupted().then_some(EndState::Interrupted);
            return has_failed.then_some(EndState::Failed).or(is_interrupted);
        }
        let stop = &group.work.stop;
        let is_enough = || {
            (stop.transactions).is_some_and(|limit| self.tally.transactions >= limit)
                || (stop.passes).is_some_and(|limit| self.tally.passes >= limit)
                || (stop.queue.is_some() && self.shared.is_queue_empty(group))
                || self.shared.must_end_with_another(group)
        };
        if !group.is_open_loop() && is_enough() {
            return Some(EndState::Done);
        }
        if now_ns >= self.schedule.stop_ns {
            return Some(match self.phase {
                // The session was lost in a pause that is not over, and no attempt to reconnect failed: the client
                // has missed no transaction.
                Phase::Reconnecting {
                    was_refused: false, ..
                } if self.pause_ends_ns.is_some_and(|ends_ns| ends_ns > now_ns) => EndState::Done,
                Phase::Reconnecting { state, .. } => state,
                _ => EndState::Done,
            });
        }
        if self.permanent_failures.end_the_client() {
            return Some(EndState::Failed);
        }
        self.is_interrupted().then_some(EndState::Interrupted)
    }

    fn begin(
        &mut self,
        now_ns: u64,
        due_ns: u64,
        (script, number): (NextScript, Option<u64>),
        is_measured: bool,
        recorder: &mut ThreadRecorder,
    ) {
        let first = match self.plan.connects_each {
            true => TransactionStep::Connecting,
            false if self.group.routes.len() > 1 => TransactionStep::Routing,
            false => TransactionStep::Running,
        };
        let compared_number = self.compared_number(number);
        let times_ns = (due_ns, now_ns);
        (self.phase).begins(Transaction::new(
            first,
            script,
            number,
            compared_number,
            is_measured,
            times_ns,
        ));
        self.has_begun = true;
        self.next_number = self.next_number.max(number.unwrap_or(0)) + 1;
        self.session.begin();
        self.tally.begun(script, is_measured, now_ns);
        recorder.counts.begun[script.transaction_type as usize].attempts += u64::from(is_measured);
    }

    /// The number under which the answers of the next transaction are compared; `number` is that of a list.
    fn compared_number(&self, number: Option<u64>) -> Option<u8> {
        let is_one_of_them = number.is_some() || self.group.compares_client(self.number);
        if !self.plan.compares_answers || !is_one_of_them || self.compared_rows >= COMPARED_ROWS {
            return None;
        }
        let number = u8::try_from(number.unwrap_or(self.next_number)).ok()?;
        (number < COMPARED_TRANSACTIONS).then_some(number)
    }

    /// Its transaction queues a script.
    pub fn defer(&self, deferred: Deferred, now_ns: u64) {
        let is_measured = self.transaction().is_some_and(|one| one.is_measured);
        let at = (now_ns, is_measured);
        self.shared.defer(self.place, deferred, self.schedule, at);
    }

    /// A pause has ended.
    pub fn resume(&mut self, now_ns: u64) {
        if let Some(paused_ns) = self.phase.resumes(now_ns) {
            self.tally.paused(paused_ns);
        }
    }

    /// Counts the transaction as never started.
    pub fn retract(&mut self, recorder: &mut ThreadRecorder) {
        let Some(transaction) = self.phase.is_retracted() else {
            return;
        };
        self.tally.retracted(&transaction);
        self.plan
            .program
            .shared_numbers
            .ended(self.number, NumberOutcome::Returned);
        if !transaction.is_measured {
            return;
        }
        let transaction_type = transaction.script.transaction_type;
        recorder.counts.begun[transaction_type as usize].attempts -= 1;
        if self.group.is_open_loop() {
            recorder.skipped(
                transaction_type,
                self.identity(&transaction),
                transaction.due_ns,
            );
        } else {
            recorder.counts.begun[transaction_type as usize].scheduled -= 1;
        }
    }

    fn identity(&self, transaction: &Transaction) -> Identity {
        match transaction.number {
            Some(number) => Identity::Numbered(self.group.number, number),
            None => Identity::OfClient(self.number, self.next_number),
        }
    }

    #[inline]
    pub(super) fn transaction_ended(
        &mut self,
        now_ns: u64,
        outcome: Outcome,
        recorder: &mut ThreadRecorder,
    ) {
        let Phase::InTransaction(transaction) = &self.phase else {
            unreachable!("only a running transaction can end")
        };
        self.pipeline.clear();
        self.plan
            .program
            .shared_numbers
            .ended(self.number, self.of_numbers(outcome));
        if self.plan.sums_answers && transaction.is_measured && outcome == Outcome::Ok {
            // In a list that clients share, its number says what it asks; else the client and its own number:
            // of the pass, where each type is asked once in it, whatever stands before it.
            let (number, client) = match transaction.number {
                Some(number) => (number, 0),
                None if self.group.has_passes() => (self.tally.passes, self.number),
                None => (self.tally.transactions, self.number),
            };
            let kind = transaction.script.transaction_type as usize;
            recorder.counts.answer_sums[kind].add(&transaction.answered, number, client);
        }
        if let Some(number) = transaction.compared_number
            && outcome == Outcome::Ok
            && transaction.retries == 0
        {
            recorder.counts.completed[self.group.number as usize].add(number);
        }
        if let Some(log) = &mut recorder.transaction_log
            && transaction.is_measured
        {
            let (latency_ns, _) = transaction.times_ns(now_ns);
            let row = LoggedTransaction {
                transaction_type: transaction.script.transaction_type,
                due_ns: transaction.due_ns,
                done: Some(DoneTransaction {
                    client: self.number,
                    outcome,
                    started_ns: transaction.started_ns,
                    end_ns: now_ns,
                    latency_ns,
                }),
            };
            log.add(self.identity(transaction), row);
        }
        self.tally
            .ended(transaction, outcome, now_ns, self.number, recorder);
        self.phase.is_over();
        if self.is_unserved && outcome == Outcome::Ok {
            self.is_unserved = false;
            self.shared.outages().served(now_ns);
        }
    }

    /// Ends the client between two transactions.
    pub fn end(&mut self, now_ns: u64, state: EndState, recorder: &mut ThreadRecorder) {
        if !matches!(self.phase, Phase::Ended) {
            self.shared.client_ended(self.group);
        }
        self.phase.ends();
        let is_gone = self.is_reconnecting || matches!(state, EndState::Lost | EndState::TimedOut);
        self.shared
            .outages()
            .ended(self.group.number, now_ns, self.is_reconnecting, is_gone);
        self.is_reconnecting = false;
        let is_done = state == EndState::Done;
        (self.shared.client_counts).ended(self.number, self.tally.transactions, is_done);
        recorder.counts.ends.push(End {
            client: self.number,
            at_ns: now_ns,
            passes: self.tally.passes,
            transactions: self.tally.transactions,
            next_number: self.next_number,
            worktime: self.tally.finish(now_ns),
            state,
        });
    }
}

// Takes a client's number; returns its pauses between transactions, and between its attempts to reconnect
// after a lost session.

/// The random stream of pauses, separate from the client's others: different pauses leave the values of its
/// scripts unchanged.
const PAUSES: u64 = 0x7468_696e_6b69_6e67;

/// The pause before the first attempt to reconnect; it doubles with each attempt, …
const FIRST_TRY_NS: u64 = 10_000_000;
/// … up to this.
const SLOWEST_TRY_NS: u64 = 1_000_000_000;
/// How long a client waits for its next transaction after its connection was refused.
pub const REFUSED_PAUSE_NS: u64 = 10_000_000;

#[derive(Debug)]
pub struct ThinkTime {
    random: Random,
    next_try_ns: u64,
}

impl ThinkTime {
    pub fn new(seed: u64, client: u32) -> Self {
        Self {
            random: Random::stream(seed ^ PAUSES, client.into()),
            next_try_ns: FIRST_TRY_NS,
        }
    }

    /// The pause before a client's first transaction.
    pub fn first_ns(&mut self, group: &Group) -> u64 {
        self.draw(group.work.keying_time)
    }

    /// The pause between two transactions.
    #[inline]
    pub fn between_ns(&mut self, group: &Group) -> u64 {
        self.draw(group.work.think_time) + self.draw(group.work.keying_time)
    }

    /// The pause before the next attempt to reconnect: longer each time, and randomly up to half as much
    /// more, so that clients that were lost together do not reconnect at once.
    pub fn back_off_ns(&mut self) -> u64 {
        let least_ns = self.next_try_ns;
        self.next_try_ns = (2 * least_ns).min(SLOWEST_TRY_NS);
        let spread = Distribution::Uniform(Duration::ZERO, Duration::from_nanos(least_ns / 2));
        least_ns + self.draw(Some(spread))
    }

    /// The client has reconnected.
    pub fn reset_back_off(&mut self) {
        self.next_try_ns = FIRST_TRY_NS;
    }

    #[inline]
    fn draw(&mut self, pause: Option<Distribution>) -> u64 {
        let Some(pause) = pause else {
            return 0;
        };
        let drawn = pause.draw(&mut self.random);
        u64::try_from(drawn.as_nanos()).unwrap_or(u64::MAX)
    }
}
