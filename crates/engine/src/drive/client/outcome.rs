//! Takes a transaction's answers and its end, by its script or with its session; updates its outcome.

use assay_drivers::{Answer, Certainty, ErrorClass, Keep, SystemError};
use assay_script::{Ending, StatementKind};

use crate::account::{ThreadRecorder, rows_of};
use crate::drive::client::session_transaction::SessionTransaction;
use crate::drive::client::state::ClientState;
use crate::drive::client::transitions::{AfterScript, Phase, Queued, Transaction, TransactionStep};
use crate::observation::Outcome;

impl ClientState<'_> {
    /// Applies the answer to a statement to the session and the recorder.
    #[inline]
    pub fn statement_answered(
        &mut self,
        statement: u32,
        now_ns: u64,
        answer: &mut Answer,
        recorder: &mut ThreadRecorder,
    ) {
        let how = &self.plan.statements[statement as usize];
        if answer.has_rolled_back && how.kind == StatementKind::Commit {
            answer.error.get_or_insert_with(rolled_back);
        }
        if answer.is_unprepared {
            self.note_unprepared(statement);
        }
        let Phase::InTransaction(transaction) = &mut self.phase else {
            unreachable!("a statement belongs to a transaction")
        };
        // Both are large and nearly always empty.
        if answer.error.is_some() || transaction.error.is_some() {
            transaction.error = answer.error.take();
        }
        if let Some(error) = &mut transaction.error
            && matches!(
                error.class,
                ErrorClass::Syntax
                    | ErrorClass::UnknownObject
                    | ErrorClass::Permission
                    | ErrorClass::Constraint
                    | ErrorClass::Data
            )
        {
            error.message = self
                .plan
                .program
                .said_of_statement(statement, &error.message);
        }
        // In a pipeline the transaction status is only reported at the end.
        let is_syncing = matches!(transaction.step, TransactionStep::Syncing { .. });
        if !is_syncing {
            self.session.answered(answer, transaction.error.as_mut());
        } else if transaction.error.is_none() {
            (self.session).answered_in_pipeline(how.kind, how.effect, answer.has_committed);
        } else {
            self.session.failed_in_pipeline(how.effect);
        }
        recorder.waits.waited(
            transaction.script.transaction_type,
            transaction.sent_ns,
            now_ns,
        );
        if transaction.is_measured {
            recorder.statements += 1;
            if self.plan.times_statements {
                recorder.statement(statement, now_ns, now_ns - transaction.sent_ns);
            }
        }
        if !is_syncing && transaction.error.is_none() {
            self.count_answer(statement, now_ns, answer, recorder);
        }
    }

    /// Counts the rows of an answer without an error, and compares them with those of other answers.
    #[inline]
    fn count_answer(
        &mut self,
        statement: u32,
        now_ns: u64,
        answer: &Answer,
        recorder: &mut ThreadRecorder,
    ) {
        let how = &self.plan.statements[statement as usize];
        let Phase::InTransaction(transaction) = &mut self.phase else {
            unreachable!("a statement belongs to a transaction")
        };
        if self.plan.sums_answers {
            transaction.answered.add(answer.rows, answer.digest);
        }
        if self.plan.compares_answers && how.is_of_rows {
            recorder.statement_log.with(|log| {
                let answers = &mut log.answers[statement as usize];
                if transaction.is_measured {
                    answers.count(rows_of(answer));
                }
                if let Some(number) = transaction.compared_number {
                    self.compared_rows += answer.rows;
                    let client = if transaction.number.is_some() {
                        0
                    } else {
                        self.number
                    };
                    answers.compare(answer, number, client, how.has_parameters);
                }
            });
        }
        if how.is_compared && transaction.is_measured {
            let Answer { rows, digest, .. } = *answer;
            recorder.statement_log.with(|log| {
                log.results
                    .count(statement, rows, digest, self.number, now_ns);
            });
        }
    }

    /// Keeps the answer to the statement at this place of the pipeline: it counts only if the pipeline ends without an
    /// error.
    #[inline]
    pub fn keep_until_synced(&mut self, place: usize, answer: &mut Answer) {
        let queued = &mut self.pipeline[place];
        let how = &self.plan.statements[queued.statement as usize];
        if self.plan.sums_answers || self.plan.compares_answers || how.is_compared {
            let status = answer.transaction;
            queued.answer = std::mem::take(answer);
            answer.transaction = status;
        }
    }

    /// The pipeline has ended without an error: its answers count.
    pub fn count_pipeline(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        let pipeline = std::mem::take(&mut self.pipeline);
        for Queued {
            statement, answer, ..
        } in &pipeline
        {
            self.count_answer(*statement, now_ns, answer, recorder);
        }
        self.pipeline = pipeline;
    }

    /// What to keep of the answer to the statement at this place of the pipeline.
    #[must_use]
    pub fn keep_in_pipeline(&self, place: usize) -> Keep {
        let Some(queued) = self.pipeline.get(place) else {
            return Keep::Count;
        };
        let needed = self.plan.statements[queued.statement as usize].keep;
        self.transaction()
            .map_or(needed, |transaction| transaction.keep(needed))
    }

    /// A script that leaves its transaction open has failed: the next one must not continue it.
    #[must_use]
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
            && transaction.retries < self.group.most_retries
            && self.group.retried_classes.contains(&class)
            && !is_interrupted;
        // What stays of this attempt would be done twice.
        let is_part_durable = !is_unknown && self.session.may_be_durable();
        let is_again = may_be_again && !is_part_durable;
        if is_part_durable && transaction.is_measured {
            recorder.partly_durable += 1;
            recorder.not_retried += u64::from(may_be_again);
        }
        // The failure that ends the client is counted even outside the measurement.
        if transaction.is_measured || is_last {
            let transaction_type = Some(transaction.script.transaction_type);
            let code = match &transaction.error {
                Some(error) if error.class.word() == class => {
                    recorder.errors.count(error, transaction_type, now_ns);
                    error.code.as_str()
                }
                _ => {
                    recorder.errors.count_script_error(
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
    #[must_use]
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
                transaction.step = TransactionStep::Running;
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
                    recorder.attempts[transaction_type as usize] += 1;
                    recorder.retry(transaction_type, now_ns);
                    if let Some((class, code)) = transaction.failed_as.take() {
                        recorder.errors.retried(class, &code, transaction_type);
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
            && !transaction.is_ending()
        {
            recorder.partly_durable += u64::from(transaction.is_measured);
        }
        self.end_transaction(now_ns, is_undone, recorder);
    }

    /// The run no longer waits for the transaction. The system may still complete it.
    pub fn abandon(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        recorder.abandoned += u64::from(self.transaction().is_some());
        let is_undone = self.session.has_no_effect();
        self.end_transaction(now_ns, is_undone, recorder);
    }

    fn end_transaction(&mut self, now_ns: u64, is_undone: bool, recorder: &mut ThreadRecorder) {
        match self.transaction() {
            None => {}
            // It had already failed or aborted: the end of the session rolls it back too.
            Some(Transaction {
                step:
                    TransactionStep::RollingBack { then }
                    | TransactionStep::Closed { then }
                    | TransactionStep::PreparingForNext { then },
                ..
            }) => {
                let outcome = match *then {
                    AfterScript::Ended(outcome) => outcome,
                    AfterScript::Rest => Outcome::Aborted,
                    AfterScript::Again => Outcome::Failed,
                };
                self.transaction_ended(now_ns, outcome, recorder);
            }
            Some(transaction) => {
                if transaction.is_waiting() {
                    let transaction_type = transaction.script.transaction_type;
                    recorder
                        .waits
                        .waited(transaction_type, transaction.sent_ns, now_ns);
                }
                self.resume(now_ns);
                let outcome = match is_undone {
                    true => Outcome::Failed,
                    false => Outcome::Unknown,
                };
                self.transaction_ended(now_ns, outcome, recorder);
            }
        }
        self.session = SessionTransaction::new();
        self.pipeline.clear();
    }

    /// The error that ends the session, with its effect on the current transaction.
    #[must_use]
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

#[cold]
fn rolled_back() -> SystemError {
    SystemError::new(
        ErrorClass::Other,
        "",
        "expected the answer COMMIT, the server answered ROLLBACK: an error before it had ended the transaction",
    )
}
