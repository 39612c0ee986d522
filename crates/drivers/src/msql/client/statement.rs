//! Takes a statement in pieces, and its values; appends its text with the values as literals.
//!
//! mSQL has whole numbers of 32 bits, real numbers and texts. Truth values are 1 and 0; dates and times are
//! texts. Quotes and backslashes in a text follow a backslash. A text cannot hold a zero byte: the server
//! reads it as the end.

use assay_values::{Cell, LiteralStyle, Piece, Value};

use crate::msql::packet;
use crate::msql::packet::{MAX_SENT_BYTES, command};
use crate::msql::refusal::unsendable;
use crate::{Result, SystemError};

/// Appends the statement as a packet, or nothing.
///
/// # Errors
/// Where mSQL cannot hold a value, or the packet is too long.
#[inline]
pub(crate) fn send(pieces: &[Piece], parameters: &[Value], out: &mut Vec<u8>) -> Result<()> {
    let expected = Piece::count_values(pieces);
    if expected != parameters.len() {
        return Err(SystemError::wrong_count(expected, parameters.len()));
    }
    send_with(out, |out| {
        let mut values = parameters.iter();
        for piece in pieces {
            match piece {
                Piece::Text(text) | Piece::Identifier(text) => {
                    separate(text.as_bytes().first(), out);
                    out.extend_from_slice(text.as_bytes());
                }
                Piece::Value => {
                    separate(Some(&b'0'), out);
                    write_value(values.next().unwrap_or(&Value::Null), out)?;
                }
            }
        }
        Ok(())
    })
}

/// Appends the statement whose text `write` appends, or nothing.
///
/// # Errors
/// Those of `write`; where the text is too long or holds a zero byte.
#[inline]
pub(crate) fn send_with(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    let mut written = Ok(());
    packet::write(out, |out| {
        out.extend_from_slice(command::QUERY);
        written = write(out);
    });
    let checked = written.and_then(|()| check(&out[start + 4..]));
    if checked.is_err() {
        out.truncate(start);
    }
    checked
}

fn check(packet: &[u8]) -> Result<()> {
    if packet.len() > MAX_SENT_BYTES {
        return Err(unsendable(format!(
            "the statement has {} bytes, mSQL takes at most {MAX_SENT_BYTES}",
            packet.len()
        )));
    }
    if packet.contains(&0) {
        return Err(unsendable(
            "the text has a zero byte, which mSQL cannot hold",
        ));
    }
    Ok(())
}

/// A blank where the end of the text and what follows would be read as one word.
fn separate(next: Option<&u8>, out: &mut Vec<u8>) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if out.last().is_some_and(is_word) && next.is_some_and(is_word) {
        out.push(b' ');
    }
}

fn write_value(value: &Value, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Bool(truth) => out.push(b'0' + u8::from(*truth)),
        Value::Int(number) => return write_int(*number, out),
        Value::Double(number) => return write_double(*number, out),
        Value::Decimal(decimal) => decimal.write_text(out),
        Value::Text(text) => LiteralStyle::Backslash.write(text.as_bytes(), out),
        Value::Bytes(bytes) => LiteralStyle::Backslash.write(bytes, out),
        Value::Date(_)
        | Value::Time(_)
        | Value::Timestamp(_)
        | Value::List(_)
        | Value::Document(_) => LiteralStyle::Backslash.write(value.to_text().as_bytes(), out),
    }
    Ok(())
}

/// Appends one cell of a row that is loaded.
///
/// # Errors
/// Where mSQL cannot hold it.
pub(crate) fn write_cell(cell: Cell<'_>, out: &mut Vec<u8>) -> Result<()> {
    match cell {
        Cell::Null => out.extend_from_slice(b"NULL"),
        Cell::Bool(truth) => out.push(b'0' + u8::from(truth)),
        Cell::Int(number) => return write_int(number, out),
        Cell::Double(number) => return write_double(number, out),
        Cell::Text(text) => LiteralStyle::Backslash.write(text, out),
    }
    Ok(())
}

fn write_int(number: i64, out: &mut Vec<u8>) -> Result<()> {
    if i32::try_from(number).is_err() {
        return Err(unsendable(format!(
            "{number} is out of range: mSQL has whole numbers of 32 bits"
        )));
    }
    Cell::Int(number).write_text(out);
    Ok(())
}

fn write_double(number: f64, out: &mut Vec<u8>) -> Result<()> {
    if !number.is_finite() {
        return Err(unsendable(format!("mSQL has no number {number}")));
    }
    Cell::Double(number).write_text(out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pieces: &[Piece], parameters: &[Value]) -> Result<String> {
        let mut out = b"before".to_vec();
        let sent = send(pieces, parameters, &mut out);
        if sent.is_err() {
            assert_eq!(out, b"before", "nothing is sent");
        }
        sent.map(|()| String::from_utf8(out[10..].to_vec()).expect("it is UTF-8"))
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.into())
    }

    #[test]
    fn values_stand_in_the_text_as_literals() {
        let pieces = [
            text("insert into "),
            Piece::Identifier("t".into()),
            text(" values ("),
            Piece::Value,
            text(", "),
            Piece::Value,
            text(", "),
            Piece::Value,
            text(")"),
        ];
        let values = [Value::Text("it's a \\".into()), Value::Int(-7), Value::Null];
        let expected = r"3:insert into t values ('it\'s a \\', -7, NULL)";
        assert_eq!(sent(&pieces, &values).as_deref(), Ok(expected));
        let pieces = [text("select a from t where b ="), Piece::Value, text("and c=1")];
        let values = [Value::Double(0.5)];
        let expected = "3:select a from t where b =0.5 and c=1";
        assert_eq!(sent(&pieces, &values).as_deref(), Ok(expected));
    }

    #[test]
    fn what_msql_cannot_hold_is_refused() {
        let one = [text("insert into t values ("), Piece::Value, text(")")];
        for value in [
            Value::Int(1 << 31),
            Value::Double(f64::NAN),
            Value::Text("a\0b".into()),
            Value::Text("x".repeat(MAX_SENT_BYTES).into()),
        ] {
            let error = sent(&one, std::slice::from_ref(&value)).expect_err("it is refused");
            assert_eq!(error.class, crate::ErrorClass::Data, "{error}");
        }
        assert!(sent(&one, &[]).is_err(), "a value is missing");
        assert!(sent(&one, &[Value::Int(i64::from(i32::MIN))]).is_ok());
    }
}
