//! Takes a text; returns the field that CSV has for it (RFC 4180).

/// Appends the field: in quotes where its bytes need them, and where it is empty, as an empty field is NULL.
pub fn write_csv_text(text: &[u8], out: &mut Vec<u8>) {
    if !needs_quotes(text) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn needs_quotes(text: &[u8]) -> bool {
    text.is_empty()
        || text
            .iter()
            .any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_quoted_only_where_it_must_be() {
        for (text, field) in [
            ("new order", "new order"),
            ("", "\"\""),
            ("a\"b,c", "\"a\"\"b,c\""),
            ("a\nb", "\"a\nb\""),
        ] {
            let mut out = Vec::new();
            write_csv_text(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), field);
        }
    }
}
