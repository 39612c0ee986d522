//! Rows are functions of a seed: any part can be generated anywhere, and no streams are shared.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::HashSet;
use std::sync::Arc;

use assay_datagen::{Dataset, GeneratedDocument, GeneratedSource, Part};
use assay_values::{Row, RowSource as _, SourceError};
use serde_json::json;

pub fn dataset(document: &serde_json::Value) -> Arc<Dataset> {
    let document: GeneratedDocument = serde_json::from_value(document.clone()).unwrap();
    Dataset::compile(&document).unwrap_or_else(|error| panic!("{error} {:?}", error.hint))
}

/// The error of an invalid document: place, message, hint.
fn error(document: &serde_json::Value) -> String {
    let document: GeneratedDocument = serde_json::from_value(document.clone()).unwrap();
    match Dataset::compile(&document) {
        Ok(_) => panic!("expected an error"),
        Err(error) => format!("{error}; {}", error.hint.as_deref().unwrap_or_default()),
    }
}

/// (table, its cells) of each row; NULL is `∅`.
fn try_rows(dataset: &Arc<Dataset>, part: Part) -> Result<Vec<(usize, String)>, SourceError> {
    let mut source = GeneratedSource::new(Arc::clone(dataset), part);
    let (mut row, mut rows, mut scratch) = (Row::new(), Vec::new(), Vec::new());
    while let Some(table) = source.next_row(&mut row)? {
        let mut text = |cell: assay_values::Cell<'_>| match cell.text_in(&mut scratch) {
            Some(text) => String::from_utf8(text.to_vec()).unwrap(),
            None => "∅".to_owned(),
        };
        let cells: Vec<String> = row.cells().map(&mut text).collect();
        rows.push((table, cells.join("|")));
    }
    Ok(rows)
}

fn rows(dataset: &Arc<Dataset>, part: Part) -> Vec<(usize, String)> {
    try_rows(dataset, part).unwrap()
}

fn rows_of(dataset: &Arc<Dataset>, table: usize) -> Vec<String> {
    let rows = rows(dataset, Part::WHOLE).into_iter();
    let of_table = rows.filter(|(place, _)| *place == table);
    of_table.map(|(_, cells)| cells).collect()
}

/// Warehouses with districts, districts with a random number of customers, and an independent table.
fn nested(seed: u64) -> serde_json::Value {
    json!({
        "seed": seed,
        "file": "workload.toml",
        "variables": { "scale": 7 },
        "tables": [
            { "name": "warehouse", "rows": ":scale", "columns": [
                { "name": "w_id", "value": ":row + 1" },
                { "name": "w_name", "value": "text(6, 10)" },
                { "name": "w_size", "value": "random(0, 4)" },
            ] },
            { "name": "district", "rows": ":w_size", "per": "warehouse", "columns": [
                { "name": "w_id", "value": ":w_id" },
                { "name": "d_id", "value": ":row + 1" },
                { "name": "d_name", "value": "concat(:w_name, ' ', digits(4))" },
            ] },
            { "name": "customer", "rows": "random(0, 3)", "per": "district", "columns": [
                { "name": "d_id", "value": ":d_id" },
                { "name": "c_name", "value": "concat(:d_name, '/', lastname(random(0, 999)))" },
                { "name": "c_id", "value": "random(1, 1000000)" },
            ] },
            { "name": "item", "rows": "5 * :scale", "columns": [
                { "name": "i_id", "value": "random(1, 1000000)" },
                { "name": "i_again", "value": "random(1, 1000000)" },
            ] },
        ],
    })
}

#[test]
fn all_parts_concatenated_are_the_whole() {
    let dataset = dataset(&nested(1));
    let whole = rows(&dataset, Part::WHOLE);
    for of in [1, 2, 3, 5, 7, 11, 100] {
        let part = |number| rows(&dataset, Part::new(number, of).unwrap());
        let parts: Vec<_> = (1..=of).map(part).collect();
        for table in 0..4 {
            let of_table = |rows: &[(usize, String)]| -> Vec<String> {
                let here = rows.iter().filter(|(place, _)| *place == table);
                here.map(|(_, cells)| cells.clone()).collect()
            };
            let joined: Vec<String> = parts.iter().flat_map(|part| of_table(part)).collect();
            assert_eq!(joined, of_table(&whole), "table {table} in {of} parts");
            assert!(!joined.is_empty());
        }
    }
}

#[test]
fn equal_seeds_make_equal_rows_and_different_seeds_different_rows() {
    let of_seed = |seed| rows(&dataset(&nested(seed)), Part::WHOLE);
    assert_eq!(of_seed(1), of_seed(1));
    assert_ne!(of_seed(1), of_seed(2));
}

