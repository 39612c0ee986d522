//! Takes a value; appends its length and its text, written as a literal.

use std::io::Write as _;

use assay_values::{Value, write_braced};

/// Appends length and text of a value.
pub(super) fn write_text(value: &Value, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    match value {
        Value::Null => {}
        Value::Bool(is_true) => out.extend_from_slice(if *is_true { b"true" } else { b"false" }),
        Value::Int(number) => write!(out, "{number}").expect("writing to memory is infallible"),
        Value::Double(number) => write!(out, "{number}").expect("writing to memory is infallible"),
        Value::List(values) => write_braced(values, out),
        other => other.write_text(out),
    }
    // The length of a text beyond 4 GiB is wrong here, but its message is rejected as too large.
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}
