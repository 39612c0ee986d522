//! Takes the text of a statement; gives the place behind a literal, a quoted identifier or a comment,
//! in which nothing means what it seems to.

/// How quotes stand inside a text literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literals {
    /// Doubled; a backslash escapes in `E'…'` alone.
    Doubled,
    /// Doubled, or behind a backslash; `#` begins a comment, and nothing stands between dollars.
    Backslash,
}

/// The place behind what begins at `at`: a literal, an identifier in quotes, a comment, or one byte.
pub(crate) fn behind(bytes: &[u8], at: usize, literals: Literals) -> usize {
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

/// The place behind the literal or identifier that opens at `at`. A doubled quote reads as the end
/// of one and the beginning of the next, which comes to the same; but escapes must go on then.
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

/// The place behind the comment that opens at `at`; comments nest.
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

/// The place behind the `$tag$…$tag$` that opens at `at`, or behind the `$` where none does.
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
