//! Takes rows; appends them as the file that `LOAD DATA LOCAL INFILE` requests, or as `INSERT … VALUES` statements of many
//! rows; reports whether the server stored every row unchanged.
//!
//! The server answers LOAD DATA with a request for a file; the client sends packets of any size, an
//! empty one ends the file, and the server sends the result. A file cannot be aborted: the server keeps
//! the rows it has received. With LOCAL the server also turns errors into warnings (a truncated value, a
//! skipped row), because it cannot stop the client. So an aborted load and a load with a warning both
//! answer with an error, and the caller rolls its transaction back. In tables without transactions the
//! rows stay, and the caller must remove them.
//!
//! INSERT statements are pipelined: the next one is sent before the last one is answered. The server answers each with a
//! few bytes. The caller should read while it sends: once the answers no longer fit into the socket's buffers (after some
//! hundred statements), the server stops reading.

use assay_values::{Cell, Row};

use crate::mysql::constants::{command, head};
use crate::mysql::greeting::Agreement;
use crate::mysql::packet::{Packets, ServerOk};
use crate::mysql::refusal;
use crate::mysql::refusal::Moment;
use crate::mysql::results::{Format, Results, Step};
use crate::mysql::rows::Column;
use crate::{Answer, ErrorClass, Keep, Progress, Result, SystemError, TransactionStatus};

/// The caller sends a buffer that has grown beyond this; a packet that may have been sent is not
/// extended.
const SENT_BEYOND: usize = 64 * 1024;
/// A longer row is split: packet boundaries need not be row boundaries.
const PIECE: usize = 256 * 1024;
/// How many warnings are fetched and quoted.
const QUOTED_WARNINGS: &str = "SHOW WARNINGS LIMIT 3";

pub(crate) struct FileLoad {
    stage: FileStage,
    /// Where in the send buffer the packet begins to which rows may be added, and where the buffer
    /// ended after the last row.
    open: Option<(usize, usize)>,
    affected: u64,
    error: Option<SystemError>,
}

enum FileStage {
    Requested,
    Rows,
    Ended,
    /// The result of `SHOW WARNINGS` is being read.
    Warned {
        count: u16,
        info: String,
        query: Box<OwnStatement>,
    },
}

impl FileLoad {
    pub(crate) fn begin(text: &str, packets: &mut Packets, out: &mut Vec<u8>) -> Self {
        packets.query(text, out);
        Self {
            stage: FileStage::Requested,
            open: None,
            affected: 0,
            error: None,
        }
    }

    pub(crate) fn takes_rows(&self) -> bool {
        matches!(self.stage, FileStage::Rows)
    }

    pub(crate) fn row(&mut self, row: &Row, packets: &mut Packets, out: &mut Vec<u8>) {
        let start = match self.open {
            Some((start, end)) if end == out.len() => start,
            _ => packets.open(out),
        };
        write_line(row, out);
        if Packets::length(out, start) > PIECE {
            let rest = out.split_off(start + Packets::HEADER + PIECE);
            Packets::close(out, start);
            rest.chunks(PIECE)
                .for_each(|piece| packets.append(out, piece));
        } else {
            Packets::close(out, start);
        }
        self.open = (out.len() <= SENT_BEYOND).then_some((start, out.len()));
    }

    pub(crate) fn end(&mut self, abort: Option<&str>, packets: &mut Packets, out: &mut Vec<u8>) {
        self.error = abort.map(SystemError::load_aborted);
        packets.append(out, &[]);
        self.stage = FileStage::Ended;
    }

    /// Takes one message; returns `Ready` once the load has ended and `answer` is complete.
    pub(crate) fn packet(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        packets: &mut Packets,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
        if let FileStage::Warned { count, info, query } = &mut self.stage {
            let quoted = query.packet(payload, agreement, packets, out)?;
            let warning = quoted.map(|quoted| warning(*count, info, quoted));
            return Ok(warning.map(|warning| {
                self.error = Some(warning);
                self.finish(answer)
            }));
        }
        match (&self.stage, payload.first()) {
            (_, Some(&head::ERROR)) => {
                self.error
                    .get_or_insert(refusal::read(payload, Moment::Statement).of_statement()?);
                Ok(Some(self.finish(answer)))
            }
            (FileStage::Requested, Some(&head::LOCAL_FILE)) => {
                self.stage = FileStage::Rows;
                Ok(Some(Progress::BulkReady))
            }
            (FileStage::Requested, Some(&head::OK)) => {
                let message = "the statement of the load did not request rows: expected LOAD DATA \
                               LOCAL INFILE";
                self.error = Some(SystemError::new(ErrorClass::Syntax, "", message));
                Ok(Some(self.finish(answer)))
            }
            (FileStage::Ended, Some(&head::OK)) => self.ended(payload, packets, out, answer),
            _ => Err(SystemError::malformed("the answer to a load", payload)),
        }
    }

