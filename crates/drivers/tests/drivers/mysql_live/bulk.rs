//! Bulk loads in both forms.

use assay_drivers::{BulkForm, ErrorClass};
use assay_values::Row;

use crate::mysql_support::client::{Client, options, row};
use crate::mysql_support::server::Server;

const FILE: &str =
    "LOAD DATA LOCAL INFILE 'rows' INTO TABLE loaded CHARACTER SET utf8mb4 (id, word)";
const INSERT: &str = "INSERT INTO loaded (id, word) VALUES";

/// Cells with everything that could end a cell, a row or a literal too early.
const NASTY: [Option<&str>; 12] = [
    None,
    Some(""),
    Some("N"),
    Some("\\N"),
    Some("NULL"),
    Some("tab\there, newline\nhere, return\rhere"),
    Some("a 'quoted' \"word\" `too`"),
    Some("back\\slash\\"),
    Some("zero\0byte and \u{1a}"),
    Some("Ångström ☃ 𝒳 漢字"),
    Some("  blanks  "),
    Some("% _ -- ; # /* */ ?"),
];

fn client(server: &Server) -> Client {
    let mut strict = options("root", None, "own");
    strict.session_statements = vec!["SET SESSION sql_mode = 'STRICT_ALL_TABLES'".to_owned()];
    let mut client = Client::unix(server, strict).expect("root is accepted");
    client.rows("DROP TABLE IF EXISTS loaded");
    client.rows(
        "CREATE TABLE loaded (id INT NOT NULL, word LONGTEXT) ENGINE = InnoDB CHARACTER SET utf8mb4",
    );
    client
}

fn special_rows(count: usize) -> impl Iterator<Item = Row> {
    (0..count).map(|at| row(&[Some(&at.to_string()), NASTY[at % NASTY.len()]]))
}

fn check_loaded_rows(client: &mut Client, count: usize) {
    let all = client.rows("SELECT id, word FROM loaded ORDER BY id");
    assert_eq!(all.kept.len(), count);
    for (at, found) in all.kept.iter().enumerate() {
        assert_eq!(found[0].as_deref(), Some(at.to_string().as_bytes()));
        assert_eq!(
            found[1].as_deref(),
            NASTY[at % NASTY.len()].map(str::as_bytes),
            "row {at}"
        );
    }
}

pub fn a_native_load_stores_the_rows_unchanged(server: &Server) {
    let mut client = client(server);
    let answer = client.load(FILE, BulkForm::Native, special_rows(50_000), None);
    assert_eq!((answer.error, answer.affected), (None, 50_000));
    check_loaded_rows(&mut client, 50_000);
    let none = client.load(FILE, BulkForm::Native, [], None);
    assert_eq!(
        (none.error, none.affected),
        (None, 0),
        "an empty load is not an error"
    );
    client.rows("TRUNCATE TABLE loaded");
    let long = "é\n".repeat(9_000_000); // longer than a packet can be
    let answer = client.load(
        FILE,
        BulkForm::Native,
        [row(&[Some("1"), Some(&long)])],
        None,
    );
    assert_eq!((answer.error, answer.affected), (None, 1));
    let found = client.rows("SELECT word FROM loaded");
    assert!(found.kept[0][0].as_deref() == Some(long.as_bytes()));
}

