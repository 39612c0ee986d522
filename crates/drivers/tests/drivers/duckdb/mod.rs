//! The DuckDB driver on the real library, where `ASSAY_TEST_DUCKDB` names it: a shared library, or the
//! extension module of DuckDB's Python package.

mod errors;
mod values;

use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use assay_drivers::duckdb::DuckdbConnection;
use assay_drivers::{Answer, Blocking as _, SystemError, TransactionStatus};

use crate::support::{self, Folder, done, local, named, text};
pub use crate::support::{execute, prepare};

/// A folder for a test; `None`, and why, where there is no library to test.
pub fn folder(test: &str) -> Option<Folder> {
    if let Err(reason) = library() {
        // Directly, because the test harness hides the output of passing tests.
        writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error is open");
        return None;
    }
    Some(Folder::new(&format!("duckdb-{test}")))
}

/// The library to test. An extension module of Python finds the functions of Python in the process that loads
/// it: here they are loaded first.
pub fn library() -> Result<&'static str, String> {
    static FOUND: OnceLock<Result<String, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let named = std::env::var("ASSAY_TEST_DUCKDB").unwrap_or_default();
        if named.is_empty() {
            return Err("ASSAY_TEST_DUCKDB names no library of DuckDB".to_owned());
        }
        if let Some(python) = python_of(&named) {
            let flags = libloading::os::unix::RTLD_LAZY | libloading::os::unix::RTLD_GLOBAL;
            // SAFETY: the interpreter's library has no initializers that do anything.
            let loaded = unsafe { libloading::os::unix::Library::open(Some(&python), flags) };
            std::mem::forget(loaded.map_err(|error| format!("{python}: {error}"))?);
        }
        Ok(named)
    });
    found.as_deref().map_err(Clone::clone)
}

/// `libpython3.11.so.1.0` for `_duckdb.cpython-311-x86_64-linux-gnu.so`.
fn python_of(library: &str) -> Option<String> {
    let (_, tag) = library.rsplit_once(".cpython-")?;
    let version = tag.split('-').next()?;
    let (major, minor) = version.split_at_checked(1)?;
    Some(format!("libpython{major}.{minor}.so.1.0"))
}

pub fn try_open(
    file: &Path,
    options: &[(&str, &str)],
    statements: &[&str],
) -> Result<DuckdbConnection, SystemError> {
    let mut options = named(options);
    let library = library().expect("a folder was made").to_owned();
    options.entry("library".to_owned()).or_insert(library);
    let statements: Vec<String> = statements.iter().map(|&one| one.to_owned()).collect();
    DuckdbConnection::open(&local(file.to_str(), &options, &statements))
}

pub fn open(file: &Path) -> DuckdbConnection {
    try_open(file, &[], &[]).expect("the file opens")
}

/// The error of a statement, and the state of the transaction after it.
pub fn refused(session: &mut DuckdbConnection, sql: &str) -> (SystemError, TransactionStatus) {
    let answer = text(session, sql);
    (answer.error.expect(sql), answer.transaction)
}

pub fn rows(answer: &Answer) -> Vec<String> {
    support::rows(answer, "NULL")
}

pub fn shown(session: &mut DuckdbConnection, sql: &str) -> Vec<String> {
    rows(&text(session, sql))
}

#[test]
fn sessions_see_each_others_commits_and_the_file_keeps_them() {
    let Some(folder) = folder("share") else {
        return;
    };
    let file = folder.file();
    let (mut one, mut other) = (open(&file), open(&file));
    assert!(one.server_version().starts_with("DuckDB "));
    done(&mut one, "CREATE TABLE t AS SELECT 42 AS n");
    assert_eq!(shown(&mut other, "SELECT n FROM t"), ["42"]);
    let linked = folder.0.join("linked");
    std::os::unix::fs::symlink(&folder.0, &linked).expect("a link can be made");
    let mut third = open(&linked.join("test.db"));
    assert_eq!(shown(&mut third, "SELECT n FROM t"), ["42"]);
    drop((one, other, third));
    assert!(!file.with_extension("db.wal").exists(), "closed in order");
    assert_eq!(shown(&mut open(&file), "SELECT n FROM t"), ["42"]);
}

#[test]
fn settings_are_those_of_the_database_and_sessions_cannot_differ() {
    let Some(folder) = folder("settings") else {
        return;
    };
    let asked = [("threads", "1"), ("memory_limit", "100MB")];
    let statements = ["SET streaming_buffer_size = '2MB'"];
    let mut session = try_open(&folder.file(), &asked, &statements).expect("the file opens");
    let found = shown(
        &mut session,
        "SELECT current_setting('threads'), current_setting('memory_limit'), \
         current_setting('streaming_buffer_size')",
    );
    assert_eq!(found, ["1|95.3 MiB|1.9 MiB"]);
    let Err(error) = try_open(&folder.file(), &[("threads", "2")], &[]) else {
        panic!("two sessions have different settings");
    };
    assert!(error.message.contains("other settings"), "{error}");
}
