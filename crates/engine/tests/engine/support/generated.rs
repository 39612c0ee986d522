//! Generated tables, and loads of them.

use std::ops::ControlFlow;
use std::sync::Arc;

use assay_datagen::{Dataset, GeneratedDocument, GeneratedSource, measure};
use assay_engine::{EngineError, LoadDocument, LoadReport, load_parts};
use assay_values::ColumnType;
use serde_json::{Value, json};

use crate::support::rows::until;
use crate::support::session;

/// The name, the type and the expression of each column of a table with all types.
#[rustfmt::skip]
pub const COLUMNS: &[(&str, &str, &str)] = &[
    ("id", "int", ":row + 1"),
    ("small", "smallint", "random(-32768, 32767)"),
    ("big", "bigint", "random(-9000000000000000, 9000000000000000)"),
    ("dec", "decimal(9,2)", "random(-99999, 99999) / 100.0"),
    ("dbl", "double", "random(1, 1000000) / 8.0"),
    ("flt", "float", "random(1, 1000) / 16.0"),
    ("chr", "char(8)", "digits(8)"),
    ("var", "varchar(20)", "CASE WHEN :small > 0 THEN text(0, 20) ELSE NULL END"),
    ("txt", "text", "concat('tab\t, quote '' and back\\slash ', :id)"),
    ("day", "date", "concat('20', digits(1), '0-02-1', digits(1))"),
    ("at", "timestamp", "concat(:day, ' 0', digits(1), ':30:0', digits(1))"),
    ("yes", "bool", "random(0, 1) = 1"),
];

pub fn dataset(rows: &str, columns: &[(&str, &str, &str)]) -> Arc<Dataset> {
    let column = |&(name, of, value): &(&str, &str, &str)| json!({ "name": name, "type": of, "value": value, "line": 7 });
    let columns: Vec<Value> = columns.iter().map(column).collect();
    let document = json!({ "seed": 3, "file": "workload.toml", "tables": [
        { "name": "t", "rows": rows, "columns": columns },
    ] });
    let document: GeneratedDocument = serde_json::from_value(document).unwrap();
    Dataset::compile(&document).unwrap_or_else(|error| panic!("{error} {:?}", error.hint))
}

/// The types of `columns`.
pub fn types(columns: &[(&str, &str, &str)]) -> Vec<ColumnType> {
    let types = columns.iter().map(|(_, of, _)| of.parse().unwrap());
    types.collect()
}

/// The parameters of a load of one table.
pub struct Loading<'a> {
    pub deployment: Value,
    pub bulk: &'a str,
    pub types: Vec<&'a str>,
    pub sessions: u32,
}

impl Loading<'_> {
    pub fn load(&self, dataset: &Arc<Dataset>, breaks_at: u64) -> Result<LoadReport, EngineError> {
        let document = json!({
            "deployment": self.deployment,
            "before": ["BEGIN"],
            "tables": [{ "name": "t", "bulk": self.bulk, "form": "native", "types": self.types }],
            "after": ["COMMIT"],
            "on_error": ["ROLLBACK"],
            "sessions": self.sessions,
            "checksums": true,
        });
        let document = LoadDocument::parse(&document.to_string()).unwrap();
        let parts = dataset.part.divided(self.sessions);
        let mut sources: Vec<_> = parts
            .map(|part| GeneratedSource::new(Arc::clone(dataset), part))
            .collect();
        let sources = sources.iter_mut().map(|source| source as _).collect();
        load_parts(&document, sources, &mut until(breaks_at))
    }
}

/// The checksum of the table, computed by the generator.
pub fn checksum(dataset: &Dataset) -> String {
    let mut go_on = |_| ControlFlow::Continue(());
    let measured = measure(dataset, true, &mut go_on).unwrap().unwrap();
    measured.tables[0].checksum.clone().unwrap()
}

/// Rows and digest of the statement's answer.
pub fn digest(deployment: &Value, statement: &str, types: Vec<ColumnType>) -> (u64, String) {
    let mut session = session(deployment);
    let mut go_on = || ControlFlow::Continue(());
    let answer = session.digest_while(statement, types, &mut go_on).unwrap();
    assert_eq!(answer.error, None);
    (answer.rows, format!("{:016x}", answer.digest))
}
