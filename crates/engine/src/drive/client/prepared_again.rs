//! Prepares statements again that the server no longer accepts as they were prepared, as after a change of the schema:
//! at once where the transaction goes on, and else when it has ended.

use assay_drivers::{Answer, Keep, Request};

use crate::account::ThreadRecorder;
use crate::drive::client::Next;
use crate::drive::client::state::ClientState;
use crate::drive::client::transitions::{AfterScript, Phase, Transaction, TransactionStep};
use crate::drive::plan::SendMode;

impl<'a> ClientState<'a> {
    fn current(&mut self) -> &mut Transaction {
        match &mut self.phase {
            Phase::InTransaction(transaction) => transaction,
            _ => unreachable!("a statement belongs to a transaction"),
        }
    }

    /// The server did not accept the statement that was sent: returns whether it is prepared and executed once more, as
    /// if nothing had happened.
    #[cold]
    pub fn prepares_again(&mut self, answer: &Answer) -> bool {
        let transaction = self.current();
        let TransactionStep::Waiting {
            statement,
            is_pipelined,
        } = transaction.step()
        else {
            return false;
        };
        let goes_on = !transaction.is_second_execution
            && self.session.goes_on(answer.transaction)
            && self.is_prepared(statement);
        if goes_on {
            self.session.withdrawn();
            self.current().is_unprepared(statement, is_pipelined);
        }
        goes_on
    }

    fn is_prepared(&self, statement: u32) -> bool {
        self.plan.statements[statement as usize].send_mode == SendMode::Prepared
    }

    /// The statement must be prepared again before another transaction executes it.
    #[cold]
    pub fn note_unprepared(&mut self, statement: u32) {
        if self.is_prepared(statement) && !self.unprepared.contains(&statement) {
            self.unprepared.push(statement);
        }
    }

    /// The request that prepares a statement.
    #[cold]
    pub fn preparation_of<'n>(&self, statement: u32) -> Next<'n>
    where
        'a: 'n,
    {
        Next::Request {
            request: Request::Prepare {
                id: statement,
                pieces: &self.plan.program.statements[statement as usize].pieces,
            },
            keep: Keep::Count,
        }
    }

    /// The statement is sent once more; returns what to keep of its answer.
    #[cold]
    pub fn executes_again(&mut self, statement: u32, is_pipelined: bool) -> Keep {
        let how = &self.plan.statements[statement as usize];
        self.session.sent(how.kind, how.effect);
        let transaction = self.current();
        transaction.is_second_execution = true;
        transaction.waits_for(statement, is_pipelined);
        transaction.keep(how.keep)
    }

    /// Prepares a statement for the transactions that follow, before `then`.
    #[cold]
    pub fn prepare_for_next<'n>(&mut self, then: AfterScript) -> Next<'n>
    where
        'a: 'n,
    {
        let statement = *(self.unprepared.last()).expect("a statement must be prepared again");
        self.current().prepares_for_next(then);
        self.preparation_of(statement)
    }

    /// It was prepared. If it could not be, the next execution shows that it must be.
    #[cold]
    pub fn prepared_for_next(
        &mut self,
        then: AfterScript,
        answer: &mut Answer,
        recorder: &mut ThreadRecorder,
    ) {
        self.unprepared.pop();
        recorder.counts.prepared_again += u64::from(answer.error.take().is_none());
        self.current().is_closed(then);
    }
}
