//! Takes the statements of one session in this process; waits as long as the null system's options set, and
//! returns the answers. Parsing statements is up to the driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::null::meaning::Statement;
use crate::null::model::{PlannedReply, ResultSize, ServerModel, SessionModel, caused_by_option};
use crate::{Answer, Canceller, ErrorClass, LocalOptions, SystemError};

pub(crate) struct LocalSession {
    model: SessionModel,
    bulk: Option<Bulk>,
    is_cancelled: Arc<AtomicBool>,
}

/// The current bulk load: the table, if the statement names one, and the rows so far.
struct Bulk {
    table: Option<String>,
    rows: u64,
}

impl LocalSession {
    /// # Errors
    /// Where an option is invalid, or the deployment has reached its limit of sessions.
    pub fn open(deployment: &LocalOptions<'_>) -> Result<Self, SystemError> {
        Ok(Self {
            model: ServerModel::shared(deployment.options)?.open_session()?,
            bulk: None,
            is_cancelled: Arc::new(AtomicBool::new(false)),
        })
    }

    /// Executes a statement; if it succeeds, `write_rows` puts its rows into the answer.
    ///
    /// # Errors
    /// Where the session is lost during the statement.
    pub fn execute(
        &mut self,
        statement: &Statement,
        answer: &mut Answer,
        write_rows: impl FnOnce(ResultSize, &mut Answer),
    ) -> Result<(), SystemError> {
        self.is_cancelled.store(false, Ordering::Relaxed);
        let began = Instant::now();
        let PlannedReply::Answered { after, error } = self.model.plan_reply(statement, began)
        else {
            return Err(SystemError::new(
                ErrorClass::LostConnection,
                "",
                caused_by_option("lose"),
            ));
        };
        if !wait_until(began + after, &self.is_cancelled) {
            answer.error = Some(SystemError::new(ErrorClass::Timeout, "", "cancelled"));
        } else if error.is_some() {
            answer.error = error;
        } else {
            let given = self.model.answer(statement);
            answer.affected = given.affected;
            write_rows(given, answer);
        }
        Ok(())
    }

    pub fn begin_bulk(&mut self, table: Option<String>) {
        self.bulk = Some(Bulk { table, rows: 0 });
    }

    /// # Errors
    /// Where no bulk load is open.
    pub fn bulk_row(&mut self) -> Result<(), SystemError> {
        match &mut self.bulk {
            Some(bulk) => bulk.rows += 1,
            None => return Err(SystemError::protocol("an open bulk load", "a row")),
        }
        Ok(())
    }

    /// # Errors
    /// Where no bulk load is open.
    pub fn bulk_end(
        &mut self,
        abort: Option<&str>,
        answer: &mut Answer,
    ) -> Result<(), SystemError> {
        let Some(bulk) = self.bulk.take() else {
            return Err(SystemError::protocol("an open bulk load", "its end"));
        };
        if let Some(reason) = abort {
            answer.error = Some(SystemError::new(ErrorClass::Other, "", reason));
            return Ok(());
        }
        answer.affected = bulk.rows;
        if let Some(table) = bulk.table {
            self.model.loaded(&table, bulk.rows);
        }
        Ok(())
    }

    pub fn canceller(&self) -> Canceller {
        let is_cancelled = Arc::clone(&self.is_cancelled);
        Box::new(move || is_cancelled.store(true, Ordering::Relaxed))
    }
}

/// Waits until that instant; returns false if cancelled before.
///
/// A sleeping thread wakes up some 60 µs late: it sleeps until shortly before, then polls the clock and
/// yields in between.
fn wait_until(instant: Instant, is_cancelled: &AtomicBool) -> bool {
    const WOKEN_LATE: Duration = Duration::from_micros(100);
    const LONGEST_SLEEP: Duration = Duration::from_millis(20);
    loop {
        let left = instant.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        if is_cancelled.load(Ordering::Relaxed) {
            return false;
        }
        match left.checked_sub(WOKEN_LATE) {
            Some(asleep) => std::thread::sleep(asleep.min(LONGEST_SLEEP)),
            None => std::thread::yield_now(),
        }
    }
}
