//! Takes a list of values, or a JSON array; returns the text that the library casts to its lists.

use assay_values::json::of_json;
use assay_values::{Value, write_array};

/// The text of a list.
pub(super) fn of_list(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    write_array(values, *b"[]", &mut out);
    out
}

/// The text of a JSON array; none where the text is not one.
pub(super) fn of_array(text: &[u8]) -> Option<Vec<u8>> {
    match of_json(&serde_json::from_slice(text).ok()?) {
        Value::List(values) => Some(of_list(&values)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_numbers_are_not() {
        let array = br#"[1, null, "a \"b\"\\\n", [true]]"#;
        let found = of_array(array).expect("an array");
        let expected = "[1,NULL,\"a \\\"b\\\"\\\\\n\",[true]]";
        assert_eq!(String::from_utf8_lossy(&found), expected);
        assert!(of_array(b"{}").is_none());
    }
}
