//! The source document of generated tables: their numbers of rows and their columns.

use std::collections::BTreeMap;

use assay_values::Value;
use serde::Deserialize;

use crate::Part;

/// Expressions are in the language of scripts; `file`, lines and columns are for messages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedDocument {
    /// The seed of all random values.
    pub seed: u64,
    /// The file that contains the expressions.
    pub file: String,
    /// The parameters that expressions may use.
    #[serde(default)]
    pub variables: BTreeMap<String, Scalar>,
    /// The part of the rows to generate; absent: all.
    #[serde(default)]
    pub part: Part,
    /// In the order in which they are filled; a parent precedes its children.
    pub tables: Vec<GeneratedTable>,
}

/// One table of a source document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedTable {
    /// The name; it determines the table's random streams.
    pub name: String,
    /// The number of rows, as an expression of the parameters; for a child table the number per parent row,
    /// which may also use the ancestors' columns.
    pub rows: String,
    /// The line of `rows`.
    #[serde(default)]
    pub line: u32,
    /// The column of its expression in the file, from 1.
    #[serde(default)]
    pub column: u32,
    /// The parent's name.
    pub per: Option<String>,
    /// False: its rows are computed for its children alone, and are not among those of the source.
    #[serde(default = "is_loaded_by_default")]
    pub is_loaded: bool,
    /// The number of this table among several with the same definition; expressions see it as `:instance`.
    pub instance: Option<i64>,
    /// Its columns, in the order of their cells.
    pub columns: Vec<GeneratedColumn>,
}

fn is_loaded_by_default() -> bool {
    true
}

/// One column of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedColumn {
    /// The name of the column.
    pub name: String,
    /// An expression of the parameters, `:row`, `:instance`, the ancestors' columns and the columns before it.
    pub value: String,
    /// The neutral type, in which the value is written; absent: as the expression returns it.
    #[serde(default, rename = "type")]
    pub column_type: Option<String>,
    /// The line of the expression.
    #[serde(default)]
    pub line: u32,
    /// The column of its expression in the file, from 1.
    #[serde(default)]
    pub column: u32,
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// No value: the column or variable is NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Double(f64),
    /// A text.
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
