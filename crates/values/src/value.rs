//! One value as scripts compute it, drivers send it and answers return it.

use crate::calendar;
use crate::decimal::Decimal;
use crate::number_text::{write_double, write_hex, write_int};

/// A script variable, a bound parameter, or one cell of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number in binary floating point.
    Double(f64),
    /// A text.
    Text(Box<str>),
    /// Bytes, of any value.
    Bytes(Box<[u8]>),
    /// An exact number with decimal digits.
    Decimal(Decimal),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since the start of 1970, without a time zone.
    Timestamp(i64),
    /// Several values in order.
    List(Box<[Self]>),
    /// JSON text.
    Document(Box<str>),
}

// Values are copied for every statement: larger variants are boxed.
const _: () = assert!(size_of::<Value>() == 24);

impl Value {
    /// Appends the text form, as in SQL and JSON without quotes; nothing for NULL. Bytes are `\x` and
    /// hexadecimal digits, a list is its JSON text.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => {}
            Self::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
            Self::Int(number) => write_int(*number, out),
            Self::Double(number) => write_double(*number, out),
            Self::Text(text) | Self::Document(text) => out.extend_from_slice(text.as_bytes()),
            Self::Bytes(bytes) => {
                out.extend_from_slice(b"\\x");
                write_hex(bytes, out);
            }
            Self::Decimal(decimal) => decimal.write_text(out),
            Self::Date(days) => calendar::write_date(*days, out),
            Self::Time(us) => calendar::write_time(*us, out),
            Self::Timestamp(us) => calendar::write_timestamp(*us, out),
            Self::List(_) => self.write_json(out),
        }
    }

    /// Appends the value as JSON; types that JSON lacks become strings.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Double(number) if !number.is_finite() => out.extend_from_slice(b"null"),
            Self::Bool(_)
            | Self::Int(_)
            | Self::Double(_)
            | Self::Decimal(_)
            | Self::Document(_) => {
                self.write_text(out);
            }
            Self::List(values) => {
                out.push(b'[');
                for (number, value) in values.iter().enumerate() {
                    if number > 0 {
                        out.push(b',');
                    }
                    value.write_json(out);
                }
                out.push(b']');
            }
            Self::Text(text) => write_json_string(text, out),
            Self::Bytes(_) | Self::Date(_) | Self::Time(_) | Self::Timestamp(_) => {
                // Nothing needs escaping except the backslash of `\x`.
                out.push(b'"');
                if matches!(self, Self::Bytes(_)) {
                    out.push(b'\\');
                }
                self.write_text(out);
                out.push(b'"');
            }
        }
    }

    /// How many bytes of memory it has outside the `Value` itself.
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Document(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(values) => {
                let of_elements = values.iter().map(Self::size_bytes).sum::<usize>();
                size_of_val(&**values) + of_elements
            }
            _ => 0,
        }
    }

    /// How many lists are inside each other: 0 if it is no list.
    pub fn depth(&self) -> usize {
        match self {
            Self::List(values) => 1 + values.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The text form.
    pub fn to_text(&self) -> String {
        let mut text = Vec::new();
        self.write_text(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Appends a JSON string.
pub fn write_json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_text_and_a_json_form() {
        let decimal = Decimal::parse("-1.50").expect("a decimal");
        let list =
            [Value::Int(1), Value::Null, Value::Text("a\"\\\n".into()), Value::Decimal(decimal)];
        for (value, text, json) in [
            (Value::Null, "", "null"),
            (Value::Bool(true), "true", "true"),
            (Value::Double(0.5), "0.5", "0.5"),
            (Value::Double(f64::INFINITY), "Infinity", "null"),
            (Value::Bytes([0, 0xAF].into()), "\\x00af", "\"\\\\x00af\""),
            (Value::Decimal(decimal), "-1.50", "-1.50"),
            (Value::Date(-1), "1969-12-31", "\"1969-12-31\""),
            (Value::Time(3_723_000_000), "01:02:03", "\"01:02:03\""),
            (
                Value::Timestamp(86_400_500_000),
                "1970-01-02 00:00:00.5",
                "\"1970-01-02 00:00:00.5\"",
            ),
            (
                Value::List(list.into()),
                "[1,null,\"a\\\"\\\\\\n\",-1.50]",
                "[1,null,\"a\\\"\\\\\\n\",-1.50]",
            ),
            (
                Value::Document("{\"a\": 1}".into()),
                "{\"a\": 1}",
                "{\"a\": 1}",
            ),
        ] {
            assert_eq!(value.to_text(), text);
            let mut out = Vec::new();
            value.write_json(&mut out);
            assert_eq!(String::from_utf8_lossy(&out), json);
        }
    }
}
