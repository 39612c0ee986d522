//! Tests the driver with the library, on real files.

mod errors;
mod values;

use std::path::Path;

use assay_drivers::sqlite::SqliteConnection;
use assay_drivers::{Answer, Blocking as _, ErrorClass, SystemError};

use crate::support::{Folder, done, local, named, rows, text};

pub fn try_open(file: &Path, options: &[(&str, &str)]) -> Result<SqliteConnection, SystemError> {
    SqliteConnection::open(&local(file.to_str(), &named(options), &[]))
}

pub fn open(file: &Path) -> SqliteConnection {
    try_open(file, &[("busy_timeout_s", "0.05")]).expect("the file opens")
}

pub fn class(session: &mut SqliteConnection, sql: &str) -> ErrorClass {
    text(session, sql).error.expect(sql).class
}

/// Rows as the shell prints them: NULL as an empty text.
pub fn shown(answer: &Answer) -> Vec<String> {
    rows(answer, "")
}

pub fn shown_by(session: &mut SqliteConnection, sql: &str) -> Vec<String> {
    shown(&text(session, sql))
}

#[test]
fn a_confined_session_reaches_no_other_file() {
    let folder = Folder::new("sqlite-confined");
    let file = folder.file();
    let other = folder.0.join("other.db");
    let mut session = try_open(&file, &[("other_files", "refused")]).expect("the file opens");
    done(&mut session, "CREATE TABLE t (a)");
    done(&mut session, "INSERT INTO t VALUES (1)");
    let name = other.display();
    for sql in [
        format!("ATTACH '{name}' AS other"),
        format!("ATTACH 'file:{name}?mode=rwc' AS other"),
        format!("ATTACH '{name}' || '' AS other"),
        format!("VACUUM INTO '{name}'"),
        format!("PRAGMA temp_store_directory = '{}'", folder.0.display()),
        format!("PRAGMA TEMP_STORE_DIRECTORY = '{}'", folder.0.display()),
    ] {
        assert_eq!(class(&mut session, &sql), ErrorClass::Permission, "{sql}");
    }
    class(&mut session, &format!("SELECT load_extension('{name}')"));
    assert!(!other.exists(), "a statement made {name}");

    // What stays in its own file goes on.
    done(&mut session, "VACUUM");
    done(&mut session, "CREATE TEMP TABLE u (a)");
    assert_eq!(shown_by(&mut session, "SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn a_free_session_reaches_other_files() {
    let folder = Folder::new("sqlite-free");
    let other = folder.0.join("other.db");
    let mut session = try_open(&folder.file(), &[]).expect("the file opens");
    done(
        &mut session,
        &format!("ATTACH '{}' AS other", other.display()),
    );
    done(&mut session, "CREATE TABLE other.t (a)");
    assert!(other.exists());
}

#[test]
fn a_page_is_a_miss_once_and_then_a_hit() {
    let folder = Folder::new("sqlite-counters");
    let mut writer = open(&folder.file());
    done(&mut writer, "CREATE TABLE t (a)");
    let sql = "INSERT INTO t SELECT zeroblob(3000) FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9]')";
    done(&mut writer, sql);

    let mut reader = open(&folder.file());
    let counters = |session: &assay_drivers::sqlite::SqliteConnection| {
        let [("buffer_hits", hits), ("buffer_misses", misses)] = session.counters()[..] else {
            panic!("expected hits and misses, found {:?}", session.counters());
        };
        (hits, misses)
    };
    let (_, before) = counters(&reader);
    text(&mut reader, "SELECT sum(length(a)) FROM t");
    let (hits, misses) = counters(&reader);
    assert!(misses >= before + 9, "each row has a page of its own");
    text(&mut reader, "SELECT sum(length(a)) FROM t");
    let (hits_again, misses_again) = counters(&reader);
    assert_eq!(misses_again, misses);
    assert!(hits_again >= hits + 9);
}
