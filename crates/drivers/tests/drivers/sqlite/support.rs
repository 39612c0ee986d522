//! Opens sessions on temporary files, and formats their answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_drivers::sqlite::SqliteConnection;
use assay_drivers::{Answer, Blocking, ErrorClass, Keep, LocalOptions, Request, SystemError};

/// A temporary folder, removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-sqlite-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory takes a folder");
        Self(path)
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("test.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn try_open(file: &Path, options: &[(&str, &str)]) -> Result<SqliteConnection, SystemError> {
    let options: BTreeMap<_, _> = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    SqliteConnection::open(&LocalOptions {
        password: None,
        file: file.to_str(),
        session_statements: &[],
        connect_timeout: std::time::Duration::from_secs(30),
        options: &options,
    })
}

pub fn open(file: &Path) -> SqliteConnection {
    try_open(file, &[("busy_timeout_s", "0.05")]).expect("the file opens")
}

pub fn ask(session: &mut SqliteConnection, request: &Request<'_>) -> Answer {
    let mut answer = Answer::new(Keep::Rows);
    session
        .request(request, &mut answer)
        .expect("the session stays open");
    answer
}

pub fn text(session: &mut SqliteConnection, sql: &str) -> Answer {
    ask(session, &Request::Text(sql))
}

pub fn done(session: &mut SqliteConnection, sql: &str) -> u64 {
    let answer = text(session, sql);
    assert_eq!(answer.error, None, "{sql}");
    answer.affected
}

pub fn class(session: &mut SqliteConnection, sql: &str) -> ErrorClass {
    text(session, sql).error.expect(sql).class
}

/// Rows as the shell prints them: cells separated by bars, NULL as an empty text.
pub fn shown(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.error, None);
    let cell = |cell: &Option<Box<[u8]>>| {
        String::from_utf8_lossy(cell.as_deref().unwrap_or_default()).into_owned()
    };
    answer
        .kept
        .iter()
        .map(|row| row.iter().map(cell).collect::<Vec<_>>().join("|"))
        .collect()
}

pub fn shown_by(session: &mut SqliteConnection, sql: &str) -> Vec<String> {
    shown(&text(session, sql))
}
