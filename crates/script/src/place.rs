//! Takes a script's text, name and path, and byte offsets in it; returns the ends of names, and lines and columns for the
//! errors of scripts, which are defined here.

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
        let starts = std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect();
        Self { text, starts, last: Cell::new((0, 0)) }
    }

    pub fn place(&self, at: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= at);
        let start = self.starts[line - 1];
        let (known, before) = self.last.get();
        let (from, counted) =
            if (start..=at).contains(&known) { (known, before) } else { (start, 0) };
        let before = counted + self.text[from..at].chars().count();
        self.last.set((at, before));
        Place { line: bounded(line), column: bounded(before + 1) }
    }
}

/// Numbers above 2^32 - 1 are capped.
fn bounded(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Where a text begins: after the byte order mark that some editors write.
pub(crate) fn text_start(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
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
        Self { at, message: message.into(), hint: None }
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
        self.hint = meant.map(|meant| format!("did you mean {meant}?")).or(self.hint);
        self
    }

    pub fn locate(self, path: &str, lines: &Lines<'_>) -> ScriptError {
        let Place { line, column } = lines.place(self.at);
        ScriptError { path: path.to_owned(), line, column, message: self.message, hint: self.hint }
    }
}

/// Lines and columns begin at 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {message}")]
pub struct ScriptError {
    /// The path of the file, as the caller named it.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// What was expected and what was found.
    pub message: String,
    /// The fix, if one is known.
    pub hint: Option<String>,
}

/// One script of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name of the transaction type.
    pub name: &'a str,
    /// The path of its file, for messages.
    pub path: &'a str,
    /// The text of the script.
    pub text: &'a str,
    /// Whether the text is one statement, sent unchanged: no meta commands, no parameters.
    pub is_plain: bool,
}

/// The offset after the name that begins at `at`: letters of any alphabet, digits and underscores,
/// the first not a digit (pgbench's rule). `None` if no name begins there.
pub(crate) fn name_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let first = rest.chars().next()?;
    if !(first.is_alphabetic() || first == '_') {
        return None;
    }
    let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    Some(at + length.unwrap_or(rest.len()))
}
