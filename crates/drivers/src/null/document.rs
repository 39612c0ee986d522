//! Takes the words of a statement that is a JSON document; gives what it asks of a system that does nothing.
//! Its first name says what, and the value of that name where: `{"count": "accounts"}`.

use super::selection::unnamed;
use super::statement::{Change, Meaning, Statement};
use super::words::{Words, plain};

/// What stands behind the document's first brace.
pub(super) fn document(rest: Words<'_>) -> Statement {
    let (does, table) = first_pair(rest);
    let meaning = match does.as_str() {
        "count" => return Meaning::Count(table).with(vec!["count".into()]),
        "find" => return Meaning::Read.with(unnamed(1)),
        "create" => Meaning::Create(table),
        "drop" => Meaning::Drop(table),
        "insert" => Meaning::Insert { table, rows: 1 },
        "update" => Meaning::Change(Change::Update),
        "delete" => Meaning::Change(Change::Delete),
        _ => Meaning::Other,
    };
    meaning.bare()
}

/// The table of `{"load": table}`, behind which rows follow.
pub(super) fn table_of_load(rest: Words<'_>) -> Option<String> {
    let (does, table) = first_pair(rest);
    (does == "load").then_some(table)
}

fn first_pair(mut rest: Words<'_>) -> (String, String) {
    let name = rest.next().map(plain).unwrap_or_default();
    let value = rest.find(|&word| word != ":");
    (name, value.map(plain).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexis::Literals;

    #[test]
    fn the_first_name_tells_what_is_meant() {
        let of = |text: &str| Statement::of(text, Literals::Doubled).meaning;
        assert_eq!(of("{\"count\": \"T\"}"), Meaning::Count("t".into()));
        assert_eq!(of(" { \"create\" : \"t\"}"), Meaning::Create("t".into()));
        assert_eq!(of("{\"find\": \"t\", \"id\": ?}"), Meaning::Read);
        let insert = Meaning::Insert {
            table: "t".into(),
            rows: 1,
        };
        assert_eq!(of("{\"insert\":\"t\",\"count\":\"x\"}"), insert);
        assert_eq!(of("{\"update\": \"t\"}"), Meaning::Change(Change::Update));
        assert_eq!(of("{}"), Meaning::Other);
        assert_eq!(of("{"), Meaning::Other);
    }
}
