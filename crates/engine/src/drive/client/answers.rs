//! Takes the answers to a client's statements and pipelines; updates its transaction, its script, the state of its session and
//! the recorder.

use assay_drivers::{Answer, ErrorClass, Keep, SystemError};
use assay_script::{Reply, StatementKind};

use crate::account::{ThreadRecorder, rows_of};
use crate::drive::client::Client;
use crate::drive::client::outcome::after_rollback;
use crate::drive::client::state::ClientState;
use crate::drive::client::transitions::{Phase, Queued, TransactionStep};

impl Client<'_> {
    /// Takes the answer that the client waited for, complete at `now_ns`; returns what to keep of the next
    /// answer.
    #[inline]
    pub fn answered(
        &mut self,
        now_ns: u64,
        answer: &mut Answer,
        recorder: &mut ThreadRecorder,
    ) -> Keep {
        if answer.is_unprepared && self.state.prepares_again(answer) {
            return Keep::Count;
        }
        let Phase::InTransaction(transaction) = &mut self.state.phase else {
            unreachable!("an answer belongs to a transaction")
        };
        match transaction.step() {
            TransactionStep::Preparing {
                statement,
                is_pipelined,
            } => self.prepared(statement, is_pipelined, now_ns, answer, recorder),
            TransactionStep::PreparingForNext { then } => {
                self.state.prepared_for_next(then, answer, recorder);
                Keep::Count
            }
            TransactionStep::Waiting {
                statement,
                is_pipelined: false,
            } => {
                transaction.goes_on();
                self.state
                    .statement_answered(statement, now_ns, answer, recorder);
                if self.state.error().is_some() || !self.machine.settled() {
                    self.machine.answered(reply(answer, self.state.error()));
                }
                Keep::Count
            }
            TransactionStep::Waiting {
                statement,
                is_pipelined: true,
            } => {
                transaction.goes_on();
                self.state
                    .statement_answered(statement, now_ns, answer, recorder);
                let status = answer.transaction;
                self.state.pipeline.push(Queued {
                    statement,
                    error: self.state.error().cloned(),
                    answer: std::mem::take(answer),
                });
                answer.transaction = status;
                self.machine.queued();
                Keep::Count
            }
            TransactionStep::Syncing { next } => {
                let Some(statement) = self.state.pipeline.get(next).map(|queued| queued.statement)
                else {
                    unreachable!("a pipeline has as many answers as statements")
                };
                transaction.syncs(next + 1);
                self.state
                    .statement_answered(statement, now_ns, answer, recorder);
                self.machine
                    .answered_pipelined(statement, reply(answer, self.state.error()));
                self.state.keep_until_synced(next, answer);
                self.state.keep_in_pipeline(next + 1)
            }
            // After a rollback the attempt is over, whatever the answer.
            TransactionStep::RollingBack { then } => {
                transaction.error = answer.error.take();
                let session = &mut self.state.session;
                session.answered(answer, transaction.error.as_mut());
                recorder.counts.statements += u64::from(transaction.is_measured);
                let then = after_rollback(then, session, transaction.is_measured, recorder);
                match transaction.error.is_none() || !session.may_be_open() {
                    true => transaction.is_closed(then),
                    false => transaction.rolls_back(then),
                }
                Keep::Count
            }
            step => unreachable!("a client that is {step:?} received an answer"),
        }
    }

    /// The statement was added to the pipeline, or could not be encoded.
    pub fn queued(&mut self, queued: Result<(), SystemError>) {
        let Phase::InTransaction(transaction) = &mut self.state.phase else {
            unreachable!("a pipeline belongs to a transaction")
        };
        let TransactionStep::Queueing { statement } = transaction.step() else {
            unreachable!("no statement was waiting to be queued")
        };
        transaction.goes_on();
        self.state.pipeline.push(Queued {
            statement,
            answer: Answer::default(),
            error: queued.err(),
        });
        self.machine.queued();
    }

    /// The pipeline has ended, with this answer. Its error is that of the commit of the statements outside a
    /// transaction, all of which were answered.
    pub fn synced(&mut self, now_ns: u64, answer: &mut Answer, recorder: &mut ThreadRecorder) {
        let state = &mut self.state;
        let Phase::InTransaction(transaction) = &mut state.phase else {
            unreachable!("a pipeline belongs to a transaction")
        };
        transaction.goes_on();
        if let Some(error) = answer.error.take()
            && transaction.error.is_none()
        {
            transaction.error = Some(error);
            if let Some(last) = state.pipeline.last() {
                let reply = reply(answer, transaction.error.as_ref());
                self.machine.answered_pipelined(last.statement, reply);
            }
        }
        let has_failed = transaction.error.is_some();
        state.session.pipeline_ended(answer, has_failed);
        if !has_failed {
            state.count_pipeline(now_ns, recorder);
        }
        state.pipeline.clear();
    }

    /// A statement was prepared again: it is executed once more, or fails with the error.
    #[cold]
    fn prepared(
        &mut self,
        statement: u32,
        is_pipelined: bool,
        now_ns: u64,
        answer: &mut Answer,
        recorder: &mut ThreadRecorder,
    ) -> Keep {
        let is_prepared = answer.error.is_none();
        let Phase::InTransaction(transaction) = &mut self.state.phase else {
            unreachable!("a statement belongs to a transaction")
        };
        if is_prepared {
            recorder.counts.prepared_again += 1;
            transaction.is_prepared(statement, is_pipelined);
            return Keep::Count;
        }
        transaction.waits_for(statement, is_pipelined);
        self.state.note_unprepared(statement);
        self.answered(now_ns, answer, recorder)
    }

    /// Passes the answers of a pipeline that was executed statement by statement to the script.
    pub(super) fn deliver(&mut self) {
        let state = &mut self.state;
        for queued in &state.pipeline {
            let is_answered = !state.pipelines || queued.error.is_some();
            if is_answered {
                let reply = reply(&queued.answer, queued.error.as_ref());
                self.machine.answered_pipelined(queued.statement, reply);
            }
        }
        let Phase::InTransaction(transaction) = &mut state.phase else {
            unreachable!("a pipeline belongs to a transaction")
        };
        let mut errors = state
            .pipeline
            .iter()
            .filter_map(|queued| queued.error.as_ref());
        if let Some(error) = errors.next() {
            transaction.error = Some(error.clone());
        }
        transaction.goes_on();
        if !state.pipelines {
            state.pipeline.clear();
        }
    }
}

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
        let is_syncing = matches!(transaction.step(), TransactionStep::Syncing { .. });
        if !is_syncing {
            self.session.answered(answer, transaction.error.as_mut());
        } else if transaction.error.is_none() {
            (self.session).answered_in_pipeline(how.kind, how.effect, answer.has_committed);
        } else {
            self.session.failed_in_pipeline(how.effect);
        }
        recorder.counts.waits.waited(
            transaction.script.transaction_type,
            transaction.sent_ns,
            now_ns,
        );
        if transaction.is_measured {
            recorder.counts.statements += 1;
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
    pub fn keep_in_pipeline(&self, place: usize) -> Keep {
        let Some(queued) = self.pipeline.get(place) else {
            return Keep::Count;
        };
        let needed = self.plan.statements[queued.statement as usize].keep;
        self.transaction()
            .map_or(needed, |transaction| transaction.keep(needed))
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

#[cold]
fn rolled_back() -> SystemError {
    SystemError::new(
        ErrorClass::Other,
        "",
        "expected the answer COMMIT, the server answered ROLLBACK: an error before it had ended the transaction",
    )
}