    fn ended(
        &mut self,
        payload: &[u8],
        packets: &mut Packets,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
        let ok = ServerOk::read(payload)
            .ok_or_else(|| SystemError::malformed("the end of a load", payload))?;
        self.affected = ok.affected;
        if ok.warnings == 0 || self.error.is_some() {
            return Ok(Some(self.finish(answer)));
        }
        let query = OwnStatement::send(QUOTED_WARNINGS, Keep::Rows, packets, out);
        self.stage = FileStage::Warned {
            count: ok.warnings,
            info: ok.info,
            query: Box::new(query),
        };
        Ok(None)
    }

    fn finish(&mut self, answer: &mut Answer) -> Progress {
        answer.affected = self.affected;
        answer.error = self.error.take();
        answer.transaction = TransactionStatus::Unknown;
        Progress::Ready
    }
}

/// The server's warnings as an error; the columns of `quoted` are level, number, message.
fn warning(count: u16, info: &str, quoted: &Answer) -> SystemError {
    let cell = |row: &[Option<Box<[u8]>>], at: usize| {
        let cell = row.get(at).and_then(Option::as_deref).unwrap_or_default();
        String::from_utf8_lossy(cell).into_owned()
    };
    let messages: Vec<String> = quoted.kept.iter().map(|row| cell(row, 2)).collect();
    let number = quoted
        .kept
        .first()
        .map_or_else(String::new, |row| cell(row, 1));
    let more = if usize::from(count) > messages.len() {
        "; …"
    } else {
        ""
    };
    let message = format!(
        "the server changed or skipped rows of the load (warnings: {count}; {info}): {}{more}",
        messages.join("; ")
    );
    // A number that cannot be read is that of no error.
    let class = refusal::class_of_warning(number.parse().unwrap_or_default());
    SystemError::new(class, number, message)
}

/// Appends one row: tab between cells, newline at the end, a backslash before either and before a
/// backslash, `\N` for NULL. These are the statement's defaults.
fn write_line(row: &Row, out: &mut Vec<u8>) {
    for (at, cell) in row.cells().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        match cell {
            Cell::Null => out.extend_from_slice(br"\N"),
            Cell::Text(text) => append_escaped(text, out, |byte| match byte {
                b'\\' => Some(b'\\'),
                b'\t' => Some(b't'),
                b'\n' => Some(b'n'),
                0 => Some(b'0'),
                _ => None,
            }),
            number => number.write_text(out),
        }
    }
    out.push(b'\n');
}

/// `letter` returns what follows the backslash for a byte that must be escaped. All such bytes are
/// ASCII, which is never part of a longer character in UTF-8.
pub(crate) fn append_escaped(text: &[u8], out: &mut Vec<u8>, letter: impl Fn(u8) -> Option<u8>) {
    out.reserve(text.len() + 16);
    let mut copied = 0;
    for (at, &byte) in text.iter().enumerate() {
        if let Some(letter) = letter(byte) {
            out.extend_from_slice(&text[copied..at]);
            out.extend_from_slice(&[b'\\', letter]);
            copied = at + 1;
        }
    }
    out.extend_from_slice(&text[copied..]);
}

pub(crate) struct OwnStatement {
    results: Results,
    columns: Vec<Column>,
    answer: Answer,
}

impl OwnStatement {
    pub(crate) fn send(text: &str, keep: Keep, packets: &mut Packets, out: &mut Vec<u8>) -> Self {
        packets.query(text, out);
        Self {
            results: Results::new(Format::Text),
            columns: Vec::new(),
            answer: Answer::new(keep),
        }
    }

    /// Takes one message; returns the answer once it is complete.
    pub(crate) fn packet(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        packets: &mut Packets,
        out: &mut Vec<u8>,
    ) -> Result<Option<&mut Answer>> {
        let Self {
            results,
            columns,
            answer,
        } = self;
        match results.packet(payload, agreement, columns, &mut Vec::new(), answer)? {
            Step::End => return Ok(Some(answer)),
            Step::WantsFile => packets.append(out, &[]), // an empty file: none is ever sent
            Step::More => {}
        }
        Ok(None)
    }
}

/// Bytes after which a statement is full: below the smallest `max_allowed_packet` in use (1 MiB).
const FULL_STATEMENT: usize = 512 * 1024;