/// These rows were generated once and must never change: otherwise an update of the program would change what
/// is measured.
#[test]
fn the_rows_of_a_seed_never_change() {
    let dataset = dataset(&json!({ "seed": 42, "file": "f", "tables": [
        { "name": "t", "rows": "3", "columns": [
            { "name": "a", "value": ":row" },
            { "name": "b", "value": "random(1, 1000000)" },
            { "name": "c", "value": "random(1, 1000000)" },
        ] },
    ] }));
    let found: Vec<_> = rows_of(&dataset, 0);
    assert_eq!(found, FIRST_ROWS);
}

const FIRST_ROWS: [&str; 3] = ["0|297874|61204", "1|84067|370201", "2|598898|887485"];

#[test]
fn no_two_columns_rows_or_tables_share_a_stream() {
    let column = |name: &str| json!({ "name": name, "value": "random(1, 1000000000000000)" });
    let table = |name: &str| json!({ "name": name, "rows": "1000", "columns": [column("a"), column("b"), column("c")] });
    let children = |name: &str| json!({ "name": name, "rows": "4", "per": "one", "columns": [column("x"), column("y")] });
    let dataset = dataset(&json!({ "seed": 7, "file": "f", "tables": [
        table("one"), table("two"), table("three"), children("four"), children("five"),
    ] }));
    let mut seen = HashSet::new();
    for (_, cells) in rows(&dataset, Part::WHOLE) {
        for cell in cells.split('|') {
            assert!(seen.insert(cell.to_owned()), "{cell} was drawn twice");
        }
    }
    assert_eq!(seen.len(), 3 * 3000 + 2 * 8000);
}

#[test]
fn children_see_the_columns_of_their_own_parent() {
    let dataset = dataset(&nested(3));
    let warehouses = rows_of(&dataset, 0);
    let size = |row: &String| row.split('|').nth(2).unwrap().parse().unwrap();
    let sizes: Vec<usize> = warehouses.iter().map(size).collect();
    let districts = rows_of(&dataset, 1);
    let mut next = districts.iter();
    for (warehouse, size) in warehouses.iter().zip(sizes) {
        let (id, rest) = warehouse.split_once('|').unwrap();
        let name = rest.split_once('|').unwrap().0;
        for number in 1..=size {
            let district = next.next().unwrap();
            let begin = format!("{id}|{number}|{name} ");
            assert!(
                district.starts_with(&begin),
                "{district} is not of {warehouse}"
            );
        }
    }
    assert_eq!(next.next(), None);
}

#[test]
fn grandchildren_see_all_columns_above_them_and_the_nearest_of_a_name() {
    let mut document = nested(3);
    document["tables"][2]["columns"] = json!([
        { "name": "seen", "value": "concat(:w_name, ' ', :w_size, ' ', :d_name, ' ', :w_id)" },
        { "name": "drawn", "value": "random(1, 1000000)" },
    ]);
    document["tables"][1]["columns"][0]["value"] = json!("100 + :w_id");
    let whole = dataset(&document);
    let seen: Vec<String> = rows_of(&whole, 2);
    let mut expected = HashSet::new();
    for warehouse in rows_of(&whole, 0) {
        let cells: Vec<&str> = warehouse.split('|').collect();
        for district in rows_of(&whole, 1) {
            let of: Vec<&str> = district.split('|').collect();
            if of[0] == format!("10{}", cells[0]) {
                expected.insert(format!("{} {} {} {}", cells[1], cells[2], of[2], of[0]));
            }
        }
    }
    assert!(seen.len() > 10);
    for row in &seen {
        let text = row.split('|').next().unwrap();
        assert!(expected.contains(text), "{text} is in no warehouse");
    }
    // A parent that is not loaded gives its children the same values.
    document["tables"][0]["is_loaded"] = json!(false);
    document["tables"][1]["is_loaded"] = json!(false);
    let part = dataset(&document);
    assert_eq!(rows_of(&part, 0), seen);
    assert_eq!(rows_of(&part, 1), rows_of(&whole, 3));
    let of_part: Vec<String> = (1..=3)
        .flat_map(|number| rows(&part, Part::new(number, 3).unwrap()))
        .filter(|(table, _)| *table == 0)
        .map(|(_, cells)| cells)
        .collect();
    assert_eq!(of_part, seen);
}

#[test]
fn counts_agree_with_the_generated_rows() {
    let document = nested(5);
    let dataset = dataset(&document);
    for of in [1, 3] {
        for number in 1..=of {
            let part = Part::new(number, of).unwrap();
            let made = rows(&dataset, part);
            for table in 0..4 {
                let made = made.iter().filter(|(place, _)| *place == table).count();
                assert_eq!(dataset.count(table, part).unwrap(), made as u64);
            }
        }
    }
}

#[test]
fn a_constant_number_of_children_is_not_counted_row_by_row() {
    let document = json!({ "seed": 1, "file": "f", "variables": { "n": 30 }, "tables": [
        { "name": "a", "rows": "4000000000000000", "columns": [] },
        { "name": "b", "rows": ":n / 3", "per": "a", "columns": [] },
    ] });
    let count = dataset(&document).count(1, Part::WHOLE);
    assert_eq!(count.unwrap(), 40_000_000_000_000_000);
}

