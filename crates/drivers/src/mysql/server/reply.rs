//! Takes results and errors; appends the null server's packets. The errors for bytes that violate the protocol are here.

use crate::mysql::constants::{column_type, head};
use crate::mysql::greeting::Agreement;
use crate::mysql::packet::{Packets, write_length, write_text};
use crate::mysql::results::Format;
use crate::{Certainty, ErrorClass, SystemError};

/// The character set of binary data and numbers.
const BINARY: u16 = 63;

#[inline]
pub(crate) fn ok(head: u8, affected: u64, status: u16, packets: &mut Packets, out: &mut Vec<u8>) {
    packets.write(out, |out| {
        out.push(head);
        write_length(out, usize::try_from(affected).unwrap_or(usize::MAX));
        out.push(0); // last inserted id
        out.extend_from_slice(&status.to_le_bytes());
        out.extend_from_slice(&[0; 2]); // warnings
    });
}

/// The end of rows: an OK packet with the head 0xFE, or an EOF packet.
#[inline]
pub(crate) fn end_of_rows(
    agreement: Agreement,
    status: u16,
    packets: &mut Packets,
    out: &mut Vec<u8>,
) {
    if agreement.deprecates_eof() {
        ok(head::END, 0, status, packets, out);
    } else {
        end_of_definitions(status, packets, out);
    }
}

pub(crate) fn end_of_definitions(status: u16, packets: &mut Packets, out: &mut Vec<u8>) {
    packets.write(out, |out| {
        out.extend_from_slice(&[head::END, 0, 0]);
        out.extend_from_slice(&status.to_le_bytes());
    });
}

/// The definition of a column, or of a parameter, of 64-bit integers.
pub(crate) fn definition(name: &str, packets: &mut Packets, out: &mut Vec<u8>) {
    packets.write(out, |out| {
        write_text(out, b"def");
        for text in ["", "", "", name, ""] {
            write_text(out, text.as_bytes());
        }
        out.push(12); // length of what follows
        out.extend_from_slice(&BINARY.to_le_bytes());
        out.extend_from_slice(&20_u32.to_le_bytes());
        out.push(column_type::LONGLONG);
        out.extend_from_slice(&[0; 5]); // flags, decimals, reserved
    });
}

/// A row whose columns all hold `number`.
#[inline]
pub(crate) fn row(
    number: u64,
    columns: usize,
    format: Format,
    packets: &mut Packets,
    out: &mut Vec<u8>,
) {
    packets.write(out, |out| match format {
        Format::Text => {
            let digits = number.to_string();
            for _ in 0..columns {
                write_text(out, digits.as_bytes());
            }
        }
        Format::Binary => {
            out.push(0);
            out.resize(out.len() + (columns + 2).div_ceil(8), 0); // no NULLs
            for _ in 0..columns {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
    });
}

/// An error; before the capabilities are negotiated (`is_early`) it has no SQLSTATE.
pub(crate) fn error(error: &SystemError, is_early: bool, packets: &mut Packets, out: &mut Vec<u8>) {
    let is_unknown = error.certainty == Certainty::Unknown && !error.class.ends_the_session();
    let (usual, state) = match is_unknown {
        true => (1180, "HY000"),
        false => number_of(error.class),
    };
    let number = error.code.parse().unwrap_or(usual);
    packets.write(out, |out| {
        out.push(head::ERROR);
        out.extend_from_slice(&u16::to_le_bytes(number));
        if !is_early {
            out.push(b'#');
            out.extend_from_slice(state.as_bytes());
        }
        out.extend_from_slice(error.message.as_bytes());
    });
}

/// An error number and SQLSTATE that the driver maps to this class (see `refusal`).
fn number_of(class: ErrorClass) -> (u16, &'static str) {
    match class {
        ErrorClass::ConnectionRefused | ErrorClass::LostConnection => (1053, "08S01"),
        ErrorClass::TooManyConnections => (1040, "08004"),
        ErrorClass::Authentication => (1045, "28000"),
        ErrorClass::Timeout => (1205, "HY000"),
        ErrorClass::Deadlock => (1213, "40001"),
        ErrorClass::Serialization => (1020, "HY000"),
        ErrorClass::Constraint => (1062, "23000"),
        ErrorClass::Syntax => (1064, "42000"),
        ErrorClass::UnknownObject => (1146, "42S02"),
        ErrorClass::Permission => (1142, "42000"),
        ErrorClass::Data => (1366, "22007"),
        ErrorClass::Resources => (1041, "HY000"),
        ErrorClass::WrongStatement
        | ErrorClass::Protocol
        | ErrorClass::Expectation
        | ErrorClass::Script
        | ErrorClass::Other => (1105, "HY000"),
    }
}

/// The client sent something other than `expected`.
pub(crate) fn malformed(expected: &str, payload: &[u8]) -> SystemError {
    let start = &payload[..payload.len().min(16)];
    let message =
        format!("expected {expected}, the client sent {} bytes: {start:02x?}", payload.len());
    SystemError::new(ErrorClass::Protocol, "", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::refusal;
    use crate::mysql::refusal::Moment;

    #[test]
    fn the_driver_reads_each_class_that_the_server_writes() {
        for class in ErrorClass::ALL {
            let mut out = Vec::new();
            let sent = SystemError::new(class, "", "message text");
            error(&sent, false, &mut Packets::default(), &mut out);
            let moment = match class {
                ErrorClass::Authentication => Moment::Connecting,
                _ => Moment::Statement,
            };
            let read = refusal::read(&out[Packets::HEADER..], moment);
            let expected = match class {
                ErrorClass::ConnectionRefused => ErrorClass::LostConnection,
                ErrorClass::WrongStatement
                | ErrorClass::Protocol
                | ErrorClass::Expectation
                | ErrorClass::Script => ErrorClass::Other,
                class => class,
            };
            assert_eq!((read.class, &*read.message), (expected, "message text"));
        }
    }
}
