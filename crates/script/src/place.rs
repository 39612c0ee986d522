//! Takes byte offsets in a text, as scanners and parsers use them; returns lines and columns
//! for messages.

use crate::ScriptError;
use std::cell::Cell;

/// Both begin at 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub line: u32,
    pub column: u32,
}

/// Where the lines of a text begin.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// The last position looked up, as its offset and the characters before it on its line: positions are
    /// looked up in order, so a very long line is counted only once.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0)
            .chain(ends.map(|(end, _)| end + 1))
            .collect();
        Self {
            text,
            starts,
            last: Cell::new((0, 0)),
        }
    }

    pub fn place(&self, at: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= at);
        let start = self.starts[line - 1];
        let (known, before) = self.last.get();
        let (from, counted) = if (start..=at).contains(&known) {
            (known, before)
        } else {
            (start, 0)
        };
        let before = counted + self.text[from..at].chars().count();
        self.last.set((at, before));
        Place {
            line: bounded(line),
            column: bounded(before + 1),
        }
    }
}

/// Numbers above 2^32 - 1 are capped.
fn bounded(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Where a text begins: after the byte order mark that some editors write.
pub(crate) fn text_start(text: &str) -> usize {
    if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    }
}

/// A [`ScriptError`] without the path of its text.
#[derive(Debug)]
pub(crate) struct Defect {
    at: usize,
    message: String,
    hint: Option<String>,
}

impl Defect {
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
            hint: None,
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is none yet.
    pub fn or_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Adds the name that was probably meant, if there is one.
    pub fn perhaps(mut self, meant: Option<String>) -> Self {
        self.hint = meant
            .map(|meant| format!("did you mean {meant}?"))
            .or(self.hint);
        self
    }

    pub fn locate(self, path: &str, lines: &Lines<'_>) -> ScriptError {
        let Place { line, column } = lines.place(self.at);
        ScriptError {
            path: path.to_owned(),
            line,
            column,
            message: self.message,
            hint: self.hint,
        }
    }
}
