//! Rows as CSV and as SQL text, and their sizes.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::io::{self, Write};
use std::ops::ControlFlow;

use assay_datagen::{Dataset, ExportDocument, ExportError, ExportReport, Part, export, measure};
use assay_values::row_sum;
use serde_json::{Value, json};

use crate::rows::dataset;

fn awkward(part: [u64; 2]) -> Value {
    json!({ "seed": 1, "file": "f", "part": part, "tables": [
        { "name": "t", "rows": "4", "columns": [
            { "name": "n", "value": ":row - 1" },
            { "name": "x", "value": "CASE WHEN :row = 0 THEN '' WHEN :row = 1 THEN NULL WHEN :row = 2 THEN 'a,\"b' ELSE 'it''s \\' END" },
            { "name": "d", "value": ":row / 2.0" },
            { "name": "b", "value": ":row > 1" },
        ] },
    ] })
}

fn exported(dataset: &Dataset, document: Value) -> (String, ExportReport) {
    let document: ExportDocument = serde_json::from_value(document).unwrap();
    let mut out = Vec::new();
    let mut go_on = |_| ControlFlow::Continue(());
    let report = export(dataset, &document, &mut out, &mut go_on).unwrap();
    assert_eq!(report.bytes, out.len() as u64);
    (String::from_utf8(out).unwrap(), report)
}

#[test]
fn csv_distinguishes_null_from_the_empty_text_and_quotes_special_characters() {
    let document = json!({ "table": "t", "form": "csv", "header": true });
    let (text, report) = exported(&dataset(&awkward([1, 1])), document);
    let lines = ["n,x,d,b", "-1,\"\",0,0", "0,,0.5,0", "1,\"a,\"\"b\",1,1", "2,it's \\,1.5,1", ""];
    assert_eq!(text, lines.join("\n"));
    assert_eq!(report.rows, 4);
}

#[test]
fn sql_has_the_literal_style_and_the_rows_per_statement() {
    let document = |style: &str| {
        json!({ "table": "t", "form": "sql", "insert": "INSERT INTO t (n, x, d, b) VALUES",
                "literal_style": style, "rows_per_statement": 3 })
    };
    let insert = "INSERT INTO t (n, x, d, b) VALUES\n";
    let whole = dataset(&awkward([1, 1]));
    let first = "(-1, '', 0, FALSE),\n(0, NULL, 0.5, FALSE),\n(1, 'a,\"b', 1, TRUE);\n";
    let doubled = format!("{insert}{first}{insert}(2, 'it''s \\', 1.5, TRUE);\n");
    assert_eq!(exported(&whole, document("doubled")).0, doubled);
    let backslash = format!("{insert}{first}{insert}(2, 'it\\'s \\\\', 1.5, TRUE);\n");
    assert_eq!(exported(&whole, document("backslash")).0, backslash);
}

#[test]
fn concatenated_files_of_parts_equal_the_file_of_the_whole() {
    let tables = |part: [u64; 2]| {
        dataset(&json!({ "seed": 1, "file": "f", "part": part, "tables": [
            { "name": "p", "rows": "50", "columns": [{ "name": "a", "value": "text(1, 9)" }] },
            { "name": "c", "rows": "random(0, 9)", "per": "p", "columns": [
                { "name": "a", "value": ":a" },
                { "name": "b", "value": ":row" },
            ] },
        ] }))
    };
    for (table, form) in [("p", "csv"), ("c", "csv"), ("p", "sql"), ("c", "sql")] {
        let document = || {
            json!({ "table": table, "form": form, "checksum": true, "rows_per_statement": 4,
                    "insert": "INSERT INTO t VALUES" })
        };
        let (whole, report) = exported(&tables([1, 1]), document());
        for of in [2, 3, 7, 60] {
            let (mut joined, mut sum) = (String::new(), 0_u64);
            for number in 1..=of {
                let (text, report) = exported(&tables([number, of]), document());
                joined += &text;
                let part = u64::from_str_radix(&report.checksum.unwrap(), 16).unwrap();
                sum = sum.wrapping_add(part);
            }
            assert_eq!(joined, whole, "{table} as {form} in {of} parts");
            assert_eq!(report.checksum, Some(format!("{sum:016x}")));
        }
        let rows_of = |statement: &str| statement.matches('(').count();
        assert!(form == "csv" || whole.split(';').all(|statement| rows_of(statement) <= 4));
    }
}

#[test]
fn a_checksum_is_the_sum_of_the_rows_hashes() {
    let dataset = dataset(&awkward([1, 1]));
    let mut expected = 0_u64;
    for number in 1..=4 {
        let part = Part::new(number, 4).unwrap();
        let mut source = assay_datagen::GeneratedSource::new(dataset.clone(), part);
        let mut row = assay_values::Row::new();
        assay_values::RowSource::next_row(&mut source, &mut row).unwrap();
        expected = expected.wrapping_add(row_sum(&row, &[], &mut Vec::new()));
    }
    let mut go_on = |_| ControlFlow::Continue(());
    let measured = measure(&dataset, true, &mut go_on).unwrap().unwrap();
    let [table] = measured.tables.as_slice() else {
        panic!("{measured:?}")
    };
    assert_eq!(table.checksum, Some(format!("{expected:016x}")));
    let csv = exported(&dataset, json!({ "table": "t", "form": "csv" })).1;
    assert_eq!((table.rows, table.bytes), (4, csv.bytes));
}

#[test]
fn the_bytes_of_a_large_table_are_estimated_well() {
    let dataset = dataset(&json!({ "seed": 1, "file": "f", "tables": [
        { "name": "p", "rows": "5000", "columns": [{ "name": "a", "value": "text(1, 40)" }] },
        { "name": "c", "rows": "random(1, 5)", "per": "p", "columns": [
            { "name": "a", "value": "text(10, 20)" },
        ] },
    ] }));
    let mut go_on = |_| ControlFlow::Continue(());
    let measured = measure(&dataset, false, &mut go_on).unwrap().unwrap();
    for table in measured.tables {
        let csv = exported(&dataset, json!({ "table": table.name, "form": "csv" })).1;
        assert_eq!(table.rows, csv.rows);
        let (estimated, exact) = (table.bytes, csv.bytes);
        assert!(
            estimated.abs_diff(exact) * 3 < exact,
            "{estimated} of {exact}"
        );
        assert_eq!(table.checksum, None);
    }
}

#[test]
fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
    struct Broken(io::ErrorKind);
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let dataset = dataset(&awkward([1, 1]));
    let to = |kind| {
        let document = json!({ "table": "t", "form": "csv" });
        let document: ExportDocument = serde_json::from_value(document).unwrap();
        let mut go_on = |_| ControlFlow::Continue(());
        export(&dataset, &document, &mut Broken(kind), &mut go_on)
    };
    assert!(to(io::ErrorKind::BrokenPipe).unwrap().is_broken_pipe);
    let error = to(io::ErrorKind::StorageFull).unwrap_err();
    assert!(matches!(error, ExportError::Output(_)));
}

#[test]
fn an_unknown_table_is_reported_with_the_known_ones() {
    let document = json!({ "table": "x", "form": "csv" });
    let document: ExportDocument = serde_json::from_value(document).unwrap();
    let mut go_on = |_| ControlFlow::Continue(());
    let dataset = dataset(&awkward([1, 1]));
    let error = export(&dataset, &document, &mut Vec::new(), &mut go_on).unwrap_err();
    let expected = "expected one of the tables t, found \"x\"";
    assert_eq!(error.to_string(), expected);
}
