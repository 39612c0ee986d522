//! Takes the text of a statement; returns where a literal, a quoted identifier or a comment ends, so
//! that keywords and semicolons inside them are skipped.

/// How a quote is written inside a text literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literals {
    /// Doubled; a backslash escapes in `E'…'` alone.
    Doubled,
    /// Doubled, or after a backslash; `#` begins a comment, and dollar quoting does not exist.
    Backslash,
}

/// The offset after what begins at `at`: a literal, a quoted identifier, a comment, or one byte.
pub(crate) fn end_of_token(bytes: &[u8], at: usize, literals: Literals) -> usize {
    let is_backslash = literals == Literals::Backslash;
    match bytes[at] {
        b'\'' => after_quote(bytes, at, is_backslash || has_escapes(bytes, at)),
        b'"' => after_quote(bytes, at, is_backslash),
        b'`' if is_backslash => after_quote(bytes, at, false),
        b'-' if bytes.get(at + 1) == Some(&b'-') => after_line(bytes, at),
        b'#' if is_backslash => after_line(bytes, at),
        b'/' if bytes.get(at + 1) == Some(&b'*') => after_comment(bytes, at),
        b'$' if !is_backslash => after_dollar(bytes, at),
        _ => at + 1,
    }
}

pub(crate) fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether the literal that opens at `at` is an `E'…'`, in which a backslash escapes.
fn has_escapes(bytes: &[u8], at: usize) -> bool {
    let is_e = at > 0 && bytes[at - 1].eq_ignore_ascii_case(&b'e');
    is_e && (at < 2 || !(is_identifier(bytes[at - 2]) || bytes[at - 2] == b'$'))
}

/// The offset after the literal or identifier that opens at `at`; a doubled quote does not end it.
fn after_quote(bytes: &[u8], at: usize, escapes: bool) -> usize {
    let quote = bytes[at];
    let mut at = at + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn after_line(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    rest.iter()
        .position(|&byte| byte == b'\n')
        .map_or(bytes.len(), |end| at + end + 1)
}

/// The offset after the comment that opens at `at`; comments nest.
fn after_comment(bytes: &[u8], at: usize) -> usize {
    let (mut at, mut depth) = (at + 2, 1);
    while at < bytes.len() && depth > 0 {
        match &bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

/// The offset after the `$tag$…$tag$` that opens at `at`, or after the `$` where none opens.
fn after_dollar(bytes: &[u8], at: usize) -> usize {
    if at > 0 && (is_identifier(bytes[at - 1]) || bytes[at - 1] == b'$') {
        return at + 1;
    }
    let name = bytes[at + 1..]
        .iter()
        .take_while(|&&byte| is_identifier(byte))
        .count();
    let opening_ends = at + 1 + name;
    let begins_with_digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
    if begins_with_digit || bytes.get(opening_ends) != Some(&b'$') {
        return at + 1;
    }
    let mark = &bytes[at..=opening_ends];
    let body = &bytes[opening_ends + 1..];
    body.windows(mark.len())
        .position(|window| window == mark)
        .map_or(bytes.len(), |end| opening_ends + 1 + end + mark.len())
}
