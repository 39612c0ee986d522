//! Takes results and errors; appends the null server's messages.

use crate::null::{Change, Meaning, Statement};
use crate::{Certainty, ErrorClass, SystemError};

/// `bigint`: the type of parameters whose type the client does not declare, and of each column.
pub(crate) const INT8: u32 = 20;

/// The state of the session's transaction, as in ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Idle = b'I' as isize,
    InTransaction = b'T' as isize,
    Failed = b'E' as isize,
}

impl Status {
    /// The state after a statement that succeeded.
    #[inline]
    pub(crate) fn after(self, meaning: &Meaning) -> Self {
        match meaning {
            Meaning::Begin => Self::InTransaction,
            Meaning::Commit | Meaning::Rollback => Self::Idle,
            _ => self,
        }
    }

    pub(crate) fn after_error(self) -> Self {
        match self {
            Self::Idle => Self::Idle,
            Self::InTransaction | Self::Failed => Self::Failed,
        }
    }
}

/// Appends a message whose body `write` appends.
pub(crate) fn message(tag: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = u32::try_from(out.len() - start).expect("a null server's messages are short");
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

#[inline]
pub(crate) fn ready(status: Status, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'Z', 0, 0, 0, 5, status as u8]);
}

/// RowDescription, or NoData if the statement returns no rows.
pub(crate) fn columns(statement: &Statement, is_binary: impl Fn(usize) -> bool, out: &mut Vec<u8>) {
    if statement.columns.is_empty() {
        return out.extend_from_slice(b"n\0\0\0\x04");
    }
    message(b'T', out, |out| {
        out.extend_from_slice(&count(statement.columns.len()).to_be_bytes());
        for (at, name) in statement.columns.iter().take(MOST_COLUMNS).enumerate() {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&[0; 7]); // the name's end; of no table
            out.extend_from_slice(&INT8.to_be_bytes());
            out.extend_from_slice(&8_u16.to_be_bytes());
            out.extend_from_slice(&(-1_i32).to_be_bytes());
            out.extend_from_slice(&u16::from(is_binary(at)).to_be_bytes());
        }
    });
}

/// The limit of a real server.
const MOST_COLUMNS: usize = 1664;

fn count(columns: usize) -> u16 {
    u16::try_from(columns.min(MOST_COLUMNS)).expect("1664 fit into 16 bits")
}

/// A row whose columns all hold `number`.
#[inline]
pub(crate) fn row(
    number: u64,
    columns: usize,
    is_binary: impl Fn(usize) -> bool,
    out: &mut Vec<u8>,
) {
    let mut digits = [0; 20];
    let digits = decimal(number, &mut digits);
    message(b'D', out, |out| {
        out.extend_from_slice(&count(columns).to_be_bytes());
        for at in 0..columns.min(MOST_COLUMNS) {
            if is_binary(at) {
                out.extend_from_slice(&8_u32.to_be_bytes());
                out.extend_from_slice(&number.to_be_bytes());
            } else {
                let length = u32::try_from(digits.len()).expect("a number has few digits");
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(digits);
            }
        }
    });
}

/// The digits of a number, written at the end of `place`.
pub(crate) fn decimal(mut number: u64, place: &mut [u8; 20]) -> &[u8] {
    let mut at = place.len();
    loop {
        at -= 1;
        place[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &place[at..];
        }
    }
}

/// CommandComplete, with an optional count after the command.
#[inline]
pub(crate) fn complete(words: &str, count: Option<u64>, out: &mut Vec<u8>) {
    message(b'C', out, |out| {
        out.extend_from_slice(words.as_bytes());
        if let Some(count) = count {
            out.extend_from_slice(decimal(count, &mut [0; 20]));
        }
        out.push(0);
    });
}

/// CommandComplete of a statement that was started in `status`.
#[inline]
pub(crate) fn end_of(
    meaning: &Meaning,
    status: Status,
    rows: u64,
    affected: u64,
    out: &mut Vec<u8>,
) {
    let (words, count) = match meaning {
        Meaning::Count(_) | Meaning::Read | Meaning::Catalogue => ("SELECT ", Some(rows)),
        Meaning::Insert { .. } => ("INSERT 0 ", Some(affected)),
        Meaning::Change(Change::Update) => ("UPDATE ", Some(affected)),
        Meaning::Change(Change::Delete) | Meaning::Empty(_) => ("DELETE ", Some(affected)),
        Meaning::Begin => ("BEGIN", None),
        Meaning::Commit if status == Status::Failed => ("ROLLBACK", None),
        Meaning::Commit => ("COMMIT", None),
        Meaning::Rollback => ("ROLLBACK", None),
        Meaning::Create(_) => ("CREATE TABLE", None),
        Meaning::Drop(_) => ("DROP TABLE", None),
        Meaning::Schema(verb) => (*verb, None),
        Meaning::Load { .. } | Meaning::Other => ("OK", None),
    };
    complete(words, count, out);
}

pub(crate) fn parameter_types(types: &[u32], out: &mut Vec<u8>) {
    message(b't', out, |out| {
        let count = u16::try_from(types.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&count.to_be_bytes());
        for oid in types.iter().take(count.into()) {
            out.extend_from_slice(&oid.to_be_bytes());
        }
    });
}

/// CopyInResponse. The number of columns is unknown here, and clients ignore it.
pub(crate) fn copy_in(is_binary: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'G', 0, 0, 0, 7, u8::from(is_binary), 0, 0]);
}

pub(crate) fn error(error: &SystemError, is_fatal: bool, out: &mut Vec<u8>) {
    let severity = if is_fatal { "FATAL" } else { "ERROR" };
    let is_unknown = error.certainty == Certainty::Unknown && !is_fatal;
    let code = match &*error.code {
        "" if is_unknown => "40003",
        "" => code_of(error.class),
        code => code,
    };
    message(b'E', out, |out| {
        for (field, text) in
            [(b'S', severity), (b'V', severity), (b'C', code), (b'M', &error.message)]
        {
            out.push(field);
            out.extend(text.bytes().filter(|&byte| byte != 0));
            out.push(0);
        }
        out.push(0);
    });
}

/// An SQLSTATE that the driver maps to this class (see `refusal`).
fn code_of(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::ConnectionRefused | ErrorClass::LostConnection => "57P01",
        ErrorClass::TooManyConnections => "53300",
        ErrorClass::Authentication => "28000",
        ErrorClass::Timeout => "57014",
        ErrorClass::Deadlock => "40P01",
        ErrorClass::Serialization => "40001",
        ErrorClass::Constraint => "23505",
        ErrorClass::Syntax => "42601",
        ErrorClass::UnknownObject => "42P01",
        ErrorClass::Permission => "42501",
        ErrorClass::Data => "22000",
        ErrorClass::Resources => "53000",
        ErrorClass::Protocol => "08P01",
        ErrorClass::WrongStatement
        | ErrorClass::Expectation
        | ErrorClass::Script
        | ErrorClass::Other => "XX000",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgresql::client::refusal;

    #[test]
    fn the_driver_reads_each_class_that_the_server_writes() {
        for class in ErrorClass::ALL {
            let read = refusal::class(code_of(class));
            let expected = match class {
                ErrorClass::ConnectionRefused => ErrorClass::LostConnection,
                ErrorClass::WrongStatement | ErrorClass::Expectation | ErrorClass::Script => {
                    ErrorClass::Other
                }
                class => class,
            };
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn digits_are_those_of_the_number() {
        for number in [0, 7, 10, 4096, u64::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
