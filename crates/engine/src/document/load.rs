//! The load document: which tables to fill, with which bulk statements, and the statements before and after.

use assay_drivers::BulkForm;
use assay_values::ColumnType;
use serde::Deserialize;

use crate::EngineError;
use crate::document::deployment::DeploymentDocument;
use crate::document::reading::{null_is_default, parse};

/// Every session runs all of it, in the order of the fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadDocument {
    /// Where the tables are.
    pub deployment: DeploymentDocument,
    /// Statements of each session before its rows.
    #[serde(default, deserialize_with = "null_is_default")]
    pub before: Vec<String>,
    /// The source's table numbers are indexes of this list.
    pub tables: Vec<TableDocument>,
    /// Statements of each session after the rows of all sessions.
    #[serde(default, deserialize_with = "null_is_default")]
    pub after: Vec<String>,
    /// Run instead of the rest if anything fails.
    #[serde(default, deserialize_with = "null_is_default")]
    pub on_error: Vec<String>,
    /// How many sessions load the rows, each its share in its own transaction. A system with a single writer
    /// needs 1.
    #[serde(default = "one_session")]
    pub sessions: u32,
    /// Whether to sum each table's rows to a checksum that can be compared with what the system returns.
    #[serde(default)]
    pub checksums: bool,
}

fn one_session() -> u32 {
    1
}

impl LoadDocument {
    /// # Errors
    /// If the text is not a valid load document; the error names the key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        let document: Self = parse("the load document", text)?;
        if document.sessions == 0 {
            let message = "the load document, key `sessions`: expected at least 1, found 0";
            return Err(EngineError::Document(message.to_owned()));
        }
        Ok(document)
    }
}

/// A table to be filled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDocument {
    /// The name of the table, for messages and reports.
    pub name: String,
    /// The statement that starts the bulk load.
    pub bulk: String,
    /// How its rows are sent.
    pub form: BulkFormWord,
    /// The neutral types of its columns, in order; empty: unknown, and values are sent as text.
    #[serde(default, deserialize_with = "column_types")]
    pub types: Vec<ColumnType>,
}

fn column_types<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Vec<ColumnType>, D::Error> {
    let words: Vec<String> = null_is_default(reader)?;
    words.iter().map(|word| word.parse().map_err(serde::de::Error::custom)).collect()
}

/// How rows are sent (`BulkForm`), as documents spell it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum BulkFormWord {
    /// The system's own bulk load, such as COPY.
    Native,
    /// `INSERT` statements of many rows each.
    MultiRow,
}

impl From<BulkFormWord> for BulkForm {
    fn from(word: BulkFormWord) -> Self {
        match word {
            BulkFormWord::Native => Self::Native,
            BulkFormWord::MultiRow => Self::MultiRow,
        }
    }
}
