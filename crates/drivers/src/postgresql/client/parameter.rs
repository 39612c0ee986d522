//! Takes a parameter value and the type the server described; appends its bytes in a Bind message.
//!
//! Numbers and booleans are sent in binary, so that neither side converts digits. Text where the server
//! expects another type is sent as text, so that the server checks it and reports the error.
//!
//! A number that its type cannot hold, or where the server inferred text, a date or a float, must mean the
//! same as a literal in its place: its own type is declared first ([`ParameterType::of_literal`]).

use std::io::Write as _;

use assay_values::{Value, write_array};

use crate::scan::write_measured;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterType {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    /// The type of a literal that no integer type holds; other values need their own type.
    Numeric,
    Bytea,
    /// A quoted literal, whose type the server infers. A number must not be sent as one.
    Quoted,
    /// JSON: a list is no array there.
    Json,
    /// Any other type, written as its literal.
    Text,
    /// The server could not infer the type: a type must be declared before a value can be sent.
    Unknown,
}

/// The format in which a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text = 0,
    Binary = 1,
}

impl ParameterType {
    /// The type of an object id in the catalogue `pg_type`; the ids are the same on every server.
    pub fn from_oid(oid: u32) -> Self {
        match oid {
            16 => Self::Bool,
            17 => Self::Bytea,
            20 => Self::Int8,
            21 => Self::Int2,
            23 => Self::Int4,
            700 => Self::Float4,
            701 => Self::Float8,
            114 | 3802 => Self::Json,
            // Unknown and text, which the server infers if nothing else determines the type; dates and
            // times, network addresses and log positions, which it infers from the other operand
            // (`date - ?`); and arrays (`array || ?`).
            25 | 705 | 1082 | 1083 | 1114 | 1184 | 1266 | 650 | 869 | 3220 | 1005 | 1007 | 1009
            | 1016 | 1021 | 1022 | 1231 => Self::Quoted,
            _ => Self::Text,
        }
    }

    /// The object id by which Parse declares this type; 0 leaves it to the server.
    pub fn oid(self) -> u32 {
        match self {
            Self::Bool => 16,
            Self::Bytea => 17,
            Self::Int8 => 20,
            Self::Int2 => 21,
            Self::Int4 => 23,
            Self::Float4 => 700,
            Self::Float8 => 701,
            Self::Numeric => 1700,
            Self::Quoted | Self::Json | Self::Text | Self::Unknown => 0,
        }
    }

