//! What tables there are, how many rows they have, and what stands in their columns.

use std::collections::BTreeMap;

use assay_values::Value;
use serde::Deserialize;

use crate::Part;

/// Expressions are in the language of scripts; the places in `file` are for messages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedDocument {
    pub seed: u64,
    /// The file that the expressions stand in.
    pub file: String,
    /// The parameters that expressions may use.
    #[serde(default)]
    pub variables: BTreeMap<String, Scalar>,
    /// Which part of the rows is wanted; all of them where absent.
    #[serde(default)]
    pub part: Part,
    /// In the order in which they are filled; a parent stands before its children.
    pub tables: Vec<GeneratedTable>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedTable {
    /// By which its random streams go.
    pub name: String,
    /// How many rows: an expression of the parameters; of a child table, per row of its parent: of the
    /// parent's columns too.
    pub rows: String,
    /// Where `rows` stands.
    #[serde(default)]
    pub line: u32,
    /// The parent's name.
    #[serde(default)]
    pub per: Option<String>,
    /// Of several tables that are alike, which one it is; expressions see it as `:instance`.
    #[serde(default)]
    pub instance: Option<i64>,
    pub columns: Vec<GeneratedColumn>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedColumn {
    pub name: String,
    /// An expression of the parameters, `:row`, `:instance`, the parent's columns and the columns above it.
    pub value: String,
    /// The neutral type, by which the value is written; absent: as the expression gives it.
    #[serde(default, rename = "type")]
    pub of: Option<String>,
    /// Where the expression stands.
    #[serde(default)]
    pub line: u32,
    #[serde(default)]
    pub column: u32,
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
}

impl From<&Scalar> for Value {
    fn from(scalar: &Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(truth) => Self::Bool(*truth),
            Scalar::Int(number) => Self::Int(*number),
            Scalar::Double(number) => Self::Double(*number),
            Scalar::Text(text) => Self::Text(text.as_str().into()),
        }
    }
}
