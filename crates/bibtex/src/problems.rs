//! Takes what is wrong with an input; gives it a place, keeps the first of it and counts the rest.

use assay_values::SourceError;
use serde::{Deserialize, Serialize};

/// Problems kept word for word; the others are only counted.
const KEPT: usize = 100;

/// Something wrong at one place of the file under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) place: Place,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// Line and column count from 1; 0 stands for the file, or the line, as a whole.
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

/// What a problem means for the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is left out of the rows because of it.
    Error,
    /// The rows are whole, but the author of the file may want to know.
    Warning,
}

/// One thing that is wrong with a file and did not stop the reading.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Problem {
    /// Whether rows are missing because of it.
    pub severity: Severity,
    /// The path of the file, as it was given.
    pub file: String,
    /// 1-based; 0 where the place is the file as a whole.
    pub line: u64,
    /// 1-based; 0 where the place is the line as a whole.
    pub column: u64,
    /// What was expected and what was found.
    pub message: String,
    /// How to mend it, where that is known.
    pub hint: Option<String>,
}

/// The first hundred problems in the order of their discovery, the number of all of them, and how
/// much of the files was left out because of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Problems {
    /// The first problems, in the order of their discovery.
    pub kept: Vec<Problem>,
    /// How many errors there are in all, those not kept included.
    pub errors: u64,
    /// How many warnings there are in all, those not kept included.
    pub warnings: u64,
    /// Entries that are left out of the rows.
    pub skipped_entries: u64,
    /// From the beginning of what is bad to the place where reading went on.
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

    /// Takes over what was left out of all files so far.
    pub(crate) fn skipped(&mut self, of_ended: Skipped, of_open: Skipped) {
        self.skipped_entries = of_ended.entries + of_open.entries;
        self.skipped_bytes = of_ended.bytes + of_open.bytes;
    }

    fn keep(&mut self, severity: Severity, what: SourceError) {
        if self.kept.len() < KEPT {
            let SourceError {
                message,
                file,
                line,
                column,
                hint,
            } = what;
            self.kept.push(Problem {
                severity,
                file,
                line,
                column,
                message,
                hint,
            });
        }
    }
}

/// A number with what is counted: `1 file`, `2 files`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