    /// The type of a value that is written as a literal (PostgreSQL manual, 4.1.2.6).
    pub fn of_literal(value: &Value) -> Self {
        match value {
            // A number that the server returned as text.
            Value::Text(text) if is_fraction(text) => Self::Numeric,
            Value::Decimal(_) => Self::Numeric,
            Value::Bytes(_) => Self::Bytea,
            Value::Null
            | Value::Text(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::Timestamp(_)
            | Value::List(_)
            | Value::Document(_) => Self::Quoted,
            Value::Bool(_) => Self::Bool,
            Value::Int(number) if i32::try_from(*number).is_ok() => Self::Int4,
            Value::Int(_) => Self::Int8,
            Value::Double(number) => match whole(*number) {
                Some(number) => Self::of_literal(&Value::Int(number)),
                None => Self::Numeric,
            },
        }
    }

    /// The format that values of this type usually have.
    pub fn usual_format(self) -> Format {
        match self {
            Self::Numeric | Self::Quoted | Self::Json | Self::Text | Self::Unknown => Format::Text,
            _ => Format::Binary,
        }
    }

    /// A binary value of this type's fixed size; `None` where sizes differ.
    pub fn zero(self) -> Option<Value> {
        match self {
            Self::Bool => Some(Value::Bool(false)),
            Self::Int2 | Self::Int4 | Self::Int8 => Some(Value::Int(0)),
            Self::Float4 | Self::Float8 => Some(Value::Double(0.0)),
            Self::Numeric
            | Self::Bytea
            | Self::Quoted
            | Self::Json
            | Self::Text
            | Self::Unknown => None,
        }
    }

    /// Overwrites a value of this type, with whose length and bytes `at` begins; returns what follows it,
    /// or `None` if this value needs another form.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "values that do not fit are left to `write`"
    )]
    pub fn patch<'a>(self, value: &Value, at: &'a mut [u8]) -> Option<&'a mut [u8]> {
        match (self, value) {
            (Self::Int4, Value::Int(number)) if *number == i64::from(*number as i32) => {
                put(at, (*number as i32).to_be_bytes())
            }
            (Self::Int8, Value::Int(number)) => put(at, number.to_be_bytes()),
            (Self::Int2, Value::Int(number)) if *number == i64::from(*number as i16) => {
                put(at, (*number as i16).to_be_bytes())
            }
            (Self::Float8, Value::Double(number)) => put(at, number.to_be_bytes()),
            (Self::Float4, Value::Double(number)) if fits_float4(*number) => {
                put(at, (*number as f32).to_be_bytes())
            }
            (Self::Bool, Value::Bool(is_true)) => put(at, [u8::from(*is_true)]),
            _ => None,
        }
    }

    /// Appends length and bytes of `value`; `None` if its own type has to be declared first: `out` may then
    /// hold partial bytes.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "as the server casts")]
    pub fn write(self, value: &Value, out: &mut Vec<u8>) -> Option<Format> {
        match (self, value) {
            (Self::Unknown, _) => return None,
            (_, Value::Null) => {
                out.extend_from_slice(&(-1_i32).to_be_bytes());
                return Some(self.usual_format());
            }
            (Self::Int4, Value::Int(number)) if i32::try_from(*number).is_ok() => {
                sized(out, (*number as i32).to_be_bytes());
            }
            (Self::Int8, Value::Int(number)) => sized(out, number.to_be_bytes()),
            (Self::Int2, Value::Int(number)) if i16::try_from(*number).is_ok() => {
                sized(out, (*number as i16).to_be_bytes());
            }
            (Self::Float8, Value::Double(number)) => sized(out, number.to_be_bytes()),
            (Self::Float4, Value::Double(number)) if fits_float4(*number) => {
                sized(out, (*number as f32).to_be_bytes());
            }
            (Self::Bool, Value::Bool(is_true)) => sized(out, [u8::from(*is_true)]),
            (Self::Int2 | Self::Int4 | Self::Int8, Value::Double(number)) => {
                return self.write(&Value::Int(whole(*number)?), out);
            }
            (Self::Int2 | Self::Int4 | Self::Int8, Value::Decimal(number)) => {
                return self.write(&Value::Int(number.whole()?), out);
            }
            (Self::Bytea, Value::Bytes(bytes)) => {
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(bytes);
            }
            // For an unknown argument of an overloaded function the server chooses float8 (`abs(?) / 2`).
            (Self::Int2 | Self::Int4 | Self::Float8, Value::Int(_))
            | (
                Self::Quoted,
                Value::Int(_) | Value::Double(_) | Value::Bool(_) | Value::Decimal(_),
            ) => return None,
            (Self::Numeric, value) if Self::of_literal(value) != Self::Numeric => return None,
            (Self::Json, Value::List(_)) => {
                let json = Value::Text(value.to_text().into());
                write_text(&json, out);
                return Some(Format::Text);
            }
            (_, value) => {
                write_text(value, out);
                return Some(Format::Text);
            }
        }
        Some(Format::Binary)
    }
}

/// Whether a text is a number with a decimal point.
fn is_fraction(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.strip_prefix('-').unwrap_or(text).split_once('.');
    parts.is_some_and(|(before, after)| is_digits(before) && is_digits(after))
}

/// The number as an integer, if it is whole and fits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the bounds are checked before"
)]
fn whole(number: f64) -> Option<i64> {
    let is_held = number >= i64::MIN as f64 && number < i64::MAX as f64;
    (is_held && number.fract() == 0.0).then_some(number as i64)
}

/// Whether rounding to 32 bits neither overflows nor underflows to zero.
#[expect(clippy::cast_possible_truncation, reason = "the loss is what is checked")]
fn fits_float4(number: f64) -> bool {
    let rounded = number as f32;
    rounded.is_finite() == number.is_finite() && (rounded == 0.0) == (number == 0.0)
}

/// Overwrites the bytes after a length field; returns what follows them.
#[inline]
fn put<const SIZE: usize>(at: &mut [u8], bytes: [u8; SIZE]) -> Option<&mut [u8]> {
    let (place, following) = at.get_mut(4..)?.split_first_chunk_mut()?;
    *place = bytes;
    Some(following)
}

/// Appends a value of fixed size with its length.
#[inline]
fn sized<const SIZE: usize>(out: &mut Vec<u8>, bytes: [u8; SIZE]) {
    out.extend_from_slice(&u32::try_from(SIZE).expect("SIZE is at most 8").to_be_bytes());
    out.extend_from_slice(&bytes);
}

/// Appends length and text of a value.
pub(crate) fn write_text(value: &Value, out: &mut Vec<u8>) {
    // The length of a text beyond 2 GiB is wrong here, but its message is rejected as too large.
    write_measured(out, |out| match value {
        Value::Null => {}
        Value::Bool(is_true) => out.extend_from_slice(if *is_true { b"true" } else { b"false" }),
        Value::Int(number) => write!(out, "{number}").expect("writing to memory is infallible"),
        Value::Double(number) => write!(out, "{number}").expect("writing to memory is infallible"),
        Value::List(values) => write_array(values, *b"{}", out),
        other => other.write_text(out),
    });
}