/// With LOCAL the server only warns, even in strict mode.
pub fn a_row_that_the_server_changed_is_an_error(server: &Server) {
    let mut client = client(server);
    client.rows("ALTER TABLE loaded MODIFY word VARCHAR(4), ADD UNIQUE (id)");
    for (rows, words) in [
        (vec![row(&[Some("1"), Some("short")])], "word"),
        (vec![row(&[Some("one"), None])], "one"),
        (
            vec![row(&[Some("1"), None]), row(&[Some("1"), None])],
            "Duplicate",
        ),
        (
            vec![row(&[Some("1")])],
            "doesn't contain data for all columns",
        ),
    ] {
        client.rows("BEGIN");
        let answer = client.load(FILE, BulkForm::Native, rows, None);
        let error = answer.error.expect("warnings make the load fail");
        let is_of_a_key = words == "Duplicate";
        let class = [ErrorClass::Data, ErrorClass::Constraint][usize::from(is_of_a_key)];
        assert_eq!(error.class, class, "{error}");
        assert!(error.message.contains(words), "{error}");
        assert!(error.message.contains("warnings: 1;"), "{error}");
        client.rows("ROLLBACK");
    }
    assert_eq!(client.cell("SELECT COUNT(*) FROM loaded"), "0");
}

pub fn an_aborted_load_leaves_no_rows(server: &Server) {
    for (form, text) in [(BulkForm::Native, FILE), (BulkForm::MultiRow, INSERT)] {
        let mut client = client(server);
        client.rows("BEGIN");
        let answer = client.load(
            text,
            form,
            special_rows(30_000),
            Some("line 7 of x.bib is damaged"),
        );
        let error = answer.error.expect("the load was aborted");
        assert!(error.message.contains("line 7 of x.bib"), "{error}");
        client.rows("ROLLBACK");
        assert_eq!(client.cell("SELECT COUNT(*) FROM loaded"), "0", "{form:?}");
    }
}

pub fn statements_that_are_not_loads_are_refused(server: &Server) {
    let mut client = client(server);
    let answer = client.load("SELECT 1 INTO @x", BulkForm::Native, special_rows(1), None);
    assert!(
        answer
            .error
            .expect("the statement takes no rows")
            .message
            .contains("LOAD DATA LOCAL INFILE")
    );
    let nowhere = FILE.replace("loaded", "nowhere");
    let error = client
        .load(&nowhere, BulkForm::Native, special_rows(1), None)
        .error
        .expect("there is no such table");
    assert_eq!(error.class, ErrorClass::UnknownObject);
    let error = client.error(FILE);
    assert_eq!(
        error.class,
        ErrorClass::Permission,
        "only a load may send a file: {error}"
    );
    client.rows("SET GLOBAL local_infile = 0");
    let error = client
        .load(FILE, BulkForm::Native, special_rows(1), None)
        .error
        .expect("local_infile is off");
    client.rows("SET GLOBAL local_infile = 1");
    assert_eq!(error.class, ErrorClass::Permission, "{error}");
    assert_eq!(client.cell("SELECT COUNT(*) FROM loaded"), "0");
}

pub fn multi_row_inserts_store_the_rows_unchanged(server: &Server) {
    let mut client = client(server);
    let answer = client.load(INSERT, BulkForm::MultiRow, special_rows(50_000), None);
    assert_eq!((answer.error, answer.affected), (None, 50_000));
    check_loaded_rows(&mut client, 50_000);
    let none = client.load(INSERT, BulkForm::MultiRow, [], None);
    assert_eq!((none.error, none.affected), (None, 0));

    client.rows("ALTER TABLE loaded ADD UNIQUE (id); TRUNCATE TABLE loaded; BEGIN");
    let twice = special_rows(20_000).chain(special_rows(20_000));
    let error = client
        .load(INSERT, BulkForm::MultiRow, twice, None)
        .error
        .expect("twice");
    assert_eq!(error.class, ErrorClass::Constraint, "{error}");
    client.rows("ROLLBACK");
    let long = "'".repeat(17_000_000); // a statement of several packets
    let rows = [row(&[Some("1"), Some(&long)]), row(&[Some("2"), None])];
    let answer = client.load(INSERT, BulkForm::MultiRow, rows, None);
    assert_eq!((answer.error, answer.affected), (None, 2));
    assert_eq!(
        client.cell("SELECT SUM(LENGTH(word)) FROM loaded"),
        "17000000"
    );
    client.rows("DROP TABLE loaded");
}
