//! Takes text that contains an error; returns the offsets where entries seem to begin in it, and the error of an item
//! that has no end, which names the unclosed delimiter and the next entry.
//!
//! After a bad entry, reading continues at the next of these; they also give the number of skipped entries.

use std::ops::ControlFlow;

use memchr::{memchr_iter, memrchr};

use crate::item::{MAX_ENTRY_BYTES, MAX_TYPE_BYTES, is_space, is_word_byte};
use crate::problems::{Flaw, Place};

/// This many bytes decide whether an `@` begins an entry; its type is not searched for beyond more white
/// space than this.
pub(crate) const HEAD_BYTES: usize = MAX_TYPE_BYTES + 64;

/// The next `@` from `from` on that probably begins an entry: the first character of its line that is not
/// white space, followed by a word and a delimiter; or in the first column, followed by a word.
/// `starts_blank`: only white space precedes `text` in its line.
pub(crate) fn next_head(text: &[u8], from: usize, starts_blank: bool) -> Option<usize> {
    let found = each_head(text, from, starts_blank, ControlFlow::Break);
    match found {
        ControlFlow::Break(at) => Some(at),
        ControlFlow::Continue(()) => None,
    }
}

/// Whether more than `limit` entries seem to begin inside an entry, after its own `@`.
pub(crate) fn has_more_heads_than(limit: usize, text: &[u8]) -> bool {
    let mut count = 0;
    each_head(text, 1, false, |at| {
        count += 1;
        if count > limit {
            ControlFlow::Break(at)
        } else {
            ControlFlow::Continue(())
        }
    })
    .is_break()
}

/// How many entries begin in `text`, anywhere in their lines; definitions are not counted.
pub(crate) fn count_entries(text: &[u8]) -> u64 {
    memchr_iter(b'@', text)
        .filter(|&at| at == 0 || !is_word_byte(text[at - 1]))
        .filter(|&at| head(text, at).is_some_and(|word| !is_definition(word)))
        .count() as u64
}

/// Whether the type of an item is not that of an entry.
pub(crate) fn is_definition(word: &[u8]) -> bool {
    let others: [&[u8]; 3] = [b"string", b"preamble", b"comment"];
    others.iter().any(|other| word.eq_ignore_ascii_case(other))
}

fn each_head(
    text: &[u8],
    from: usize,
    starts_blank: bool,
    mut visit: impl FnMut(usize) -> ControlFlow<usize>,
) -> ControlFlow<usize> {
    // The line that contains `from` counts only if nothing else precedes `from` in it.
    let line = memrchr(b'\n', &text[..from]).map(|end| end + 1);
    let before = &text[line.unwrap_or(0)..from];
    let is_first = (line.is_some() || starts_blank) && before.iter().all(|&b| is_space(b));
    let mut starts = memchr_iter(b'\n', &text[from..]).map(|at| from + at + 1);
    let mut next = if is_first { Some(from) } else { starts.next() };
    while let Some(start) = next {
        let blanks = text[start..]
            .iter()
            .take_while(|&&b| is_space(b) && b != b'\n');
        let at = start + blanks.count();
        let is_outermost = at == start
            // At the beginning of its line, as far as `text` shows.
            && (at == 0 || text[at - 1] == b'\n')
            && text.get(at + 1).is_some_and(|&byte| is_word_byte(byte));
        if text.get(at) == Some(&b'@') && (is_outermost || head(text, at).is_some()) {
            visit(at)?;
        }
        next = starts.next();
    }
    ControlFlow::Continue(())
}

/// The word between the `@` at `at` and an opening delimiter.
fn head(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = &text[at + 1..text.len().min(at + HEAD_BYTES)];
    let start = rest.iter().position(|&byte| !is_space(byte))?;
    let length = rest[start..].iter().position(|&byte| !is_word_byte(byte))?;
    let word = &rest[start..start + length];
    let opening = rest[start + length..]
        .iter()
        .find(|&&byte| !is_space(byte))?;
    (!word.is_empty() && matches!(opening, b'{' | b'(')).then_some(word)
}

/// The error for the item at the beginning of `text`, whose delimiter opens at `open` and is never
/// closed; `place` returns the place of a byte of it.
pub(crate) fn never_ends(
    text: &[u8],
    open: usize,
    is_too_long: bool,
    place: impl Fn(usize) -> Place,
) -> Flaw {
    let next = next_head(text, open, false);
    let begins = String::from_utf8_lossy(first_line(text));
    if is_too_long && next.is_none() {
        return Flaw {
            place: place(0),
            message: format!(
                "expected an entry of at most {MAX_ENTRY_BYTES} bytes, found more after `{begins}`"
            ),
            hint: Some("a closing brace may be missing; otherwise split the entry".to_owned()),
        };
    }
    let culprit = never_closed(&text[..next.unwrap_or(text.len())], open);
    let brace = place(culprit);
    Flaw {
        place: place(0),
        message: format!(
            "the entry `{begins}` never ends: the `{}` at line {}, column {} is never closed",
            char::from(text[culprit]),
            brace.line,
            brace.column
        ),
        hint: Some(match next {
            Some(next) => {
                format!(
                    "close it before line {}, where the next entry begins",
                    place(next).line
                )
            }
            None => "close it before the end of the file".to_owned(),
        }),
    }
}

/// The delimiter of `text` that is most probably not closed.
///
/// If a brace is missing inside a value, the brace that ends the entry closes the value instead, and
/// formally the entry's own brace remains open. So the error names the value within which a line
/// looks like another field.
fn never_closed(text: &[u8], open: usize) -> usize {
    let mut opened = vec![open];
    let mut line_start = open;
    for (at, &byte) in text.iter().enumerate().skip(open + 1) {
        match byte {
            b'{' => opened.push(at),
            b'}' if opened.len() > 1 => {
                opened.pop();
            }
            b'\n' => line_start = at + 1,
            b'=' if opened.len() > 1 && looks_like_field(&text[line_start..at]) => {
                return opened[1];
            }
            _ => {}
        }
    }
    opened.last().copied().unwrap_or(open)
}

fn looks_like_field(before_equals: &[u8]) -> bool {
    let name = before_equals.trim_ascii();
    !name.is_empty() && name.iter().all(|&byte| is_word_byte(byte))
}

fn first_line(text: &[u8]) -> &[u8] {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    line[..line.len().min(60)].trim_ascii_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_begin_lines_and_mail_addresses_do_not() {
        let text = b"@a{x, joe@b.org{\n \t@c {y,\n @home\n@d\n text @e{z\n@String{s={}}";
        let mut found = Vec::new();
        let mut from = 1;
        while let Some(at) = next_head(text, from, false) {
            found.push(text[at + 1]);
            from = at + 1;
        }
        assert_eq!(found, *b"cdS");
        assert_eq!(next_head(b"  @a{", 0, true), Some(2));
        assert_eq!(next_head(b"  @a{", 0, false), None);
        assert!(has_more_heads_than(2, text) && !has_more_heads_than(3, text));
        // `a`, `c` and `e`; `b` is inside a word, `home` and `d` open nothing.
        assert_eq!(count_entries(text), 3);
    }
}
