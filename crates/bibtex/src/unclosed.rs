//! Takes an item that has no end; returns the error, which names the unclosed delimiter and the next entry.

use crate::byte_class::is_word_byte;
use crate::heads::next_head;
use crate::item::MAX_ENTRY_BYTES;
use crate::problems::{Flaw, Place};

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
            Some(next) => format!(
                "close it before line {}, where the next entry begins",
                place(next).line
            ),
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
