//! Takes a list of values, or a JSON array; returns the text that the library casts to its lists: texts are in quotes,
//! in which a backslash stands before quotes and backslashes only.

use assay_values::Value;
use assay_values::json::of_json;

/// The text of a list.
pub(super) fn of_list(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    write(values, &mut out);
    out
}

/// The text of a JSON array; none where the text is not one.
pub(super) fn of_array(text: &[u8]) -> Option<Vec<u8>> {
    match of_json(&serde_json::from_slice(text).ok()?) {
        Value::List(values) => Some(of_list(&values)),
        _ => None,
    }
}

fn write(values: &[Value], out: &mut Vec<u8>) {
    out.push(b'[');
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            out.extend_from_slice(b", ");
        }
        match value {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::List(values) => write(values, out),
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
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_numbers_are_not() {
        let array = br#"[1, null, "a \"b\"\\\n", [true]]"#;
        let found = of_array(array).expect("an array");
        let expected = "[1, NULL, \"a \\\"b\\\"\\\\\n\", [true]]";
        assert_eq!(String::from_utf8_lossy(&found), expected);
        assert!(of_array(b"{}").is_none());
    }
}
