//! Takes two values and an operator, or one value and a test; returns the same result as pgbench.
//!
//! Integers have 64 bits: overflow and division by zero are errors, division truncates. A decimal and
//! another number are added, subtracted and multiplied exactly: a double counts with the digits in which it is
//! written. A quotient, and what needs more than 38 digits, is a double. Of an integer and a double, the integer is
//! converted, and doubles follow IEEE 754. A NULL operand gives NULL.

use crate::expression::number::{Fault, Number, boolean, number, plain, shown, spelled_number};
use assay_values::json::of_json;
use assay_values::{Decimal, Value};
use serde_json::Value as Json;
use std::cmp::Ordering;

/// The binary operators, except AND and OR, which may not evaluate their right operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Member,
    MemberText,
}

impl Operator {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "#",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Member => "->",
            Self::MemberText => "->>",
        }
    }

    pub(crate) fn compares(self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }

    pub(crate) fn apply(self, left: &Value, right: &Value) -> Result<Value, Fault> {
        if matches!(left, Value::Null) || matches!(right, Value::Null) {
            return Ok(Value::Null);
        }
        match self {
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide => {
                match (number(left)?, number(right)?) {
                    (Number::Int(left), Number::Int(right)) => self.integers(left, right),
                    (left, right) => match left.exact_with(right) {
                        Some((left, right)) => self.decimals(left, right),
                        None => Ok(self.doubles(left.double(), right.double())),
                    },
                }
            }
            Self::Remainder
            | Self::BitAnd
            | Self::BitOr
            | Self::BitXor
            | Self::ShiftLeft
            | Self::ShiftRight => self.integers(number(left)?.int()?, number(right)?.int()?),
            Self::Member => member(left, right),
            Self::MemberText => Ok(match member(left, right)? {
                Value::Null => Value::Null,
                found => Value::Text(plain(&found).into()),
            }),
            _ => Ok(Value::Bool(self.holds(order(left, right)?))),
        }
    }

    /// The value for two integers; `None` if there is none, and for comparisons.
    #[inline]
    pub(crate) fn whole(self, left: i64, right: i64) -> Option<i64> {
        // Shifts by other counts would depend on the processor.
        let places = || u32::try_from(right).ok().filter(|&places| places < 64);
        match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide => left.checked_div(right),
            // The smallest integer % −1 is 0, though the quotient overflows.
            Self::Remainder => (right != 0).then(|| left.wrapping_rem(right)),
            Self::BitAnd => Some(left & right),
            Self::BitOr => Some(left | right),
            Self::BitXor => Some(left ^ right),
            Self::ShiftLeft => places().map(|places| left << places),
            Self::ShiftRight => places().map(|places| left >> places),
            _ => None,
        }
    }

    fn integers(self, left: i64, right: i64) -> Result<Value, Fault> {
        self.whole(left, right).map(Value::Int).ok_or_else(|| self.no_integer(left, right))
    }

    /// Why [`Operator::whole`] has no value.
    fn no_integer(self, left: i64, right: i64) -> Fault {
        let symbol = self.symbol();
        Fault::of(match self {
            Self::Divide | Self::Remainder if right == 0 => {
                format!("division by zero: {left} {symbol} 0")
            }
            Self::ShiftLeft | Self::ShiftRight => {
                format!("expected a shift by 0 to 63 places, found {right}")
            }
            _ => format!("integer overflow: {left} {symbol} {right} does not fit into 64 bits"),
        })
    }

    fn decimals(self, left: Decimal, right: Decimal) -> Result<Value, Fault> {
        let exact = match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide if right.digits() == 0 => {
                return Err(Fault::of(format!("division by zero: {left:?} / {right:?}")));
            }
            _ => None,
        };
        Ok(exact.map_or_else(|| self.doubles(left.double(), right.double()), Value::Decimal))
    }

    fn doubles(self, left: f64, right: f64) -> Value {
        Value::Double(match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            _ => unreachable!("only + - * / take doubles"),
        })
    }

    /// Whether the comparison is true; NaN equals nothing.
    fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            _ => unreachable!("called only for comparisons"),
        }
    }
}

