//! Takes how a transaction ended (by its script, with its session, or since the run no longer waits), and what is certain and
//! durable of it; says whether it is ok, aborted, failed or unknown, or is tried again. Nothing else decides that.

use assay_drivers::{Certainty, ErrorClass, SystemError};
use assay_script::{Ending, NumberOutcome};

use crate::account::ThreadRecorder;
use crate::drive::client::session_transaction::SessionTransaction;
use crate::drive::client::state::ClientState;
use crate::drive::client::transitions::{AfterScript, Phase};
use crate::observation::Outcome;

impl ClientState<'_> {
    /// A script that leaves its transaction open has failed: the next one must not continue it.
    pub fn closed(&self, ending: Ending) -> Ending {
        let Some(transaction) = self.transaction() else {
            return ending;
        };
        let script = &self.plan.program.scripts[transaction.script.script as usize];
        if ending != Ending::Done || !self.session.is_open() || script.is_plain {
            return ending;
        }
        let path = &script.path;
        let message = format!("{path}: the script ended with an open transaction: expected COMMIT");
        Ending::Failed {
            class: ErrorClass::Script.word(),
            message,
        }
    }

    /// Decides what follows after its script has ended; counts a failure with the error of the
    /// system, or else of the script.
    pub fn judge(
        &mut self,
        ending: Ending,
        now_ns: u64,
        recorder: &mut ThreadRecorder,
    ) -> AfterScript {
        let (class, message) = match ending {
            Ending::Done => {
                self.permanent_failures
                    .not_failed(&self.shared.failures_of_all);
                return AfterScript::Ended(Outcome::Ok);
            }
            Ending::Aborted => {
                self.permanent_failures
                    .not_failed(&self.shared.failures_of_all);
                return AfterScript::Ended(Outcome::Aborted);
            }
            Ending::Failed { class, message } => (class, message),
        };
        let is_interrupted = self.is_interrupted();
        let Phase::InTransaction(transaction) = &mut self.phase else {
            unreachable!("a script runs in a transaction")
        };
        let is_last = self.permanent_failures.failed(
            (
                class,
                self.plan.at_first(transaction.script.transaction_type),
            ),
            transaction.has_executed,
            now_ns,
            &self.shared.failures_of_all,
        );
        let is_unknown =
            (transaction.error.as_ref()).is_some_and(|error| error.certainty == Certainty::Unknown);
        let may_be_again = !is_unknown
            && transaction.retries < self.group.work.retries.most
            && self.group.retried_classes.contains(&class)
            && !is_interrupted;
        // What stays of this attempt would be done twice.
        let is_part_durable = !is_unknown && self.session.may_be_durable();
        let is_again = may_be_again && !is_part_durable;
        if is_part_durable && transaction.is_measured {
            recorder.counts.partly_durable += 1;
            recorder.counts.not_retried += u64::from(may_be_again);
        }
        // The failure that ends the client is counted even outside the measurement.
        if transaction.is_measured || is_last {
            let transaction_type = Some(transaction.script.transaction_type);
            let code = match &transaction.error {
                Some(error) if error.class.word() == class => {
                    recorder
                        .counts
                        .errors
                        .count(error, transaction_type, now_ns);
                    error.code.as_str()
                }
                _ => {
                    recorder.counts.errors.count_script_error(
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
            transaction.failed_as = is_again.then(|| (class, code.to_owned()));
        }
        match (is_again, is_unknown || is_part_durable) {
            (true, _) => AfterScript::Again,
            (false, true) => AfterScript::Ended(Outcome::Unknown),
            (false, false) => AfterScript::Ended(Outcome::Failed),
        }
    }

    /// Whether the session must be rolled back next. A plain file may begin a transaction in one statement
    /// and end it in another.
    #[inline]
    pub fn must_roll_back(&self, then: AfterScript) -> bool {
        let Some(transaction) = self.transaction() else {
            return false;
        };
        let script = &self.plan.program.scripts[transaction.script.script as usize];
        let goes_on = then == AfterScript::Ended(Outcome::Ok) && script.is_plain;
        self.session.may_be_open() && !goes_on
    }

    /// The script has ended, and no transaction is open any more.
    #[inline]
    pub fn go_on(&mut self, then: AfterScript, now_ns: u64, recorder: &mut ThreadRecorder) {
        match then {
            AfterScript::Ended(outcome) => self.transaction_ended(now_ns, outcome, recorder),
            AfterScript::Rest => {
                self.pipeline.clear();
                let Phase::InTransaction(transaction) = &mut self.phase else {
                    unreachable!("a script runs in a transaction")
                };
                transaction.goes_on();
            }
            AfterScript::Again => {
                self.pipeline.clear();
                let Phase::InTransaction(transaction) = &mut self.phase else {
                    unreachable!("a script runs in a transaction")
                };
                transaction.try_again();
                self.session.begin();
                if transaction.is_measured {
                    let transaction_type = transaction.script.transaction_type;
                    recorder.counts.begun[transaction_type as usize].attempts += 1;
                    recorder.retry(transaction_type, now_ns);
                    if let Some((class, code)) = transaction.failed_as.take() {
                        recorder
                            .counts
                            .errors
                            .retried(class, &code, transaction_type);
                    }
                }
            }
        }
    }

    /// The session was lost or closed. The current transaction ends with it: as failed if it is known to be
    /// undone, and otherwise as unknown.
    pub fn end_with_session(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        let is_undone = self.session.is_undone();
        if !is_undone
            && self.session.is_rest_undone()
            && let Some(transaction) = self.transaction()
            && transaction.then().is_none()
        {
            recorder.counts.partly_durable += u64::from(transaction.is_measured);
        }
        self.end_transaction(now_ns, is_undone, recorder);
    }

    /// The run no longer waits for the transaction. The system may still complete it.
    pub fn abandon(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        recorder.counts.abandoned += u64::from(self.transaction().is_some());
        let is_undone = self.session.has_no_effect();
        self.end_transaction(now_ns, is_undone, recorder);
    }

    fn end_transaction(&mut self, now_ns: u64, is_undone: bool, recorder: &mut ThreadRecorder) {
        if let Some(transaction) = self.transaction() {
            let outcome = match transaction.then() {
                // It had already failed or aborted: the end of the session rolls it back too.
                Some(AfterScript::Ended(outcome)) => outcome,
                Some(AfterScript::Rest) => Outcome::Aborted,
                Some(AfterScript::Again) => Outcome::Failed,
                None => {
                    if transaction.is_waiting() {
                        let transaction_type = transaction.script.transaction_type;
                        let sent_ns = transaction.sent_ns;
                        recorder
                            .counts
                            .waits
                            .waited(transaction_type, sent_ns, now_ns);
                    }
                    self.resume(now_ns);
                    match is_undone {
                        true => Outcome::Failed,
                        false => Outcome::Unknown,
                    }
                }
            };
            self.transaction_ended(now_ns, outcome, recorder);
        }
        self.session = SessionTransaction::new();
        self.pipeline.clear();
    }

    /// How the transaction has ended for its shared numbers: what may stay of it keeps them, even after an abort.
    pub(super) fn of_numbers(&self, outcome: Outcome) -> NumberOutcome {
        match outcome {
            Outcome::Ok => NumberOutcome::Acknowledged,
            Outcome::Unknown => NumberOutcome::Unknown,
            Outcome::Aborted | Outcome::Failed if self.session.may_be_durable() => {
                NumberOutcome::Unknown
            }
            Outcome::Aborted | Outcome::Failed => NumberOutcome::Returned,
        }
    }

    /// The error of a transaction that the run no longer waits for, with its effect.
    pub fn of_abandoned(&self, error: SystemError) -> SystemError {
        match self.session.has_no_effect() {
            true => error,
            false => error.unknown(),
        }
    }

    /// The error that ends the session, with its effect on the current transaction.
    pub fn of_session(&self, error: &SystemError) -> SystemError {
        let is_undone = self.transaction().is_none() || self.session.is_undone();
        SystemError {
            certainty: match is_undone {
                true => Certainty::Undone,
                false => Certainty::Unknown,
            },
            ..error.clone()
        }
    }
}

/// What follows a rollback that was answered: a part that is durable already is not undone by it.
pub(super) fn after_rollback(
    then: AfterScript,
    session: &SessionTransaction,
    is_measured: bool,
    recorder: &mut ThreadRecorder,
) -> AfterScript {
    match then {
        AfterScript::Again | AfterScript::Ended(Outcome::Failed | Outcome::Aborted)
            if session.may_be_durable() =>
        {
            recorder.counts.partly_durable += u64::from(is_measured);
            let is_again = is_measured && then == AfterScript::Again;
            recorder.counts.not_retried += u64::from(is_again);
            AfterScript::Ended(Outcome::Unknown)
        }
        then => then,
    }
}
