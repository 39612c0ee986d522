//! Takes rows; sends each as an INSERT of its own, several before the first is answered, and counts those
//! that the server has stored.

use std::ops::ControlFlow;

use assay_values::Row;

use crate::msql::client::reply::Reply;
use crate::msql::client::statement;
use crate::msql::refusal;
use crate::msql::refusal::Moment;
use crate::{Answer, Result, SystemError};

/// Rows that are sent before the first of them is answered.
const WINDOW: usize = 64;

pub(crate) struct Load {
    /// `INSERT INTO t (a, b) VALUES`
    head: Box<str>,
    unanswered: usize,
    pub(crate) is_full: bool,
    stored: u64,
    error: Option<SystemError>,
    is_over: bool,
}

impl Load {
    /// `text` is an INSERT up to the word VALUES, or with placeholders after it; or `COPY t (a, b) FROM
    /// STDIN`, by which every null server is loaded.
    ///
    /// # Errors
    /// Where it is something else.
    pub(crate) fn new(text: &str) -> Result<Self> {
        let Some(head) = head_of(text.trim_end()) else {
            return Err(SystemError::refused(
                "mSQL loads rows by INSERT statements alone; expected one that ends in VALUES",
            ));
        };
        Ok(Self {
            head: head.into(),
            unanswered: 0,
            is_full: false,
            stored: 0,
            error: None,
            is_over: false,
        })
    }

    pub(crate) fn row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<Ping> {
        if self.error.is_some() {
            return ControlFlow::Continue(());
        }
        let sent = statement::send_with(out, |out| {
            out.extend_from_slice(self.head.as_bytes());
            for (at, cell) in row.cells().enumerate() {
                out.extend_from_slice(if at == 0 { b" (" } else { b"," });
                statement::write_cell(cell, out)?;
            }
            out.push(b')');
            Ok(())
        });
        match sent {
            Ok(()) => {
                self.unanswered += 1;
                self.is_full |= self.unanswered >= WINDOW;
                ControlFlow::Continue(())
            }
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(self.end(None))
            }
        }
    }

    /// No more rows come.
    pub(crate) fn end(&mut self, abort: Option<&str>) -> Ping {
        if let Some(reason) = abort {
            self.error
                .get_or_insert_with(|| SystemError::load_aborted(reason));
        }
        self.is_over = true;
        if self.unanswered > 0 {
            return Ping::NotNeeded;
        }
        Ping::Needed
    }

    /// Takes the reply to one row; returns whether the load is over, and then `answer` is complete.
    pub(crate) fn packet(&mut self, text: &[u8], answer: &mut Answer) -> Result<bool> {
        // Without a row under way, it is the reply to a ping.
        let is_row = self.unanswered > 0;
        match Reply::read(text) {
            Reply::Done => self.stored += u64::from(is_row),
            Reply::Error(message) => {
                self.error
                    .get_or_insert(refusal::read(message, Moment::Statement).of_statement()?);
            }
            _ => return Err(refusal::malformed("the reply to an INSERT", text)),
        }
        self.unanswered = self.unanswered.saturating_sub(1);
        if self.unanswered <= WINDOW / 2 {
            self.is_full = false;
        }
        let is_complete = self.unanswered == 0 && self.is_over;
        if is_complete {
            answer.affected = self.stored;
            answer.error = self.error.take();
        }
        Ok(is_complete)
    }
}

/// The INSERT up to the word VALUES.
fn head_of(text: &str) -> Option<String> {
    let table = (text.strip_prefix("COPY ")).and_then(|rest| rest.strip_suffix(" FROM STDIN"));
    if let Some(table) = table {
        return Some(format!("INSERT INTO {table} VALUES"));
    }
    let before_values = (text.strip_suffix(')')).and_then(|text| text.rsplit_once('('));
    let head = before_values.map_or(text, |(head, _)| head.trim_end());
    let is_insert = head.to_ascii_lowercase().ends_with("values");
    is_insert.then(|| head.to_owned())
}

/// Whether something must be sent so that the caller has an answer to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ping {
    Needed,
    NotNeeded,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_an_insert() {
        for text in [
            "INSERT INTO t (a, b) VALUES",
            "INSERT INTO t (a, b) VALUES (?, ?)",
            "COPY t (a, b) FROM STDIN",
        ] {
            let head = head_of(text);
            assert_eq!(head.as_deref(), Some("INSERT INTO t (a, b) VALUES"));
        }
        assert!(Load::new("COPY t (a, b) FROM '/etc/passwd'").is_err());
        assert!(Load::new("DELETE FROM t WHERE a IN (1, 2)").is_err());
    }
}
