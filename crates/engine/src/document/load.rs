//! Which tables a load fills, by which bulk statements, and what stands around them.

use assay_drivers::BulkForm;
use serde::Deserialize;

use super::{SiteDocument, null_is_default, parse};
use crate::EngineError;

/// Everything runs in one session, in the order of the fields.
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
}

impl LoadDocument {
    /// # Errors
    /// Where the text is not a load document; says which key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        parse("the load document", text)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDocument {
    pub name: String,
    /// The statement that begins the bulk load.
    pub bulk: String,
    pub form: BulkFormWord,
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
