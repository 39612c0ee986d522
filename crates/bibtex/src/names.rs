//! Takes the text of an author or editor field; returns its names, and counts how often each occurs.

use std::collections::HashMap;
use std::ops::Range;

use crate::item::is_space;
use crate::keys::TextHash;
use crate::tex::Cleaner;

/// Appends the names in `text`, without TeX markup and joined by ` and `, to `out`; `parts` receives
/// the range of each in `out`. Returns false if the text has no content.
///
/// Names are split as BibTeX splits them, at the word `and` outside braces: `{Barnes and Noble}` is
/// one author. The word `others`, for unnamed authors, is not counted.
pub(crate) fn write_names(text: &[u8], out: &mut Vec<u8>, parts: &mut Vec<Range<usize>>) -> bool {
    parts.clear();
    let start = out.len();
    let mut from = 0;
    loop {
        let end = next_and(text, from);
        if out.len() > start {
            out.extend_from_slice(b" and ");
        }
        let part = out.len();
        let mut cleaner = Cleaner::new(out);
        let name = &text[from..end.as_ref().map_or(text.len(), |and| and.start)];
        cleaner.unmark(name);
        cleaner.finish();
        if name.trim_ascii() != b"others" {
            parts.push(part..out.len());
        }
        match end {
            Some(and) => from = and.end,
            None => break,
        }
    }
    out[start..].iter().any(|&byte| byte != b'?')
}

/// Whether a name in `text` is empty, as between the two `and` of `A and and B`; false if
/// the whole text has no content.
pub(crate) fn has_empty_name(text: &[u8], scratch: &mut Vec<u8>) -> bool {
    let mut from = 0;
    let mut is_list = false;
    loop {
        let end = next_and(text, from);
        is_list |= end.is_some();
        if !is_list {
            return false;
        }
        let name = &text[from..end.as_ref().map_or(text.len(), |and| and.start)];
        if is_without_content(name, scratch) {
            return true;
        }
        match end {
            Some(and) => from = and.end,
            None => return false,
        }
    }
}

fn is_without_content(name: &[u8], scratch: &mut Vec<u8>) -> bool {
    // Nearly all names begin with a letter, which can be checked without removing markup.
    if name.trim_ascii_start().first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    scratch.clear();
    let mut cleaner = Cleaner::new(scratch);
    cleaner.unmark(name);
    cleaner.finish();
    scratch.is_empty()
}

/// The next ` and ` of `text` after `from`, outside braces and with white space on both sides.
fn next_and(text: &[u8], from: usize) -> Option<Range<usize>> {
    let mut depth = 0_usize;
    for at in from..text.len() {
        match text[at] {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            byte if depth == 0
                && is_space(byte)
                && at + 4 < text.len()
                && text[at + 1..at + 4].eq_ignore_ascii_case(b"and")
                && is_space(text[at + 4]) =>
            {
                return Some(at..at + 4);
            }
            _ => {}
        }
    }
    None
}

/// The number of occurrences of every name.
#[derive(Default)]
pub(crate) struct Names {
    uses: HashMap<Box<[u8]>, u64, TextHash>,
}

impl Names {
    pub(crate) fn add(&mut self, name: &[u8]) {
        if name.is_empty() {
            return;
        }
        match self.uses.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                self.uses.insert(name.into(), 1);
            }
        }
    }

    /// All names sorted by their bytes, independent of the order of the files.
    pub(crate) fn into_sorted(self) -> Vec<(Box<[u8]>, u64)> {
        let mut sorted: Vec<_> = self.uses.into_iter().collect();
        sorted.sort_unstable();
        sorted
    }
}
