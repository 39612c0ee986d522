//! Takes one session's share of the rows; loads it, between the statements before and after.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, Keep, SystemError, TransactionStatus};
use assay_values::{Row, RowSource, row_sum};

use crate::document::LoadDocument;
use crate::load::barrier::{Failure, LoadBarrier, ROWS_ARE_IN, not_aborted};
use crate::load::progress::Gauge;
use crate::session::{Cancellation, Halt, Session, SessionState};

/// Bytes are counted after this many rows: reading the counters costs as much as a short row.
const ROWS_PER_COUNT: u64 = 64;

/// How long a system may take to confirm that a bulk load was aborted.
const ABORT_TIMEOUT: Duration = Duration::from_secs(30);
/// The same after an interrupt: the server aborts when the session closes.
const INTERRUPTED_TIMEOUT: Duration = Duration::from_secs(2);

/// One session of a running load.
pub(super) struct LoadSession<'a> {
    pub session: Session,
    pub cancellation: Cancellation<'a>,
    pub gauge: &'a Gauge,
    pub barrier: &'a LoadBarrier,
    pub document: &'a LoadDocument,
    /// What the session had sent when the current table began.
    pub sent_before: u64,
}

impl LoadSession<'_> {
    pub fn run(&mut self, source: &mut dyn RowSource) -> Result<(), Failure> {
        for statement in &self.document.before {
            self.execute(statement)?;
        }
        self.rows(source)?;
        self.barrier.wait(ROWS_ARE_IN)?;
        for statement in &self.document.after {
            self.execute(statement)?;
        }
        Ok(())
    }

    fn rows(&mut self, source: &mut dyn RowSource) -> Result<(), Failure> {
        let (mut row, mut scratch) = (Row::new(), Vec::new());
        let (mut current, mut sum) = (None, 0);
        loop {
            let table = source.next_row(&mut row)?;
            if table != current {
                if current.is_some() {
                    self.end_table(source)?;
                }
                let Some(table) = table else { return Ok(()) };
                self.begin_table(table)?;
                current = Some(table);
            }
            let Some(table) = table else { return Ok(()) };
            if self.document.checksums {
                sum = row_sum(&row, &self.document.tables[table].types, &mut scratch);
            }
            let number = self.gauge.count_row(sum);
            if number.is_multiple_of(ROWS_PER_COUNT) {
                self.count_bytes(source);
            }
            if let Some(answer) = self.session.bulk_row(&row, number, &mut self.cancellation)? {
                checked(answer)?;
            }
        }
    }

    fn begin_table(&mut self, number: usize) -> Result<(), Failure> {
        let Some(table) = self.document.tables.get(number) else {
            return Err(Failure::Document(format!(
                "the load document, key `tables`: the source has rows for a table {number} (from 0), \
                 and the list has {} tables",
                self.document.tables.len()
            )));
        };
        self.gauge.begin(number);
        self.sent_before = self.session.bulk_bytes_sent();
        let form = table.form.into();
        checked(self.session.bulk_begin(&table.bulk, form, &table.types, &mut self.cancellation)?)?;
        Ok(())
    }

    fn end_table(&mut self, source: &dyn RowSource) -> Result<(), Failure> {
        let answer = checked(self.session.bulk_end(&mut self.cancellation)?)?;
        let sent = self.session.bulk_bytes_sent() - self.sent_before;
        self.gauge.end(answer.affected, sent);
        self.count_bytes(source);
        Ok(())
    }

    fn count_bytes(&self, source: &dyn RowSource) {
        self.gauge.count_bytes(source.bytes_read(), self.session.bulk_bytes_sent());
    }

    fn execute(&mut self, statement: &str) -> Result<(), Failure> {
        self.session
            .run(statement, Keep::Count, &mut self.cancellation)
            .map_err(Failure::from)
            .and_then(checked)
            .map(drop)
            .map_err(|failure| failure.in_statement(statement))
    }

    /// Aborts a bulk load, and runs the statements for errors. Does nothing if the session has ended, or no
    /// transaction is open: then the system has already rolled back.
    pub fn clean_up(&mut self) -> Result<(), SystemError> {
        if self.session.state() == SessionState::Bulk {
            let timeout = match self.barrier.is_interrupted() {
                true => INTERRUPTED_TIMEOUT,
                false => ABORT_TIMEOUT,
            };
            match self.session.bulk_abort("aborted by the client", timeout) {
                Ok(()) => {}
                Err(Halt::System(error)) => return Err(error),
                Err(Halt::Interrupted) => return Err(not_aborted()),
            }
        }
        if self.session.state() != SessionState::Idle
            || self.session.transaction() == TransactionStatus::None
        {
            return Ok(());
        }
        let deadline = Instant::now() + ABORT_TIMEOUT;
        let mut within_deadline = || match Instant::now() < deadline {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let mut cancellation = Cancellation::new(&mut within_deadline);
        for statement in &self.document.on_error {
            match self.session.run(statement, Keep::Count, &mut cancellation) {
                Ok(Answer { error: Some(error), .. }) | Err(Halt::System(error)) => {
                    return Err(error);
                }
                Ok(_) | Err(Halt::Interrupted) => {}
            }
        }
        Ok(())
    }
}

/// Returns the answer, unless it holds an error.
fn checked(mut answer: Answer) -> Result<Answer, Failure> {
    match answer.error.take() {
        Some(error) => Err(Failure::System(error, None)),
        None => Ok(answer),
    }
}