#[cfg(test)]
mod tests {
    use super::{Format, ParameterType as Type};
    use assay_values::{Decimal, Value};

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value in place")]
    fn check(of: Type, value: Value, format: Format, expected: &[u8]) {
        let mut out = Vec::new();
        assert_eq!(of.write(&value, &mut out), Some(format), "{of:?} {value:?}");
        assert_eq!(out[..4], u32::try_from(expected.len()).expect("short").to_be_bytes());
        assert_eq!(&out[4..], expected, "{of:?} {value:?}");
    }

    #[test]
    fn values_that_fit_their_type_are_sent_in_binary() {
        check(Type::Int2, Value::Int(-2), Format::Binary, &[0xff, 0xfe]);
        check(Type::Int4, Value::Int(258), Format::Binary, &[0, 0, 1, 2]);
        check(Type::Int8, Value::Int(-1), Format::Binary, &[0xff; 8]);
        check(Type::Float8, Value::Double(1.5), Format::Binary, &1.5_f64.to_be_bytes());
        check(Type::Float4, Value::Double(0.1), Format::Binary, &0.1_f32.to_be_bytes());
        check(Type::Bool, Value::Bool(true), Format::Binary, &[1]);
        check(Type::Int4, Value::Double(2.0), Format::Binary, &[0, 0, 0, 2]);
    }

    #[test]
    fn a_number_of_another_type_needs_its_own_type_declared() {
        for (of, value, own) in [
            (Type::Int2, Value::Int(40_000), Type::Int4),
            (Type::Int4, Value::Int(i64::MAX), Type::Int8),
            (Type::Int4, Value::Double(1.5), Type::Numeric),
            (Type::Int8, Value::Double(1e19), Type::Numeric),
            (Type::Int8, Value::Double(f64::NAN), Type::Numeric),
            (Type::Quoted, Value::Int(5), Type::Int4),
            (Type::Quoted, Value::Double(3e9), Type::Int8),
            (Type::Quoted, Value::Bool(true), Type::Bool),
            (Type::Numeric, Value::Int(5), Type::Int4),
            (Type::Float8, Value::Int(5), Type::Int4),
            (Type::Unknown, Value::Null, Type::Quoted),
            (Type::Unknown, Value::Text("a".into()), Type::Quoted),
            (Type::Unknown, Value::Text("1.".into()), Type::Quoted),
            (Type::Unknown, Value::Text("-1.50".into()), Type::Numeric),
        ] {
            assert_eq!(of.write(&value, &mut Vec::new()), None, "{of:?} {value:?}");
            assert_eq!(Type::of_literal(&value), own, "{value:?}");
            assert!(own.write(&value, &mut Vec::new()).is_some(), "{value:?}");
        }
    }

    #[test]
    fn values_that_do_not_fit_are_sent_as_text_for_the_server_to_check() {
        check(Type::Bool, Value::Int(1), Format::Text, b"1");
        check(Type::Int4, Value::Text("x".into()), Format::Text, b"x");
        check(
            Type::Float4,
            Value::Double(1e39),
            Format::Text,
            b"1000000000000000000000000000000000000000",
        );
        check(Type::Text, Value::Bool(false), Format::Text, b"false");
        check(Type::Text, Value::Double(f64::NAN), Format::Text, b"NaN");
    }

    #[test]
    fn values_of_other_types_are_sent_in_the_servers_form() {
        let decimal = Decimal::parse("-1.50").map(Value::Decimal).expect("it is one");
        check(Type::Bytea, Value::Bytes([0, 255].into()), Format::Binary, &[0, 255]);
        check(Type::Text, Value::Bytes([0, 255].into()), Format::Text, b"\\x00ff");
        check(Type::Numeric, decimal.clone(), Format::Text, b"-1.50");
        assert_eq!(Type::Quoted.write(&decimal, &mut Vec::new()), None);
        check(Type::Quoted, Value::Date(0), Format::Text, b"1970-01-01");
        let inner = Value::List([Value::Int(2), Value::Null].into());
        let list = Value::List([Value::Text("a \"b\"".into()), inner].into());
        check(Type::Text, list, Format::Text, br#"{"a \"b\"",{2,NULL}}"#);
        check(Type::Text, Value::Document("{}".into()), Format::Text, b"{}");
    }

    #[test]
    fn null_has_the_length_of_minus_one() {
        let mut out = Vec::new();
        assert_eq!(Type::Int4.write(&Value::Null, &mut out), Some(Format::Binary));
        assert_eq!(out, [0xff; 4]);
    }
}
