//! Takes rows; appends `INSERT … VALUES` statements of many rows, pipelined: the next one is sent
//! before the last one is answered.
//!
//! The server answers every statement with a few bytes. The caller should read while it sends: once
//! the answers no longer fit into the socket's buffers (after some hundred statements), the server
//! stops reading.

use crate::mysql::client::file_load::append_escaped;
use crate::mysql::shared::constants::{command, head};
use crate::mysql::shared::packet::{Packets, ServerOk};
use crate::mysql::shared::refusal;
use crate::mysql::shared::refusal::Moment;
use crate::{Answer, ErrorClass, Progress, SystemError, TransactionStatus};
use assay_values::{Cell, Row};

/// Bytes after which a statement is full: below the smallest `max_allowed_packet` in use (1 MiB).
const FULL_STATEMENT: usize = 512 * 1024;

pub(crate) struct InsertLoad {
    /// `INSERT INTO t (a, b) VALUES`
    head: String,
    /// The statement being assembled; empty between two statements.
    batch: Vec<u8>,
    stage: Stage,
    /// Statements not answered yet.
    unanswered: usize,
    affected: u64,
    warnings: u64,
    error: Option<SystemError>,
}

#[derive(PartialEq, Eq)]
enum Stage {
    Requested,
    Rows,
    Ended,
}

impl InsertLoad {
    pub(crate) fn begin(head: &str, packets: &mut Packets, out: &mut Vec<u8>) -> Self {
        let mut load = Self {
            head: head.to_owned(),
            batch: Vec::new(),
            stage: Stage::Requested,
            unanswered: 0,
            affected: 0,
            warnings: 0,
            error: None,
        };
        load.ping(packets, out);
        load
    }

    pub(crate) fn takes_rows(&self) -> bool {
        self.stage == Stage::Rows
    }

    pub(crate) fn row(&mut self, row: &Row, packets: &mut Packets, out: &mut Vec<u8>) {
        if self.error.is_some() {
            return; // further rows would only be rolled back
        }
        if self.batch.is_empty() {
            self.batch.push(command::QUERY);
            self.batch.extend_from_slice(self.head.as_bytes());
            self.batch.extend_from_slice(b" (");
        } else {
            self.batch.extend_from_slice(b",(");
        }
        for (at, cell) in row.cells().enumerate() {
            if at > 0 {
                self.batch.push(b',');
            }
            write_literal(cell, &mut self.batch);
        }
        self.batch.push(b')');
        if self.batch.len() >= FULL_STATEMENT {
            self.flush(packets, out);
        }
    }

    pub(crate) fn end(&mut self, abort: Option<&str>, packets: &mut Packets, out: &mut Vec<u8>) {
        if let Some(reason) = abort {
            self.error
                .get_or_insert_with(|| refusal::load_aborted(reason));
        }
        if self.error.is_some() {
            self.batch.clear();
        }
        self.flush(packets, out);
        if self.unanswered == 0 {
            self.ping(packets, out);
        }
        self.stage = Stage::Ended;
    }

    /// Takes one message; returns `Ready` once the load has ended and `answer` is complete.
    pub(crate) fn packet(
        &mut self,
        payload: &[u8],
        packets: &mut Packets,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        match payload.first() {
            Some(&head::OK) => {
                let ok = ServerOk::read(payload)
                    .ok_or_else(|| refusal::malformed("the end of an INSERT", payload))?;
                self.affected = self.affected.saturating_add(ok.affected);
                self.warnings += u64::from(ok.warnings);
            }
            Some(&head::ERROR) => {
                let error = refusal::read(payload, Moment::Statement);
                if error.class.ends_the_session() {
                    return Err(error);
                }
                self.error.get_or_insert(error);
            }
            _ => return Err(refusal::malformed("the answer to an INSERT", payload)),
        }
        self.unanswered = self.unanswered.saturating_sub(1);
        match self.stage {
            Stage::Requested => {
                self.stage = Stage::Rows;
                packets.set_pipelined(true);
                Ok(Some(Progress::BulkReady))
            }
            Stage::Ended if self.unanswered == 0 => {
                packets.set_pipelined(false);
                answer.affected = self.affected;
                answer.error = self.error.take().or_else(|| self.warning());
                answer.transaction = TransactionStatus::Unknown;
                Ok(Some(Progress::Ready))
            }
            Stage::Rows | Stage::Ended => Ok(None),
        }
    }

    /// A server without a strict SQL mode changes values and only warns.
    fn warning(&self) -> Option<SystemError> {
        (self.warnings > 0).then(|| {
            let message = format!(
                "the server changed values of the load ({} warnings); a strict sql_mode reports which",
                self.warnings
            );
            SystemError::new(ErrorClass::Data, "", message)
        })
    }

    fn flush(&mut self, packets: &mut Packets, out: &mut Vec<u8>) {
        if !self.batch.is_empty() {
            packets.begin_command();
            packets.write(out, |out| out.extend_from_slice(&self.batch));
            self.batch.clear();
            self.unanswered += 1;
        }
    }

    /// A PING, so that the caller always has an answer to wait for.
    fn ping(&mut self, packets: &mut Packets, out: &mut Vec<u8>) {
        packets.begin_command();
        packets.append(out, &[command::PING]);
        self.unanswered += 1;
    }
}

fn write_literal(cell: Cell<'_>, out: &mut Vec<u8>) {
    match cell {
        Cell::Null => out.extend_from_slice(b"NULL"),
        Cell::Text(text) => {
            out.push(b'\'');
            append_escaped(text, out, |byte| match byte {
                b'\\' | b'\'' => Some(byte),
                0 => Some(b'0'),
                _ => None,
            });
            out.push(b'\'');
        }
        number => number.write_text(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[Option<&str>]) -> Row {
        let mut row = Row::new();
        for cell in cells {
            match cell {
                None => row.push_null(),
                Some(text) => row.push_bytes(text.as_bytes()),
            }
        }
        row
    }

    #[test]
    fn a_statement_ends_at_the_limit_and_the_rest_at_the_end() {
        let (mut packets, mut out) = (Packets::default(), Vec::new());
        let mut load = InsertLoad::begin("INSERT INTO t (a, b) VALUES", &mut packets, &mut out);
        out.clear();
        load.row(&row(&[Some("it's \\"), None]), &mut packets, &mut out);
        load.row(&row(&[Some("2"), Some("")]), &mut packets, &mut out);
        assert!(out.is_empty(), "the statement is not full");
        load.row(
            &row(&[Some(&"x".repeat(FULL_STATEMENT)), None]),
            &mut packets,
            &mut out,
        );
        let expected = r"INSERT INTO t (a, b) VALUES ('it\'s \\',NULL),('2',''),('xxx";
        assert_eq!(&out[5..5 + expected.len()], expected.as_bytes());
        assert_eq!(load.unanswered, 2, "the ping and one statement");
        out.clear();
        load.end(None, &mut packets, &mut out);
        assert!(out.is_empty(), "nothing was left");
    }
}
