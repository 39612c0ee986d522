//! Takes the packets a client sends; gives the statements in them, and writes the server's answers: the other
//! side of [`MsqlWire`](super::MsqlWire).
//!
//! It accepts any user and any database. Lists of databases, tables and columns are empty.

use crate::lexer::Literals;
use crate::msql::packet::MAX_SENT_BYTES;
use crate::msql::{packet, refusal};
use crate::null::{ResultSize, Statement};
use crate::{ErrorClass, PIECE_BYTES, Result, ServerEvent, SystemError, WireServer};

/// The server's side of one session.
pub struct MsqlServer {
    admission: Result<u32>,
    phase: Phase,
    statement: Option<Statement>,
    /// The head of the current answer has been sent; rows follow.
    is_begun: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The client sends its name.
    Greeted,
    Open,
    Over,
}

impl MsqlServer {
    /// `admission` is the session's number, or the error that refuses it.
    pub fn new(admission: Result<u32>) -> Self {
        Self {
            admission,
            phase: Phase::Greeted,
            statement: None,
            is_begun: false,
        }
    }

    /// Takes one packet; returns whether it holds a statement.
    fn packet(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        if text.len() > MAX_SENT_BYTES {
            let found = format_args!("one of {} bytes", text.len());
            return Err(SystemError::protocol("a packet of at most 32 KiB", found).of_client());
        }
        if self.phase == Phase::Greeted {
            self.phase = Phase::Open;
            packet::write(out, |out| out.extend_from_slice(DONE));
            return Ok(false);
        }
        match text.split_first_chunk::<2>() {
            Some((b"3:", statement)) => return Ok(self.query(statement, out)),
            Some((b"2:", _)) => packet::write(out, |out| out.extend_from_slice(DONE)),
            Some((b"1:", _)) => self.phase = Phase::Over,
            Some((b"4:" | b"5:" | b"6:", _)) => {
                packet::write(out, |out| out.extend_from_slice(END));
            }
            _ => {
                let error = refusal::malformed("a command of the mSQL protocol", text);
                return Err(error.of_client());
            }
        }
        Ok(false)
    }

    fn query(&mut self, text: &[u8], out: &mut Vec<u8>) -> bool {
        let text = String::from_utf8_lossy(text);
        if text.trim().is_empty() {
            let error = SystemError::new(ErrorClass::Syntax, "", "the statement is empty");
            write_error(&error, out);
            return false;
        }
        self.statement = Some(Statement::of(&text, Literals::Backslash));
        true
    }
}

const DONE: &[u8] = b"1";
const END: &[u8] = b"-100";

fn write_error(error: &SystemError, out: &mut Vec<u8>) {
    packet::write(out, |out| {
        out.extend_from_slice(b"-1:");
        out.extend_from_slice(refusal::message_of(error).as_bytes());
    });
}

impl WireServer for MsqlServer {
    fn connected(&mut self, out: &mut Vec<u8>) {
        match &self.admission {
            Ok(_) => packet::write(out, |out| {
                out.extend_from_slice(concat!("0:4:null-", env!("CARGO_PKG_VERSION")).as_bytes());
            }),
            Err(refusal) => {
                write_error(refusal, out);
                self.phase = Phase::Over;
            }
        }
    }

    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, ServerEvent<'_>)> {
        let mut used = 0;
        let mut has_statement = false;
        while self.phase != Phase::Over && !has_statement {
            let Some((size, text)) =
                packet::read(&input[used..]).map_err(SystemError::of_client)?
            else {
                return Ok((used, ServerEvent::More));
            };
            used += size;
            has_statement = self.packet(text, out)?;
        }
        match &self.statement {
            Some(statement) if has_statement => Ok((used, ServerEvent::Execute(statement))),
            _ => Ok((used, ServerEvent::Over)),
        }
    }

    #[inline]
    fn answer(&mut self, given: &mut ResultSize, out: &mut Vec<u8>) -> bool {
        let piece_end = out.len() + PIECE_BYTES;
        let Some(statement) = &self.statement else {
            return true;
        };
        let columns = &statement.columns;
        if columns.is_empty() {
            packet::write(out, |out| out.extend_from_slice(DONE));
            self.statement = None;
            return true;
        }
        if !self.is_begun {
            let head = format!("1:{}", columns.len());
            packet::write(out, |out| out.extend_from_slice(head.as_bytes()));
            self.is_begun = true;
        }
        while given.rows > 0 {
            if out.len() >= piece_end {
                return false;
            }
            let number = given.first.to_string();
            packet::write(out, |out| {
                for _ in columns {
                    packet::write_field(number.as_bytes(), out);
                }
            });
            given.first += 1;
            given.rows -= 1;
        }
        packet::write(out, |out| out.extend_from_slice(END));
        for name in columns {
            packet::write(out, |out| {
                for value in ["", name, "1", "4", "N", "N"] {
                    packet::write_field(value.as_bytes(), out);
                }
            });
        }
        packet::write(out, |out| out.extend_from_slice(END));
        (self.statement, self.is_begun) = (None, false);
        true
    }

    fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>) {
        (self.statement, self.is_begun) = (None, false);
        write_error(error, out);
        if error.class.ends_the_session() {
            self.phase = Phase::Over;
        }
    }
}
