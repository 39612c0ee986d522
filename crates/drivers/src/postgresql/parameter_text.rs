//! Takes a value; appends its length and its text, written as a literal.

use std::io::Write as _;

use assay_values::Value;

/// Appends length and text of a value.
pub(super) fn write_text(value: &Value, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    match value {
        Value::Null => {}
        Value::Bool(is_true) => out.extend_from_slice(if *is_true { b"true" } else { b"false" }),
        Value::Int(number) => write!(out, "{number}").expect("writing to memory is infallible"),
        Value::Double(number) => write!(out, "{number}").expect("writing to memory is infallible"),
        Value::List(values) => write_array(values, out),
        other => other.write_text(out),
    }
    // The length of a text beyond 4 GiB is wrong here, but its message is rejected as too large.
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends the literal of an array: `{1,NULL,"a b"}`.
fn write_array(values: &[Value], out: &mut Vec<u8>) {
    out.push(b'{');
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        match value {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::List(values) => write_array(values, out),
            Value::Int(_) | Value::Double(_) | Value::Bool(_) | Value::Decimal(_) => {
                value.write_text(out);
            }
            other => {
                out.push(b'"');
                for byte in other.to_text().bytes() {
                    if matches!(byte, b'"' | b'\\') {
                        out.push(b'\\');
                    }
                    out.push(byte);
                }
                out.push(b'"');
            }
        }
    }
    out.push(b'}');
}
