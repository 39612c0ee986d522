//! Takes one parameter and the type the server described; gives its bytes in a Bind message.
//!
//! Numbers and booleans travel in binary: no digits to make here, none to read there. A value that does
//! not fit its type (a text for an integer, a number beyond it) travels as text, so that the server
//! judges it and words the refusal.

use std::io::Write as _;

use assay_datagen::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterType {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    /// Everything else, spelled as a literal of that type would be.
    Text,
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
            20 => Self::Int8,
            21 => Self::Int2,
            23 => Self::Int4,
            700 => Self::Float4,
            701 => Self::Float8,
            _ => Self::Text,
        }
    }

    /// The format that values of this type usually have.
    pub fn usual_format(self) -> Format {
        if self == Self::Text {
            Format::Text
        } else {
            Format::Binary
        }
    }

    /// Appends length and bytes of `value`.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "as the server casts"
    )]
    pub fn write(self, value: &Value, out: &mut Vec<u8>) -> Format {
        match (self, value) {
            (_, Value::Null) => {
                out.extend_from_slice(&(-1_i32).to_be_bytes());
                return self.usual_format();
            }
            (Self::Int4, Value::Int(number)) if i32::try_from(*number).is_ok() => {
                sized(out, (*number as i32).to_be_bytes());
            }
            (Self::Int8, Value::Int(number)) => sized(out, number.to_be_bytes()),
            (Self::Int2, Value::Int(number)) if i16::try_from(*number).is_ok() => {
                sized(out, (*number as i16).to_be_bytes());
            }
            (Self::Float8, Value::Double(number)) => sized(out, number.to_be_bytes()),
            (Self::Float8, Value::Int(number)) => sized(out, (*number as f64).to_be_bytes()),
            (Self::Float4, Value::Double(number)) if fits_float4(*number) => {
                sized(out, (*number as f32).to_be_bytes());
            }
            (Self::Bool, Value::Bool(is_true)) => sized(out, [u8::from(*is_true)]),
            (_, value) => {
                write_text(value, out);
                return Format::Text;
            }
        }
        Format::Binary
    }
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

fn write_text(value: &Value, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    match value {
        Value::Null => {}
        Value::Bool(is_true) => out.extend_from_slice(if *is_true { b"true" } else { b"false" }),
        Value::Int(number) => write!(out, "{number}").expect("writing to memory is infallible"),
        Value::Double(number) => write!(out, "{number}").expect("writing to memory is infallible"),
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
    }
    // A text beyond 4 GiB gets a wrong length here, and its message is refused as too large as a whole.
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::{Format, ParameterType as Type};
    use assay_datagen::Value;

    fn check(of: Type, value: Value, format: Format, expected: &[u8]) {
        let mut out = Vec::new();
        assert_eq!(of.write(&value, &mut out), format, "{of:?} {value:?}");
        assert_eq!(
            out[..4],
            u32::try_from(expected.len()).expect("short").to_be_bytes()
        );
        assert_eq!(&out[4..], expected, "{of:?} {value:?}");
    }

    #[test]
    fn values_that_fit_their_type_travel_in_binary() {
        check(Type::Int2, Value::Int(-2), Format::Binary, &[0xff, 0xfe]);
        check(Type::Int4, Value::Int(258), Format::Binary, &[0, 0, 1, 2]);
        check(Type::Int8, Value::Int(-1), Format::Binary, &[0xff; 8]);
        check(
            Type::Float8,
            Value::Double(1.5),
            Format::Binary,
            &1.5_f64.to_be_bytes(),
        );
        check(
            Type::Float8,
            Value::Int(2),
            Format::Binary,
            &2.0_f64.to_be_bytes(),
        );
        check(
            Type::Float4,
            Value::Double(0.1),
            Format::Binary,
            &0.1_f32.to_be_bytes(),
        );
        check(Type::Bool, Value::Bool(true), Format::Binary, &[1]);
    }

    #[test]
    fn values_that_do_not_fit_travel_as_text_for_the_server_to_judge() {
        check(Type::Int2, Value::Int(40_000), Format::Text, b"40000");
        check(
            Type::Int4,
            Value::Int(i64::MAX),
            Format::Text,
            b"9223372036854775807",
        );
        check(Type::Int4, Value::Double(1.5), Format::Text, b"1.5");
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
    fn null_has_the_length_of_minus_one() {
        let mut out = Vec::new();
        assert_eq!(Type::Int4.write(&Value::Null, &mut out), Format::Binary);
        assert_eq!(out, [0xff; 4]);
    }
}