#[test]
fn tables_of_one_definition_differ_by_their_instance() {
    let table = |instance: i64| {
        json!({ "name": format!("t{instance}"), "rows": ":instance", "instance": instance, "columns": [
            { "name": "a", "value": ":instance * 10 + :row" },
            { "name": "b", "value": "random(1, 1000000)" },
        ] })
    };
    let dataset = dataset(&json!({ "seed": 1, "file": "f", "tables": [table(1), table(2)] }));
    let first = |table| rows_of(&dataset, table)[0].clone();
    assert!(first(0).starts_with("10|") && first(1).starts_with("20|"));
    assert_ne!(first(0)[3..], first(1)[3..]);
    assert_eq!(rows_of(&dataset, 1).len(), 2);
}

#[test]
fn values_take_the_form_of_their_column() {
    let dataset = dataset(&json!({ "seed": 1, "file": "f", "tables": [
        { "name": "t", "rows": "1", "columns": [
            { "name": "a", "value": "5 / 2.0", "type": "decimal(9,2)" },
            { "name": "b", "value": "10.0 / 2", "type": "int" },
            { "name": "c", "value": ":b > 4", "type": "bool" },
            { "name": "d", "value": "null", "type": "int" },
            { "name": "e", "value": "'x'", "type": "char(4)" },
        ] },
    ] }));
    assert_eq!(rows_of(&dataset, 0), ["2.50|5|1|∅|x"]);
}

#[test]
fn an_error_in_a_table_has_its_place() {
    let error_of = |table: serde_json::Value| {
        let parent = json!({ "name": "orders", "rows": "2", "columns": [{ "name": "o_id", "value": ":row" }] });
        let (variables, tables) = (json!({ "scale": 2 }), [parent, table]);
        error(&json!({ "seed": 1, "file": "w.toml", "variables": variables, "tables": tables }))
    };
    let column = |value: &str| {
        error_of(json!({ "name": "t", "rows": "2", "line": 5, "columns": [
            { "name": "a", "value": "1", "line": 7, "column": 6 },
            { "name": "b", "value": value, "line": 8, "column": 6 },
        ] }))
    };
    let rows =
        |rows: &str| error_of(json!({ "name": "t", "rows": rows, "line": 5, "columns": [] }));
    let no_parent = json!({ "name": "t", "rows": "2", "per": "order", "line": 5, "columns": [] });
    let no_column = json!({ "name": "t", "rows": "2", "per": "orders", "line": 5, "columns": [
        { "name": "x", "value": ":o_it", "line": 6, "column": 6 },
    ] });
    let no_type = json!({ "name": "t", "rows": "2", "columns": [
        { "name": "x", "value": "1", "type": "integer", "line": 6 },
    ] });
    for (found, place, text) in [
        (column(":a + :c"), "w.toml:8:11", "did you mean :a?"),
        (column("1 +"), "w.toml:8:", ""),
        (column(":b"), "w.toml:8:6", ":b"),
        (column("now()"), "w.toml:8:6", "now"),
        (rows("0.5 * :scal"), "w.toml:5:", "did you mean :scale?"),
        (
            rows("-1"),
            "w.toml:5:1",
            "a whole number of 0 or more, found -1",
        ),
        (rows("1 / 0"), "w.toml:5:", "division by zero"),
        (
            error_of(no_parent),
            "w.toml:5:1",
            "declared before it: orders",
        ),
        (error_of(no_column), "w.toml:6:6", "did you mean :o_id?"),
        (error_of(no_type), "w.toml:6:1", "found \"integer\""),
    ] {
        assert!(found.contains(place) && found.contains(text), "{found}");
    }
}

#[test]
fn an_error_in_a_row_has_its_table_and_number() {
    let failing = |rows: &str, value: &str, of: serde_json::Value| {
        let dataset = dataset(&json!({ "seed": 1, "file": "w.toml", "tables": [
            { "name": "p", "rows": "3", "columns": [{ "name": "n", "value": ":row - 1", "line": 3 }] },
            { "name": "t", "rows": rows, "line": 5, "per": "p", "columns": [
                { "name": "x", "value": value, "type": of, "line": 6 },
            ] },
        ] }));
        try_rows(&dataset, Part::WHOLE).unwrap_err().to_string()
    };
    for (found, expected) in [
        (
            failing("2", "10 / :n", json!(null)),
            "w.toml:6: the column x in row 0 of t below row 1 of p: division by zero: 10 / 0",
        ),
        (
            failing("3", "100 * :row", json!("char(2)")),
            "w.toml:6: the column x in row 1 of t below row 0 of p: expected char(2), found 100",
        ),
        (
            failing(":n", "1", json!(null)),
            "w.toml:5: the rows of t for row 0 of p: expected a whole number of 0 or more, found -1",
        ),
    ] {
        assert_eq!(found, expected);
    }
}
