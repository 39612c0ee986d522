//! Takes the answers to a client's statements and pipelines; updates its transaction and its script.

use assay_drivers::{Answer, Keep, SystemError};
use assay_script::Reply;

use crate::account::ThreadRecorder;
use crate::drive::client::Client;
use crate::drive::client::transitions::{AfterScript, Phase, Queued, TransactionStep};
use crate::observation::Outcome;

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
        match transaction.step {
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
                transaction.step = TransactionStep::Running;
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
                transaction.step = TransactionStep::Running;
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
                transaction.step = TransactionStep::Syncing { next: next + 1 };
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
                recorder.statements += u64::from(transaction.is_measured);
                let then = match then {
                    AfterScript::Again | AfterScript::Ended(Outcome::Failed | Outcome::Aborted)
                        if session.may_be_durable() =>
                    {
                        recorder.partly_durable += u64::from(transaction.is_measured);
                        let is_again = transaction.is_measured && then == AfterScript::Again;
                        recorder.not_retried += u64::from(is_again);
                        AfterScript::Ended(Outcome::Unknown)
                    }
                    then => then,
                };
                transaction.step = match transaction.error.is_none() || !session.may_be_open() {
                    true => TransactionStep::Closed { then },
                    false => TransactionStep::RollingBack { then },
                };
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
        let TransactionStep::Queueing { statement } = transaction.step else {
            unreachable!("no statement was waiting to be queued")
        };
        transaction.step = TransactionStep::Running;
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
        transaction.step = TransactionStep::Running;
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
            recorder.prepared_again += 1;
            transaction.step = TransactionStep::Prepared {
                statement,
                is_pipelined,
            };
            return Keep::Count;
        }
        transaction.step = TransactionStep::Waiting {
            statement,
            is_pipelined,
        };
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
        transaction.step = TransactionStep::Running;
        if !state.pipelines {
            state.pipeline.clear();
        }
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
