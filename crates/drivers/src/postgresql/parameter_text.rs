//! Takes a value; appends its length and its text, written as a literal.

use std::io::Write as _;

use assay_values::{Value, write_array};

use crate::measured::write_measured;

/// Appends length and text of a value.
pub(super) fn write_text(value: &Value, out: &mut Vec<u8>) {
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
