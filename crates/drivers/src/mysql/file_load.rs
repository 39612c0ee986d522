//! Takes rows; gives the file that `LOAD DATA LOCAL INFILE` asks for, and says whether the server took
//! every row as it was.
//!
//! The server answers the statement by asking for a file; packets of any size follow, an empty one
//! ends it, and the answer comes. A file cannot be given up: what came before its end is kept. With
//! LOCAL the server also turns what would be an error into a warning (a value cut short, a row left
//! out), because it cannot stop the client. So a load that is given up, and a load with a warning,
//! both answer with an error, and the caller rolls its transaction back. Where tables know no
//! transactions the rows stay, and the caller must empty them.

use super::constants::head;
use super::escape;
use super::greeting::Agreement;
use super::own_statement::OwnStatement;
use super::packet::Packets;
use super::refusal::{self, Moment};
use super::server_ok::ServerOk;
use crate::{Answer, ErrorClass, Keep, Progress, SystemError, TransactionStatus};
use assay_values::{Cell, Row};

/// The caller sends what has grown beyond this, so no packet is touched again once it could be on
/// its way.
const SENT_BEYOND: usize = 64 * 1024;
/// Where one row is longer than this, it is cut: the file is cut into packets anywhere.
const PIECE: usize = 256 * 1024;
/// How many warnings are asked for and quoted.
const QUOTED_WARNINGS: &str = "SHOW WARNINGS LIMIT 3";

pub(super) struct FileLoad {
    stage: Stage,
    /// Where in the send buffer the packet begins that more rows may be added to, and where the
    /// buffer ended when it was left.
    open: Option<(usize, usize)>,
    affected: u64,
    error: Option<SystemError>,
}

enum Stage {
    Asked,
    Rows,
    Ended,
    /// The server is telling what it warned about.
    Warned {
        count: u16,
        info: String,
        question: Box<OwnStatement>,
    },
}

impl FileLoad {
    pub(super) fn begin(text: &str, packets: &mut Packets, out: &mut Vec<u8>) -> Self {
        packets.query(text, out);
        Self {
            stage: Stage::Asked,
            open: None,
            affected: 0,
            error: None,
        }
    }

    pub(super) fn takes_rows(&self) -> bool {
        matches!(self.stage, Stage::Rows)
    }

    pub(super) fn row(&mut self, row: &Row, packets: &mut Packets, out: &mut Vec<u8>) {
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

    pub(super) fn end(&mut self, abort: Option<&str>, packets: &mut Packets, out: &mut Vec<u8>) {
        self.error = abort.map(refusal::load_given_up);
        packets.append(out, &[]);
        self.stage = Stage::Ended;
    }

    /// Takes one message; `Ready` where the load is over and `answer` complete.
    pub(super) fn packet(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        packets: &mut Packets,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        if let Stage::Warned {
            count,
            info,
            question,
        } = &mut self.stage
        {
            let quoted = question.packet(payload, agreement, packets, out)?;
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
            (Stage::Asked, Some(&head::LOCAL_FILE)) => {
                self.stage = Stage::Rows;
                Ok(Some(Progress::BulkReady))
            }
            (Stage::Asked, Some(&head::OK)) => {
                let message = "the statement of a load did not ask for rows: it must be LOAD DATA \
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
        let question = OwnStatement::send(QUOTED_WARNINGS, Keep::Rows, packets, out);
        self.stage = Stage::Warned {
            count: ok.warnings,
            info: ok.info,
            question: Box::new(question),
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

/// The server's warnings as the error they are; rows of `quoted` are level, number, message.
fn warning(count: u16, info: &str, quoted: &Answer) -> SystemError {
    let cell = |row: &[Option<Box<[u8]>>], at: usize| {
        let cell = row.get(at).and_then(Option::as_deref).unwrap_or_default();
        String::from_utf8_lossy(cell).into_owned()
    };
    let words: Vec<String> = quoted.kept.iter().map(|row| cell(row, 2)).collect();
    let number = quoted
        .kept
        .first()
        .map_or_else(String::new, |row| cell(row, 1));
    let more = if usize::from(count) > words.len() {
        "; …"
    } else {
        ""
    };
    let message = format!(
        "the server changed or left out rows of the load (warnings: {count}; {info}): {}{more}",
        words.join("; ")
    );
    SystemError::new(ErrorClass::Data, number, message)
}

/// One row: tab between cells, newline at the end, backslash before both and before itself, `\N` for
/// NULL. These are the statement's defaults.
fn write_line(row: &Row, out: &mut Vec<u8>) {
    for (at, cell) in row.cells().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        match cell {
            Cell::Null => out.extend_from_slice(br"\N"),
            Cell::Text(text) => escape::append(text, out, |byte| match byte {
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
    fn a_line_of_the_file_escapes_what_would_end_a_cell() {
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
    fn rows_share_packets_until_they_could_be_on_their_way() {
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
            "{packet_count} packets are one for each row"
        );
    }
}
