//! A system that does nothing, as slowly and as badly as it is told: the whole tool can be tried and
//! tested with nothing installed, and the measurer can be measured.
//!
//! It accepts any statement. What it remembers is how many rows were loaded into each table, so that
//! a load can be verified; what it answers otherwise is told by its options (see [`options`]).

mod delay;
mod options;
mod random;
mod site;
mod tables;
mod trigger;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_datagen::Row;

use crate::{
    Answer, Blocking, BulkForm, Canceller, ErrorClass, LocalOptions, Request, SystemError,
};
use options::Options;
use random::Random;
use site::{Entrance, Site};
use tables::Statement;

/// One session.
pub struct NullConnection {
    site: Arc<Site>,
    /// When the first of the site's open sessions was opened.
    since: Instant,
    options: Options,
    random: Random,
    /// Statements executed so far, but for those of the schema.
    requests: u64,
    prepared: Vec<Option<Statement>>,
    bulk: Option<Bulk>,
    is_cancelled: Arc<AtomicBool>,
}

/// A bulk load under way: the table of the statement, if it names one, and the rows so far.
struct Bulk {
    table: Option<String>,
    rows: u64,
}

impl NullConnection {
    /// # Errors
    /// Where an option says something impossible, or the site has as many sessions as it takes.
    pub fn open(site: &LocalOptions<'_>) -> Result<Self, SystemError> {
        let options = Options::parse(site.options)?;
        let Entrance {
            site,
            ordinal,
            since,
        } = Site::enter(site.options, options.refuse_after)?;
        Ok(Self {
            site,
            since,
            random: Random::new(options.seed, ordinal),
            options,
            requests: 0,
            prepared: Vec::new(),
            bulk: None,
            is_cancelled: Arc::new(AtomicBool::new(false)),
        })
    }

    fn execute(&mut self, statement: &Statement, answer: &mut Answer) -> Result<(), SystemError> {
        if statement.is_schema() {
            self.answer(statement, answer);
            return Ok(());
        }
        self.requests += 1;
        let began = Instant::now();
        let age = began.saturating_duration_since(self.since);
        self.is_cancelled.store(false, Ordering::Relaxed);
        if let Some(lose) = &mut self.options.lose
            && lose.fires(self.requests, age, &mut self.random)
        {
            return Err(SystemError::new(
                ErrorClass::LostConnection,
                "",
                told_by("lose"),
            ));
        }
        let pause = self.pause(age);
        if !delay::wait_until(began + pause, &self.is_cancelled) {
            answer.error = Some(SystemError::new(ErrorClass::Timeout, "", "broken off"));
            return Ok(());
        }
        for failure in &mut self.options.failures {
            if failure.trigger.fires(self.requests, age, &mut self.random) {
                answer.error = Some(SystemError::new(failure.class, "", told_by("fail")));
                return Ok(());
            }
        }
        self.answer(statement, answer);
        Ok(())
    }

    /// How long this statement takes: its delay, and the stalls that it meets.
    fn pause(&mut self, age: Duration) -> Duration {
        let mut pause = self.options.delay.draw(&mut self.random);
        for stall in &mut self.options.stalls {
            pause = stall.lengthen(pause, self.requests, age, &mut self.random);
        }
        pause
    }

    fn answer(&self, statement: &Statement, answer: &mut Answer) {
        match statement {
            Statement::Count(table) => match self.site.tables().rows(table) {
                Some(rows) => answer_rows(1, rows, answer),
                None => answer_rows(self.options.rows, 1, answer),
            },
            Statement::Read => answer_rows(self.options.rows, 1, answer),
            Statement::Create(table) => self.site.tables().make(table),
            Statement::Drop(table) => self.site.tables().remove(table),
            Statement::Empty(table) => answer.affected = self.site.tables().empty(table),
            Statement::Change => answer.affected = 1,
            Statement::Schema | Statement::Other => {}
        }
    }
}

fn told_by(option: &str) -> String {
    format!("told to by the option {option}")
}

/// Rows of one column that count up from `first`.
fn answer_rows(rows: u64, first: u64, answer: &mut Answer) {
    answer.column("n");
    for row in 0..rows {
        if answer.wants_cells() {
            answer.begin_row();
            answer.cell(Some((first + row).to_string().as_bytes()));
            answer.end_row();
        } else {
            answer.pass_row();
        }
    }
}

impl Blocking for NullConnection {
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<(), SystemError> {
        match *request {
            Request::Text(text) => self.execute(&Statement::of(text), answer),
            Request::Prepare { id, text } => {
                let index = id as usize;
                if self.prepared.len() <= index {
                    self.prepared.resize(index + 1, None);
                }
                self.prepared[index] = Some(Statement::of(text));
                Ok(())
            }
            Request::Execute { id, .. } => {
                let Some(statement) = self.prepared.get_mut(id as usize).and_then(Option::take)
                else {
                    let message = format!("statement {id} was never prepared");
                    answer.error = Some(SystemError::new(ErrorClass::Other, "", message));
                    return Ok(());
                };
                let executed = self.execute(&statement, answer);
                self.prepared[id as usize] = Some(statement);
                executed
            }
            Request::Bulk {
                text,
                form: BulkForm::Native | BulkForm::MultiRow,
            } => {
                self.bulk = Some(Bulk {
                    table: tables::table_of_insert(text),
                    rows: 0,
                });
                Ok(())
            }
        }
    }

    fn bulk_row(&mut self, _row: &Row) -> Result<(), SystemError> {
        match &mut self.bulk {
            Some(bulk) => bulk.rows += 1,
            None => return Err(SystemError::protocol("a bulk load under way", "a row")),
        }
        Ok(())
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<(), SystemError> {
        let Some(bulk) = self.bulk.take() else {
            return Err(SystemError::protocol("a bulk load under way", "its end"));
        };
        if let Some(reason) = abort {
            answer.error = Some(SystemError::new(ErrorClass::Other, "", reason));
            return Ok(());
        }
        answer.affected = bulk.rows;
        if let Some(table) = bulk.table {
            self.site.tables().add(table, bulk.rows);
        }
        Ok(())
    }

    fn server_version(&self) -> &str {
        concat!("null ", env!("CARGO_PKG_VERSION"))
    }

    fn canceller(&self) -> Option<Canceller> {
        let is_cancelled = Arc::clone(&self.is_cancelled);
        Some(Box::new(move || {
            is_cancelled.store(true, Ordering::Relaxed)
        }))
    }
}

impl Drop for NullConnection {
    fn drop(&mut self) {
        self.site.leave();
    }
}
