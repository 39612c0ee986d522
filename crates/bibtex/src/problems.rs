//! Takes the errors and warnings of an input; keeps the first hundred with their places, and counts all. Counts the items
//! of a file by kind.

use assay_values::SourceError;
use serde::{Deserialize, Serialize};

use crate::item::Kind;

/// Problems kept in full; the others are only counted.
const KEPT: usize = 100;

/// An error or warning at one place of the current file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) place: Place,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// Line and column count from 1; 0 means the whole file, or the whole line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl Flaw {
    /// A NUL byte at `place`.
    pub(crate) fn nul_byte(place: Place) -> Self {
        Self {
            place,
            message: "expected text, found a NUL byte".to_owned(),
            hint: Some("remove it, for example: tr -d '\\0'".to_owned()),
        }
    }

    pub(crate) fn in_file(self, file: &str) -> SourceError {
        SourceError {
            message: self.message,
            file: file.to_owned(),
            line: self.place.line,
            column: self.place.column,
            hint: self.hint,
        }
    }
}

/// Whether a problem affects the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Rows are missing because of it.
    Error,
    /// The rows are complete, but the file should be corrected.
    Warning,
}

/// One error or warning that did not stop the reading.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Problem {
    /// Whether rows are missing because of it.
    pub severity: Severity,
    /// The path of the file, as it was given.
    pub file: String,
    /// The line, from 1; 0 if the problem concerns the whole file.
    pub line: u64,
    /// The column, from 1; 0 if the problem concerns the whole line.
    pub column: u64,
    /// What was expected and what was found.
    pub message: String,
    /// The fix, if one is known.
    pub hint: Option<String>,
}

/// The first hundred problems in the order in which they were found, the number of all problems, and how
/// much of the files was left out because of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Problems {
    /// The first problems, in the order in which they were found.
    pub kept: Vec<Problem>,
    /// The number of all errors, including those not kept.
    pub errors: u64,
    /// The number of all warnings, including those not kept.
    pub warnings: u64,
    /// Entries that are left out of the rows.
    pub skipped_entries: u64,
    /// Bytes from the beginning of bad text to the place where reading continued.
    pub skipped_bytes: u64,
}

/// How much of a text was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

impl Problems {
    pub(crate) fn error(&mut self, error: SourceError) {
        self.errors += 1;
        self.keep(Severity::Error, error);
    }

    pub(crate) fn warning(&mut self, warning: SourceError) {
        self.warnings += 1;
        self.keep(Severity::Warning, warning);
    }

    /// Sets how much was left out of all files so far.
    pub(crate) fn skipped(&mut self, of_ended: Skipped, of_open: Skipped) {
        self.skipped_entries = of_ended.entries + of_open.entries;
        self.skipped_bytes = of_ended.bytes + of_open.bytes;
    }

    fn keep(&mut self, severity: Severity, what: SourceError) {
        if self.kept.len() < KEPT {
            let SourceError { message, file, line, column, hint } = what;
            self.kept.push(Problem { severity, file, line, column, message, hint });
        }
    }
}

/// A number with its noun: `1 file`, `2 files`.
pub(crate) fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { plural })
}

/// The numbers of items found in one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// Index into the list of inputs.
    pub(crate) file: usize,
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
    pub(crate) strings: u64,
    pub(crate) preambles: u64,
    pub(crate) digest: u128,
}

impl Contents {
    /// Counts an item of this kind.
    pub(crate) fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Entry => self.entries += 1,
            Kind::String => self.strings += 1,
            Kind::Preamble => self.preambles += 1,
        }
    }

    /// Whether the file has no items.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries + self.strings + self.preambles == 0
    }
}

/// The error for a file of `bytes` bytes without items.
pub(crate) fn nothing_found(bytes: u64) -> Flaw {
    Flaw {
        place: Place::default(),
        message: match bytes {
            0 => "expected BibTeX entries, found an empty file".to_owned(),
            _ => format!("expected BibTeX entries, found none in {bytes} bytes of other text"),
        },
        hint: Some("an entry begins with `@type{key,`".to_owned()),
    }
}
