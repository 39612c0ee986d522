//! Takes the text of a statement; returns where a literal, a quoted identifier or a comment ends, so
//! that keywords and semicolons inside them are skipped; its words in order; the table and the columns of an INSERT.

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

/// The table and the columns; `None` where the text has another form.
pub(crate) fn columns_of(text: &str) -> Option<(String, Vec<String>)> {
    let mut rest = text;
    for word in ["INSERT", "INTO"] {
        let (found, behind) = name_of(rest)?;
        if !found.eq_ignore_ascii_case(word) {
            return None;
        }
        rest = behind;
    }
    let (table, behind) = name_of(rest)?;
    let mut rest = behind.trim_start().strip_prefix('(')?;
    let mut columns = Vec::new();
    loop {
        let (column, behind) = name_of(rest)?;
        columns.push(column);
        let behind = behind.trim_start();
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None => return behind.starts_with(')').then_some((table, columns)),
        }
    }
}

/// A name, plain or in double quotes, and what follows it.
fn name_of(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let mut from = 0;
        loop {
            let end = from + quoted[from..].find('"')?;
            // A doubled quote is one of the name.
            if !quoted[end + 1..].starts_with('"') {
                return Some((quoted[..end].replace("\"\"", "\""), &quoted[end + 1..]));
            }
            from = end + 2;
        }
    }
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
    literals: Literals,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str, literals: Literals) -> Self {
        Self {
            text,
            at: 0,
            literals,
        }
    }

    /// The words outside parentheses.
    pub(super) fn at_top(&mut self) -> impl Iterator<Item = &'a str> {
        let mut depth = 0_u32;
        self.by_ref().filter(move |&word| {
            match word {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let is_name = |byte: u8| is_identifier(byte) || b".\"`".contains(&byte);
        loop {
            let start = self.at;
            let first = *bytes.get(start)?;
            if is_name(first) {
                let rest = &bytes[start..];
                let length = rest.iter().position(|&byte| !is_name(byte));
                self.at = start + length.unwrap_or(rest.len());
                return Some(&self.text[start..self.at]);
            }
            self.at = end_of_token(bytes, start, self.literals);
            let is_comment = self.at > start + 1 && first != b'\'' && first != b'$';
            if !first.is_ascii_whitespace() && !is_comment {
                // Everything but a name begins and ends with an ASCII byte.
                return Some(&self.text[start..self.at]);
            }
        }
    }
}

pub(super) fn is_word(word: &str, expected: &str) -> bool {
    word.eq_ignore_ascii_case(expected)
}

/// A word in lower case and without quotes.
pub(super) fn plain(word: &str) -> String {
    word.replace(['"', '`'], "").to_lowercase()
}

/// The first words of a statement, up to a semicolon.
pub(super) fn first_words(words: Words<'_>) -> Vec<String> {
    const MOST: usize = 64;
    words
        .take_while(|&word| word != ";")
        .take(MOST)
        .map(plain)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::columns_of;

    #[test]
    fn columns_are_read_from_the_insert_of_a_dialect() {
        let found = columns_of("INSERT INTO \"group\" (a, \"or\"\"der\" , _c9) VALUES (?, ?, ?)");
        let expected = ["a", "or\"der", "_c9"].map(str::to_owned).to_vec();
        assert_eq!(found, Some(("group".to_owned(), expected)));
        for unsupported in
            ["INSERT INTO t VALUES (?)", "REPLACE INTO t (a) VALUES (?)", "INSERT INTO", ""]
        {
            assert_eq!(columns_of(unsupported), None, "{unsupported}");
        }
    }
}
