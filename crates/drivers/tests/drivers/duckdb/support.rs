//! Opens sessions on temporary files, and formats their answers.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use assay_drivers::duckdb::DuckdbConnection;
use assay_drivers::{
    Answer, Blocking as _, Keep, LocalOptions, Request, SystemError, TransactionStatus,
};
use assay_values::Value;

/// A temporary folder, removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    /// `None`, and why, where there is no library to test.
    pub fn new(test: &str) -> Option<Self> {
        if let Err(reason) = library() {
            // Directly, because the test harness hides the output of passing tests.
            writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error is open");
            return None;
        }
        let path = std::env::temp_dir().join(format!("assay-duckdb-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory takes a folder");
        Some(Self(path))
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("test.duckdb")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
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
    let mut options: BTreeMap<_, _> = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let library = library().expect("a folder was made").to_owned();
    options.entry("library".to_owned()).or_insert(library);
    let statements: Vec<String> = statements.iter().map(|&one| one.to_owned()).collect();
    DuckdbConnection::open(&LocalOptions {
        password: None,
        file: file.to_str(),
        session_statements: &statements,
        connect_timeout: std::time::Duration::from_secs(30),
        options: &options,
    })
}

pub fn open(file: &Path) -> DuckdbConnection {
    try_open(file, &[], &[]).expect("the file opens")
}

pub fn ask(session: &mut DuckdbConnection, request: &Request<'_>) -> Answer {
    let mut answer = Answer::new(Keep::Rows);
    session
        .request(request, &mut answer)
        .expect("the session stays open");
    answer
}

pub fn text(session: &mut DuckdbConnection, sql: &str) -> Answer {
    ask(session, &Request::Text(sql))
}

/// Executes a statement without an error; returns how many rows it changed.
pub fn done(session: &mut DuckdbConnection, sql: &str) -> u64 {
    let answer = text(session, sql);
    assert_eq!(answer.error, None, "{sql}");
    answer.affected
}

/// The error of a statement, and the state of the transaction after it.
pub fn refused(session: &mut DuckdbConnection, sql: &str) -> (SystemError, TransactionStatus) {
    let answer = text(session, sql);
    (answer.error.expect(sql), answer.transaction)
}

pub fn prepare(session: &mut DuckdbConnection, id: u32, marked: &str) {
    let pieces = crate::pieces::pieces(marked);
    let answer = ask(
        session,
        &Request::Prepare {
            id,
            pieces: &pieces,
        },
    );
    assert_eq!(answer.error, None, "{marked}");
}

pub fn execute(session: &mut DuckdbConnection, id: u32, parameters: &[Value]) -> Answer {
    ask(session, &Request::Execute { id, parameters })
}

/// The cells of the rows, separated by bars.
pub fn rows(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.error, None);
    let cell = |cell: &Option<Box<[u8]>>| match cell {
        Some(text) => String::from_utf8_lossy(text).into_owned(),
        None => "NULL".to_owned(),
    };
    let row = |row: &Vec<_>| row.iter().map(cell).collect::<Vec<_>>().join("|");
    answer.kept.iter().map(row).collect()
}

pub fn shown(session: &mut DuckdbConnection, sql: &str) -> Vec<String> {
    rows(&text(session, sql))
}
