//! Takes rows; puts them into a table by the session's bulk load, whichever end the session has.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, Blocking as _, BulkForm, Keep, Request};
use assay_values::{ColumnType, Row};

use super::{Cancellation, End, Halt, Session, State};

/// A library is fed from this thread; the caller is asked after so many rows.
const ROWS_A_LOOK: u64 = 256;

impl Session {
    /// Begins a bulk load; an error of the statement is in the answer.
    ///
    /// # Errors
    /// Where the session is over or the caller wants to stop.
    pub(crate) fn bulk_begin(
        &mut self,
        text: &str,
        form: BulkForm,
        types: &[ColumnType],
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        let answer = match &mut self.end {
            End::Server(connection) => connection.bulk_begin(text, form, types, cancellation),
            End::Library(library) => {
                let mut answer = Answer::new(Keep::Count);
                match library.request(&Request::Bulk { text, form, types }, &mut answer) {
                    Ok(()) => Ok(answer),
                    Err(error) => Err(error.into()),
                }
            }
        };
        self.state = match &answer {
            Ok(answer) if answer.error.is_none() => State::Bulk,
            Ok(_) => State::Idle,
            Err(halt) => self.state_after(halt),
        };
        self.transaction = super::status_after(&answer);
        answer
    }

    /// Appends the `number`-th row. Gives the answer where the system has ended the load by itself,
    /// which it does only on an error.
    ///
    /// # Errors
    /// Where the session is over, or the caller wants to stop; then the load is still to be aborted.
    #[inline]
    pub(crate) fn bulk_row(
        &mut self,
        row: &Row,
        number: u64,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Option<Answer>, Halt> {
        let ended = match &mut self.end {
            End::Server(connection) => connection.bulk_row(row, cancellation),
            End::Library(library) => match library.bulk_row(row) {
                Ok(()) if number.is_multiple_of(ROWS_A_LOOK) => {
                    cancellation.look_up().map(|()| None)
                }
                Ok(()) => Ok(None),
                Err(error) => Err(error.into()),
            },
        };
        match &ended {
            Ok(None) | Err(Halt::Interrupted) => {}
            Ok(Some(answer)) => {
                self.state = State::Idle;
                self.transaction = answer.transaction;
            }
            Err(Halt::System(_)) => self.state = State::Over,
        }
        ended
    }

    /// Ends the load; the answer holds the rows that the system counts, or an error of the rows.
    ///
    /// # Errors
    /// Where the session is over or the caller wants to stop.
    pub(crate) fn bulk_end(&mut self, cancellation: &mut Cancellation<'_>) -> Result<Answer, Halt> {
        self.bulk_close(None, cancellation)
    }

    /// Gives the load up, so that the session can go on with something else.
    ///
    /// # Errors
    /// Where the session is over, or the system does not give up in time.
    pub(crate) fn bulk_abort(&mut self, reason: &str, limit: Duration) -> Result<(), Halt> {
        let deadline = Instant::now() + limit;
        let mut ask = || match Instant::now() < deadline {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        self.bulk_close(Some(reason), &mut Cancellation::new(&mut ask))
            .map(drop)
    }

    fn bulk_close(
        &mut self,
        abort: Option<&str>,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        let answer = match &mut self.end {
            End::Server(connection) => connection.bulk_end(abort, cancellation),
            End::Library(library) => {
                let mut answer = Answer::new(Keep::Count);
                match library.bulk_end(abort, &mut answer) {
                    Ok(()) => Ok(answer),
                    Err(error) => Err(error.into()),
                }
            }
        };
        self.state = match &answer {
            Ok(_) => State::Idle,
            Err(halt) => self.state_after(halt),
        };
        self.transaction = super::status_after(&answer);
        answer
    }

    /// Whether the system works in this process, on the thread that calls it.
    pub(crate) fn is_in_process(&self) -> bool {
        matches!(self.end, End::Library(_))
    }

    /// Bytes of bulk messages sent so far; 0 where nothing travels.
    pub(crate) fn bulk_bytes_sent(&self) -> u64 {
        match &self.end {
            End::Server(connection) => connection.bytes_sent(),
            End::Library(_) => 0,
        }
    }
}
