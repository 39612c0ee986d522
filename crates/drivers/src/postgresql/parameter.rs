//! Takes one parameter and the type the server described; gives its bytes in a Bind message.
//!
//! Numbers and booleans travel in binary: no digits to make here, none to read there. A text where the
//! server expects something else travels as text, so that the server judges it and words the refusal.
//!
//! A number beyond its type, or where the server took an unknown for a text, a date or a float, means
//! what the literal in its place would mean: its own type has to be declared first
//! ([`ParameterType::of_literal`]).

use assay_values::Value;

use super::parameter_text::write_text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterType {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    /// Of a number that no integer type holds, which as a literal is of this type; other values are not.
    Numeric,
    Bytea,
    /// What a quoted literal is where it stands: the server finds its type. A number is none.
    Quoted,
    /// Everything else, spelled as a literal of that type would be.
    Text,
    /// The server could not tell: nothing fits before a type is declared.
    Unknown,
}

/// How a value was written: the format code its parameter needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text = 0,
    Binary = 1,
}

impl ParameterType {
    /// By the object id in the server's catalogue `pg_type`, which is the same on every server.
    pub fn from_oid(oid: u32) -> Self {
        match oid {
            16 => Self::Bool,
            17 => Self::Bytea,
            20 => Self::Int8,
            21 => Self::Int2,
            23 => Self::Int4,
            700 => Self::Float4,
            701 => Self::Float8,
            // Unknown and text, which is also what an unknown beside nothing better is taken for; dates
            // and times, network addresses and positions in the log, for which an unknown beside one of
            // them is taken (`date - ?`); and arrays (`array || ?`).
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
            Self::Quoted | Self::Text | Self::Unknown => 0,
        }
    }

    /// The type of a value that is written as a literal (PostgreSQL manual, 4.1.2.6).
    pub fn of_literal(value: &Value) -> Self {
        match value {
            // A number that came back from the server as text.
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
            Self::Numeric | Self::Quoted | Self::Text | Self::Unknown => Format::Text,
            _ => Format::Binary,
        }
    }

    /// A value that is written in binary, with the size that all of them have; none where sizes differ.
    pub fn zero(self) -> Option<Value> {
        match self {
            Self::Bool => Some(Value::Bool(false)),
            Self::Int2 | Self::Int4 | Self::Int8 => Some(Value::Int(0)),
            Self::Float4 | Self::Float8 => Some(Value::Double(0.0)),
            Self::Numeric | Self::Bytea | Self::Quoted | Self::Text | Self::Unknown => None,
        }
    }

    /// Puts `value` in the place of another one of this type, whose length and bytes `at` begins with;
    /// gives what stands behind it, or nothing where this value needs another form.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what does not fit is left to `write`"
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

    /// Appends length and bytes of `value`; none where its own type has to be declared first, which may
    /// leave bytes behind.
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
            // Of a function's types for an unknown the server takes float8 (`abs(?) / 2`).
            (Self::Int2 | Self::Int4 | Self::Float8, Value::Int(_))
            | (
                Self::Quoted,
                Value::Int(_) | Value::Double(_) | Value::Bool(_) | Value::Decimal(_),
            ) => return None,
            (Self::Numeric, value) if Self::of_literal(value) != Self::Numeric => return None,
            (_, value) => {
                write_text(value, out);
                return Some(Format::Text);
            }
        }
        Some(Format::Binary)
    }
}

/// Whether a text is spelled as a number with a point.
fn is_fraction(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.strip_prefix('-').unwrap_or(text).split_once('.');
    parts.is_some_and(|(before, behind)| is_digits(before) && is_digits(behind))
}

/// The integer that this number is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "what an i64 does not hold is told apart before"
)]
fn whole(number: f64) -> Option<i64> {
    let is_held = number >= i64::MIN as f64 && number < i64::MAX as f64;
    (is_held && number.fract() == 0.0).then_some(number as i64)
}

/// Whether the rounded number is as finite, and as far from zero, as the number itself.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the loss is what is asked about"
)]
fn fits_float4(number: f64) -> bool {
    let rounded = number as f32;
    rounded.is_finite() == number.is_finite() && (rounded == 0.0) == (number == 0.0)
}

/// Bytes in the place of as many others, behind their length; gives what stands behind them.
#[inline]
fn put<const SIZE: usize>(at: &mut [u8], bytes: [u8; SIZE]) -> Option<&mut [u8]> {
    let (place, behind) = at.get_mut(4..)?.split_first_chunk_mut()?;
    *place = bytes;
    Some(behind)
}

/// A value of fixed size behind its length, in one append.
#[inline]
fn sized<const SIZE: usize>(out: &mut Vec<u8>, bytes: [u8; SIZE]) {
    out.extend_from_slice(
        &u32::try_from(SIZE)
            .expect("SIZE is at most 8")
            .to_be_bytes(),
    );
    out.extend_from_slice(&bytes);
}

#[cfg(test)]
mod tests;