/// Orders numbers by size, texts that are not numbers by their characters, and FALSE before TRUE.
fn order(left: &Value, right: &Value) -> Result<Option<Ordering>, Fault> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Ok(Some(left.cmp(right))),
        (Value::Text(left), Value::Text(right))
            if spelled_number(left).is_none() || spelled_number(right).is_none() =>
        {
            Ok(Some(left.cmp(right)))
        }
        (left, right) if is_compared_as_text(left, right) || is_compared_as_text(right, left) => {
            Ok(Some(plain(left).cmp(&plain(right))))
        }
        (Value::Bool(_), _) | (_, Value::Bool(_)) => {
            Ok(boolean(left)?.partial_cmp(&boolean(right)?))
        }
        _ => Ok(number(left)?.order(number(right)?)),
    }
}

/// Whether two values can only be compared as texts: values that are not numbers, or a date or time and a text.
fn is_compared_as_text(left: &Value, right: &Value) -> bool {
    use Value::{Bytes, Date, Document, List, Text, Time, Timestamp};
    match left {
        Bytes(_) | List(_) | Document(_) => true,
        Date(_) | Time(_) | Timestamp(_) => {
            matches!(right, Text(text) if spelled_number(text).is_none())
        }
        _ => false,
    }
}

/// A test of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    Not,
    IsNull,
    IsTrue,
    IsFalse,
}

impl Test {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Not => "NOT",
            Self::IsNull => "IS NULL",
            Self::IsTrue => "IS TRUE",
            Self::IsFalse => "IS FALSE",
        }
    }

    pub(crate) fn apply(self, value: &Value) -> Result<Value, Fault> {
        Ok(match self {
            Self::Not => boolean(value)?.map_or(Value::Null, |truth| Value::Bool(!truth)),
            Self::IsNull => Value::Bool(matches!(value, Value::Null)),
            Self::IsTrue => Value::Bool(matches!(value, Value::Bool(true))),
            Self::IsFalse => Value::Bool(matches!(value, Value::Bool(false))),
        })
    }
}

/// AND and OR. As in pgbench they evaluate their right operand only if the left one does not decide,
/// and NULL on the left decides: `NULL AND FALSE` is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connective {
    And,
    Or,
}

impl Connective {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
        }
    }

    /// The result if the left operand decides it.
    pub(crate) fn decided_by(self, left: &Value) -> Result<Option<Value>, Fault> {
        let decisive = self == Self::Or;
        Ok(match boolean(left)? {
            None => Some(Value::Null),
            Some(truth) if truth == decisive => Some(Value::Bool(truth)),
            Some(_) => None,
        })
    }

    /// The result if the right operand decides it.
    pub(crate) fn by_right(right: &Value) -> Result<Value, Fault> {
        Ok(boolean(right)?.map_or(Value::Null, Value::Bool))
    }
}

/// The member: NULL where there is none. An index counts from 0, a negative one from the end. A text is read as JSON:
/// some systems have no other type for it.
pub(crate) fn member(of: &Value, key: &Value) -> Result<Value, Fault> {
    match of {
        Value::List(values) => Ok(match key {
            Value::Int(index) => {
                place(*index, values.len()).map_or(Value::Null, |place| values[place].clone())
            }
            _ => Value::Null,
        }),
        Value::Document(text) | Value::Text(text) => {
            let json: Json = serde_json::from_str(text).map_err(|_| expected(of))?;
            Ok(match (&json, key) {
                (Json::Array(values), Value::Int(index)) => {
                    place(*index, values.len()).map_or(Value::Null, |place| of_json(&values[place]))
                }
                (Json::Object(fields), key) => {
                    fields.get(&*plain(key)).map_or(Value::Null, of_json)
                }
                _ => Value::Null,
            })
        }
        _ => Err(expected(of)),
    }
}

fn expected(found: &Value) -> Fault {
    Fault::of(format!("expected a document or a list before ->, found {}", shown(found)))
}

fn place(index: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let place = if index < 0 { index + count } else { index };
    usize::try_from(place).ok().filter(|_| place < count)
}
