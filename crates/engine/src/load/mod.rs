//! Takes a load document and a source of rows; fills the tables, in one session and in this order:
//! the statements before, the rows of one table after the other, the statements after. Where anything
//! fails, the bulk load under way is given up and the statements for errors run instead of the rest.

mod failure;
mod progress;

pub use progress::{LoadProgress, LoadReport, TableReport};

use std::ops::ControlFlow;
use std::time::Instant;

use assay_datagen::{Row, RowSource};
use assay_drivers::{Answer, Keep, SystemError};

use crate::EngineError;
use crate::document::LoadDocument;
use crate::session::{Halt, Patience, Session, Site, State};
use failure::Failure;
use progress::Gauge;

/// Loads all rows of `source`.
///
/// `progress` is told at most ten times a second how far it is; where it breaks, the load is given up
/// as after an error. Only a statement that the server will not interrupt ends differently: then the
/// session is dropped, and the server rolls back when it notices.
///
/// # Errors
/// Where the document is wrong, the system refuses or dies, or the source is wrong. The tables then
/// are what the statements for errors have made of them; an error of these is told as well.
pub fn load(
    document: &LoadDocument,
    source: &mut dyn RowSource,
    progress: &mut dyn FnMut(&LoadProgress) -> ControlFlow<()>,
) -> Result<LoadReport, EngineError> {
    let site = Site::of(&document.site)?;
    let gauge = Gauge::new(document);
    let mut tell = || progress(&gauge.progress());
    let mut patience = Patience::new(&mut tell);
    let session = Session::at(&site, &mut patience)
        .map_err(|halt| Failure::from(halt).during("opening a session"))?;

    let started = Instant::now();
    let mut loader = Loader {
        session,
        patience,
        gauge: &gauge,
        document,
    };
    match loader.run(source) {
        Ok(()) => {
            let elapsed = started.elapsed().as_nanos();
            Ok(gauge.report(u64::try_from(elapsed).expect("584 years have not passed")))
        }
        Err(failure) => {
            let during = gauge.under_way();
            Err(match loader.clean_up() {
                Ok(()) => failure.during(&during),
                Err(second) => failure.during(&format!(
                    "{during}, after which cleaning up failed as well ({second})"
                )),
            })
        }
    }
}

/// One load under way.
struct Loader<'a> {
    session: Session,
    patience: Patience<'a>,
    gauge: &'a Gauge<'a>,
    document: &'a LoadDocument,
}

impl Loader<'_> {
    fn run(&mut self, source: &mut dyn RowSource) -> Result<(), Failure> {
        for statement in &self.document.before {
            self.execute(statement)?;
        }
        self.rows(source)?;
        for statement in &self.document.after {
            self.execute(statement)?;
        }
        Ok(())
    }

    fn rows(&mut self, source: &mut dyn RowSource) -> Result<(), Failure> {
        let mut row = Row::new();
        let mut current = None;
        loop {
            let table = source.next_row(&mut row)?;
            if table != current {
                if current.is_some() {
                    self.end_table()?;
                }
                let Some(table) = table else { return Ok(()) };
                self.begin_table(table)?;
                current = Some(table);
            } else if table.is_none() {
                return Ok(());
            }
            let number = self.gauge.count_row();
            self.gauge
                .count_bytes(source.bytes_read(), self.session.bulk_bytes_sent());
            if let Some(answer) = self.session.bulk_row(&row, number, &mut self.patience)? {
                checked(answer)?;
            }
        }
    }

    fn begin_table(&mut self, number: usize) -> Result<(), Failure> {
        let Some(table) = self.document.tables.get(number) else {
            return Err(Failure::Document(format!(
                "the load document, key `tables`: the source has rows for a table {number} (from 0), \
                 and the list names {}",
                self.document.tables.len()
            )));
        };
        self.gauge.begin(number);
        checked(
            self.session
                .bulk_begin(&table.bulk, table.form.into(), &mut self.patience)?,
        )?;
        Ok(())
    }

    fn end_table(&mut self) -> Result<(), Failure> {
        let answer = checked(self.session.bulk_end(&mut self.patience)?)?;
        self.gauge.end(answer.affected);
        Ok(())
    }

    fn execute(&mut self, statement: &str) -> Result<(), Failure> {
        self.session
            .run(statement, Keep::Count, &mut self.patience)
            .map_err(Failure::from)
            .and_then(checked)
            .map(drop)
            .map_err(|failure| failure.in_statement(statement))
    }

    /// Brings the session out of a bulk load, and runs the statements for errors. Does nothing where
    /// there is no session any more to do it with: the system itself rolls back then.
    fn clean_up(&mut self) -> Result<(), SystemError> {
        if self.session.state() == State::Bulk {
            match self.session.bulk_abort("given up by the client") {
                Ok(()) => {}
                Err(Halt::System(error)) => return Err(error),
                Err(Halt::Interrupted) => return Err(failure::would_not_stop()),
            }
        }
        if self.session.state() != State::Idle {
            return Ok(());
        }
        let mut never = || ControlFlow::Continue(());
        let mut patience = Patience::new(&mut never);
        for statement in &self.document.on_error {
            match self.session.run(statement, Keep::Count, &mut patience) {
                Ok(Answer {
                    error: Some(error), ..
                })
                | Err(Halt::System(error)) => {
                    return Err(error);
                }
                Ok(_) | Err(Halt::Interrupted) => {}
            }
        }
        Ok(())
    }
}

/// The answer, unless it holds an error.
fn checked(mut answer: Answer) -> Result<Answer, Failure> {
    match answer.error.take() {
        Some(error) => Err(Failure::System(error, None)),
        None => Ok(answer),
    }
}
