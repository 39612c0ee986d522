//! Takes values; returns them as numbers or booleans, by pgbench's conversion rules.
//!
//! A text is converted by its content, as pgbench converts a variable of the command line: an integer, a
//! number, a boolean or NULL. Digits with a point are an exact decimal, with an exponent a double. A date
//! converts to days since 1970-01-01, a timestamp to seconds since then, a time to seconds since midnight.

use assay_values::{Decimal, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Why an expression has no value. The caller adds the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub Cow<'static, str>);

impl Fault {
    pub(crate) fn of(message: impl Into<Cow<'static, str>>) -> Self {
        Self(message.into())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i64),
    Double(f64),
    /// With digits after the point, or too large for an integer.
    Decimal(Decimal),
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "as pgbench and SQL convert")]
    pub fn double(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Double(number) => number,
            Self::Decimal(decimal) => decimal.double(),
        }
    }

    /// The exact decimal of what is no double.
    pub fn decimal(self) -> Option<Decimal> {
        match self {
            Self::Int(number) => Decimal::new(number.into(), 0),
            Self::Decimal(decimal) => Some(decimal),
            Self::Double(_) => None,
        }
    }

    /// Both numbers as decimals, if at least one is a decimal or both are integers. A double is converted by its
    /// shortest digits, so that `:balance + 0.10` is exact.
    pub fn exact_with(self, other: Self) -> Option<(Decimal, Decimal)> {
        match (self, other) {
            (Self::Double(left), Self::Decimal(right)) => {
                Some((Decimal::try_from(left).ok()?, right))
            }
            (Self::Decimal(left), Self::Double(right)) => {
                Some((left, Decimal::try_from(right).ok()?))
            }
            _ => self.decimal().zip(other.decimal()),
        }
    }

    /// Rounds to the nearest integer, halves to even.
    #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked before")]
    pub fn int(self) -> Result<i64, Fault> {
        const BOUND: f64 = 9_223_372_036_854_775_808.0;
        let whole = match self {
            Self::Int(number) => Some(number),
            Self::Double(number) => {
                let whole = number.round_ties_even();
                (-BOUND..BOUND).contains(&whole).then_some(whole as i64)
            }
            Self::Decimal(decimal) => decimal.rounded(),
        };
        whole.ok_or_else(|| {
            let shown = shown(&self.value());
            Fault::of(format!("{shown} does not fit into an integer of 64 bits"))
        })
    }

    /// Integers and decimals compare exactly; if one is a double, both do as doubles.
    pub fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(&right)),
            _ => match self.decimal().zip(other.decimal()) {
                Some((left, right)) => Some(left.order(right)),
                None => self.double().partial_cmp(&other.double()),
            },
        }
    }

    pub fn value(self) -> Value {
        match self {
            Self::Int(number) => Value::Int(number),
            Self::Double(number) => Value::Double(number),
            Self::Decimal(decimal) => Value::Decimal(decimal),
        }
    }
}

/// One without digits after the point is an integer, if it fits.
impl From<Decimal> for Number {
    fn from(decimal: Decimal) -> Self {
        let whole = if decimal.scale() == 0 { decimal.whole() } else { None };
        whole.map_or(Self::Decimal(decimal), Self::Int)
    }
}

/// `value` as a number; callers handle NULL.
pub(crate) fn number(value: &Value) -> Result<Number, Fault> {
    let spelled = match value {
        Value::Int(number) => Some(Number::Int(*number)),
        Value::Double(number) => Some(Number::Double(*number)),
        Value::Text(text) => spelled_number(text),
        Value::Decimal(decimal) => Some(Number::from(*decimal)),
        Value::Date(days) => Some(Number::Int((*days).into())),
        Value::Time(us) | Value::Timestamp(us) => Some(seconds(*us)),
        Value::Bool(_) | Value::Null | Value::Bytes(_) | Value::List(_) | Value::Document(_) => {
            None
        }
    };
    spelled.ok_or_else(|| Fault::of(format!("expected a number, found {}", shown(value))))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "seconds with a fraction are a double, with its precision"
)]
fn seconds(us: i64) -> Number {
    match us % 1_000_000 {
        0 => Number::Int(us / 1_000_000),
        _ => Number::Double(us as f64 / 1e6),
    }
}

/// TRUE, FALSE or NULL (`None`); anything else is an error, as in pgbench: 1 is not TRUE here.
pub(crate) fn boolean(value: &Value) -> Result<Option<bool>, Fault> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(truth) => Ok(Some(*truth)),
        Value::Text(text) if spelled_truth(text).is_some() => Ok(spelled_truth(text)),
        _ => Err(Fault::of(format!("expected TRUE or FALSE, found {}", shown(value)))),
    }
}

/// A value as a condition (`\if`, `CASE WHEN`): NULL and zero are false.
pub(crate) fn condition(value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(truth) => Ok(*truth),
        Value::Text(text) if spelled_truth(text).is_some() => Ok(spelled_truth(text) == Some(true)),
        _ => Ok(number(value)?.double() != 0.0),
    }
}

/// A count as a value.
pub(crate) fn whole(count: u64) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

pub(crate) fn spelled_number(text: &str) -> Option<Number> {
    let text = text.trim();
    // Rust also parses "inf" and "nan", which are plain words here.
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Ok(number) = text.parse() {
        return Some(Number::Int(number));
    }
    match Decimal::parse(text) {
        Some(decimal) => Some(Number::from(decimal)),
        None => text.parse().ok().map(Number::Double),
    }
}

pub(crate) fn spelled_truth(text: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(&["t", "true", "y", "yes", "on"]) {
        Some(true)
    } else if is_one_of(&["f", "false", "n", "no", "off"]) {
        Some(false)
    } else {
        None
    }
}

/// A value as a text, to be sent or concatenated.
pub(crate) fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Null | Value::Bool(_) => shown(value),
        other => other.to_text().into(),
    }
}

/// Appends what [`plain`] returns.
pub(crate) fn append(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null | Value::Bool(_) => out.extend_from_slice(shown(value).as_bytes()),
        other => other.write_text(out),
    }
}

/// A value with the name of its type, as `debug` prints it.
pub(crate) fn typed(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(truth) => return format!("boolean {truth}"),
        Value::Int(_) => "int",
        Value::Double(_) => "double",
        Value::Text(_) => "text",
        Value::Bytes(_) => "bytes",
        Value::Decimal(_) => "decimal",
        Value::Date(_) => "date",
        Value::Time(_) => "time",
        Value::Timestamp(_) => "timestamp",
        Value::List(_) => "list",
        Value::Document(_) => "document",
    };
    format!("{kind} {}", plain(value))
}

/// A value as written in a script.
pub(crate) fn shown(value: &Value) -> Cow<'static, str> {
    match value {
        Value::Null => "NULL".into(),
        Value::Bool(true) => "TRUE".into(),
        Value::Bool(false) => "FALSE".into(),
        Value::Int(number) => number.to_string().into(),
        Value::Double(number) => format!("{number:?}").into(),
        Value::Decimal(decimal) => format!("{decimal:?}").into(),
        other => format!("'{}'", other.to_text().replace('\'', "''")).into(),
    }
}
