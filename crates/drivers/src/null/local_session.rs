//! Takes the statements of one session in this process; waits as long as the null system is to take for each,
//! and gives what it answers. What a statement looks like is the driver's affair.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::delay;
use super::meaning::Statement;
use super::model::{Given, PlannedReply, ServerModel, SessionModel, told_by};
use crate::{Answer, Canceller, ErrorClass, LocalOptions, SystemError};

pub(crate) struct LocalSession {
    model: SessionModel,
    bulk: Option<Bulk>,
    is_cancelled: Arc<AtomicBool>,
}

/// A bulk load under way: the table of the statement, if it names one, and the rows so far.
struct Bulk {
    table: Option<String>,
    rows: u64,
}

impl LocalSession {
    /// # Errors
    /// Where an option says something impossible, or the site has as many sessions as it takes.
    pub fn open(site: &LocalOptions<'_>) -> Result<Self, SystemError> {
        Ok(Self {
            model: ServerModel::shared(site.options)?.open_session()?,
            bulk: None,
            is_cancelled: Arc::new(AtomicBool::new(false)),
        })
    }

    /// Executes a statement; where it ends well, `give` puts its rows into the answer.
    ///
    /// # Errors
    /// Where the session is lost in it.
    pub fn execute(
        &mut self,
        statement: &Statement,
        answer: &mut Answer,
        give: impl FnOnce(Given, &mut Answer),
    ) -> Result<(), SystemError> {
        self.is_cancelled.store(false, Ordering::Relaxed);
        let began = Instant::now();
        let PlannedReply::Answered { after, error } = self.model.plan_reply(statement, began)
        else {
            return Err(SystemError::new(
                ErrorClass::LostConnection,
                "",
                told_by("lose"),
            ));
        };
        if !delay::wait_until(began + after, &self.is_cancelled) {
            answer.error = Some(SystemError::new(ErrorClass::Timeout, "", "broken off"));
        } else if error.is_some() {
            answer.error = error;
        } else {
            let given = self.model.answer(statement);
            answer.affected = given.affected;
            give(given, answer);
        }
        Ok(())
    }

    pub fn begin_bulk(&mut self, table: Option<String>) {
        self.bulk = Some(Bulk { table, rows: 0 });
    }

    /// # Errors
    /// Where no load is under way.
    pub fn bulk_row(&mut self) -> Result<(), SystemError> {
        match &mut self.bulk {
            Some(bulk) => bulk.rows += 1,
            None => return Err(SystemError::protocol("a bulk load under way", "a row")),
        }
        Ok(())
    }

    /// # Errors
    /// Where no load is under way.
    pub fn bulk_end(
        &mut self,
        abort: Option<&str>,
        answer: &mut Answer,
    ) -> Result<(), SystemError> {
        let Some(bulk) = self.bulk.take() else {
            return Err(SystemError::protocol("a bulk load under way", "its end"));
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
