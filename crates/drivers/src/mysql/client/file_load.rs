//! Takes rows; appends the file that `LOAD DATA LOCAL INFILE` requests, and reports whether the server
//! stored every row unchanged.
//!
//! The server answers the statement with a request for a file; the client sends packets of any size, an
//! empty one ends the file, and the server sends the result. A file cannot be aborted: the server keeps
//! the rows it has received. With LOCAL the server also turns errors into warnings (a truncated value, a
//! skipped row), because it cannot stop the client. So an aborted load and a load with a warning both
//! answer with an error, and the caller rolls its transaction back. In tables without transactions the
//! rows stay, and the caller must remove them.

use crate::mysql::shared::column::Column;
use crate::mysql::shared::constants::head;
use crate::mysql::shared::greeting::Agreement;
use crate::mysql::shared::packet::{Packets, ServerOk};
use crate::mysql::shared::refusal;
use crate::mysql::shared::refusal::Moment;
use crate::mysql::shared::results::{Format, Results, Step};
use crate::{Answer, ErrorClass, Keep, Progress, SystemError, TransactionStatus};
use assay_values::{Cell, Row};

/// The caller sends a buffer that has grown beyond this; a packet that may have been sent is not
/// extended.
const SENT_BEYOND: usize = 64 * 1024;
/// A longer row is split: packet boundaries need not be row boundaries.
const PIECE: usize = 256 * 1024;
/// How many warnings are fetched and quoted.
const QUOTED_WARNINGS: &str = "SHOW WARNINGS LIMIT 3";

pub(crate) struct FileLoad {
    stage: Stage,
    /// Where in the send buffer the packet begins to which rows may be added, and where the buffer
    /// ended after the last row.
    open: Option<(usize, usize)>,
    affected: u64,
    error: Option<SystemError>,
}

enum Stage {
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
            stage: Stage::Requested,
            open: None,
            affected: 0,
            error: None,
        }
    }

    pub(crate) fn takes_rows(&self) -> bool {
        matches!(self.stage, Stage::Rows)
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
        self.error = abort.map(refusal::load_aborted);
        packets.append(out, &[]);
        self.stage = Stage::Ended;
    }

    /// Takes one message; returns `Ready` once the load has ended and `answer` is complete.
    pub(crate) fn packet(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        packets: &mut Packets,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        if let Stage::Warned { count, info, query } = &mut self.stage {
            let quoted = query.packet(payload, agreement, packets, out)?;
            let warning = quoted.map(|quoted| warning(*count, info, quoted));
            return Ok(warning.map(|warning| {
                self.error = Some(warning);
                self.finish(answer)
            }));
        }
        match (&self.stage, payload.first()) {
            (_, Some(&head::ERROR)) => {
                let error = refusal::read(payload, Moment::Statement);
                if error.class.ends_the_session() {
                    return Err(error);
                }
                self.error.get_or_insert(error);
                Ok(Some(self.finish(answer)))
            }
            (Stage::Requested, Some(&head::LOCAL_FILE)) => {
                self.stage = Stage::Rows;
                Ok(Some(Progress::BulkReady))
            }
            (Stage::Requested, Some(&head::OK)) => {
                let message = "the statement of the load did not request rows: expected LOAD DATA \
                               LOCAL INFILE";
                self.error = Some(SystemError::new(ErrorClass::Syntax, "", message));
                Ok(Some(self.finish(answer)))
            }
            (Stage::Ended, Some(&head::OK)) => self.ended(payload, packets, out, answer),
            _ => Err(refusal::malformed("the answer to a load", payload)),
        }
    }

    fn ended(
        &mut self,
        payload: &[u8],
        packets: &mut Packets,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        let ok = ServerOk::read(payload)
            .ok_or_else(|| refusal::malformed("the end of a load", payload))?;
        self.affected = ok.affected;
        if ok.warnings == 0 || self.error.is_some() {
            return Ok(Some(self.finish(answer)));
        }
        let query = OwnStatement::send(QUOTED_WARNINGS, Keep::Rows, packets, out);
        self.stage = Stage::Warned {
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
    ) -> Result<Option<&mut Answer>, SystemError> {
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
            &row(&[
                Some("a\tb\\c\nd"),
                None,
                Some(""),
                Some("N"),
                Some("Ä\0\r'"),
            ]),
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
}