pub(crate) struct InsertLoad {
    /// `INSERT INTO t (a, b) VALUES`
    head: String,
    /// The statement being assembled; empty between two statements.
    batch: Vec<u8>,
    stage: InsertStage,
    /// Statements not answered yet.
    unanswered: usize,
    affected: u64,
    warnings: u64,
    error: Option<SystemError>,
}

#[derive(PartialEq, Eq)]
enum InsertStage {
    Requested,
    Rows,
    Ended,
}

impl InsertLoad {
    pub(crate) fn begin(head: &str, packets: &mut Packets, out: &mut Vec<u8>) -> Self {
        let mut load = Self {
            head: head.to_owned(),
            batch: Vec::new(),
            stage: InsertStage::Requested,
            unanswered: 0,
            affected: 0,
            warnings: 0,
            error: None,
        };
        load.ping(packets, out);
        load
    }

    pub(crate) fn takes_rows(&self) -> bool {
        self.stage == InsertStage::Rows
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
                .get_or_insert_with(|| SystemError::load_aborted(reason));
        }
        if self.error.is_some() {
            self.batch.clear();
        }
        self.flush(packets, out);
        if self.unanswered == 0 {
            self.ping(packets, out);
        }
        self.stage = InsertStage::Ended;
    }

    /// Takes one message; returns `Ready` once the load has ended and `answer` is complete.
    pub(crate) fn packet(
        &mut self,
        payload: &[u8],
        packets: &mut Packets,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
        match payload.first() {
            Some(&head::OK) => {
                let ok = ServerOk::read(payload)
                    .ok_or_else(|| SystemError::malformed("the end of an INSERT", payload))?;
                self.affected = self.affected.saturating_add(ok.affected);
                self.warnings += u64::from(ok.warnings);
            }
            Some(&head::ERROR) => {
                self.error
                    .get_or_insert(refusal::read(payload, Moment::Statement).of_statement()?);
            }
            _ => return Err(SystemError::malformed("the answer to an INSERT", payload)),
        }
        self.unanswered = self.unanswered.saturating_sub(1);
        match self.stage {
            InsertStage::Requested => {
                self.stage = InsertStage::Rows;
                packets.set_pipelined(true);
                Ok(Some(Progress::BulkReady))
            }
            InsertStage::Ended if self.unanswered == 0 => {
                packets.set_pipelined(false);
                answer.affected = self.affected;
                answer.error = self.error.take().or_else(|| self.warning());
                answer.transaction = TransactionStatus::Unknown;
                Ok(Some(Progress::Ready))
            }
            InsertStage::Rows | InsertStage::Ended => Ok(None),
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
    fn a_line_of_the_file_escapes_tab_newline_and_backslash() {
        let mut out = Vec::new();
        write_line(
            &row(&[Some("a\tb\\c\nd"), None, Some(""), Some("N"), Some("Ä\0\r'")]),
            &mut out,
        );
        assert_eq!(out, "a\\tb\\\\c\\nd\t\\N\t\tN\tÄ\\0\r'\n".as_bytes());
    }

    #[test]
    fn rows_share_packets_that_are_not_sent_yet() {
        let (mut packets, mut out) = (Packets::default(), Vec::new());
        let mut file = FileLoad::begin("", &mut packets, &mut out);
        packets = Packets::default();
        out.clear();
        let mut expected = Vec::new();
        let (mut reader, mut found) = (Packets::default(), Vec::new());
        let mut packet_count = 0;
        for at in 0..40_000_usize {
            // One row is longer than a piece, one longer than a full packet.
            let length = match at {
                7 => 2 * PIECE + 5,
                9 => 17 << 20,
                _ => at % 40,
            };
            let cells = row(&[Some(&at.to_string()), Some(&"x".repeat(length))]);
            write_line(&cells, &mut expected);
            file.row(&cells, &mut packets, &mut out);
            if out.len() > SENT_BEYOND || at % 5_000 == 0 || at == 39_999 {
                let mut sent = 0;
                while let (used @ 1.., Some(piece)) = reader.read(&out[sent..]).expect("in order") {
                    assert!(!piece.is_empty(), "an empty packet would end the file");
                    found.extend_from_slice(&piece);
                    sent += used;
                    packet_count += 1;
                }
                assert_eq!(sent, out.len(), "whole packets at every moment");
                out.clear();
            }
        }
        assert!(found == expected);
        assert!(
            packet_count < 200,
            "{packet_count} packets: rows must share packets"
        );
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
