//! Takes an item that has no end; gives the delimiter to blame and the place where the next begins.

use memchr::memmem;

use crate::splitter::is_word_byte;

/// Where the next entry begins inside an item that has no end.
pub(crate) fn next_entry(text: &[u8], open: usize) -> Option<usize> {
    memmem::find_iter(&text[open..], b"\n@")
        .map(|at| open + at + 1)
        .find(|&at| {
            let word = text[at + 1..]
                .iter()
                .take_while(|&&byte| is_word_byte(byte))
                .count();
            word > 0 && matches!(text.get(at + 1 + word), Some(b'{' | b'(' | b' '))
        })
}

/// Which delimiter of `text` is most probably the one that lacks its partner.
///
/// With a brace missing inside a value, the brace that ends the entry closes the value instead, and
/// formally the entry's own brace is left over. So the value is named during which a line begins
/// that looks like another field.
pub(crate) fn never_closed(text: &[u8], open: usize) -> usize {
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

pub(crate) fn first_line(text: &[u8]) -> &[u8] {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    line[..line.len().min(60)].trim_ascii_end()
}
