//! Which tables a load fills, by which bulk statements, and what stands around them.

use assay_drivers::BulkForm;
use assay_values::ColumnType;
use serde::Deserialize;

use super::{SiteDocument, null_is_default, parse};
use crate::EngineError;

/// Every session does everything, in the order of the fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadDocument {
    pub site: SiteDocument,
    #[serde(default, deserialize_with = "null_is_default")]
    pub before: Vec<String>,
    /// The source's table numbers are places in this list.
    pub tables: Vec<TableDocument>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub after: Vec<String>,
    /// Run instead of the rest where anything fails.
    #[serde(default, deserialize_with = "null_is_default")]
    pub on_error: Vec<String>,
    /// How many sessions bring the rows in, each its part of them in a transaction of its own. A system
    /// that knows one writer at a time must be given one.
    #[serde(default = "one_session")]
    pub sessions: u32,
    /// Whether each table's rows are summed up to a number that can be compared with what the system
    /// gives back.
    #[serde(default)]
    pub checksums: bool,
}

fn one_session() -> u32 {
    1
}

impl LoadDocument {
    /// # Errors
    /// If the text is not a load document; says which key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        let document: Self = parse("the load document", text)?;
        if document.sessions == 0 {
            let message = "the load document, key `sessions`: expected at least 1, found 0";
            return Err(EngineError::Document(message.to_owned()));
        }
        Ok(document)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDocument {
    pub name: String,
    /// The statement that begins the bulk load.
    pub bulk: String,
    pub form: BulkFormWord,
    /// The neutral types of its columns, in order; none: not known, and values travel as text.
    #[serde(default, deserialize_with = "column_types")]
    pub types: Vec<ColumnType>,
}

fn column_types<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Vec<ColumnType>, D::Error> {
    let words: Vec<String> = null_is_default(reader)?;
    words
        .iter()
        .map(|word| word.parse().map_err(serde::de::Error::custom))
        .collect()
}

/// How rows travel (`BulkForm`), as documents spell it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum BulkFormWord {
    Native,
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
