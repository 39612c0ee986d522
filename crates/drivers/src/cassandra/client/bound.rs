//! A value that a statement is given: a parameter of a script, or a cell of a load.

use assay_values::{Cell, Decimal, Value};

/// A value of either source.
#[derive(Clone, Copy)]
pub(crate) enum Bound<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Decimal(Decimal),
    Date(i32),
    Time(i64),
    Timestamp(i64),
    List(&'a [Value]),
}

impl<'a> From<&'a Value> for Bound<'a> {
    #[inline]
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Int(number) => Self::Int(*number),
            Value::Double(number) => Self::Double(*number),
            Value::Text(text) | Value::Document(text) => Self::Text(text.as_bytes()),
            Value::Bytes(bytes) => Self::Bytes(bytes),
            Value::Decimal(decimal) => Self::Decimal(*decimal),
            Value::Date(days) => Self::Date(*days),
            Value::Time(us) => Self::Time(*us),
            Value::Timestamp(us) => Self::Timestamp(*us),
            Value::List(values) => Self::List(values),
        }
    }
}

impl<'a> From<Cell<'a>> for Bound<'a> {
    #[inline]
    fn from(cell: Cell<'a>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Bool(truth) => Self::Bool(truth),
            Cell::Int(number) => Self::Int(number),
            Cell::Double(number) => Self::Double(number),
            Cell::Text(text) => Self::Text(text),
        }
    }
}

/// As the text of a script's value.
pub(crate) fn write_text(value: Bound<'_>, out: &mut Vec<u8>) {
    let value = match value {
        Bound::Null => Value::Null,
        Bound::Bool(truth) => Value::Bool(truth),
        Bound::Int(number) => Value::Int(number),
        Bound::Double(number) => Value::Double(number),
        Bound::Text(text) => return out.extend_from_slice(text),
        Bound::Bytes(bytes) => Value::Bytes(bytes.into()),
        Bound::Decimal(decimal) => Value::Decimal(decimal),
        Bound::Date(days) => Value::Date(days),
        Bound::Time(us) => Value::Time(us),
        Bound::Timestamp(us) => Value::Timestamp(us),
        Bound::List(values) => Value::List(values.into()),
    };
    value.write_text(out);
}
