//! Takes BibTeX as text; returns its rows, for the other tests.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use assay_bibtex::{BibSource, COLUMNS, Problems, SourceOptions};
use assay_values::{Cell, Row, RowSource as _, SourceError};

/// One row: its table, and its cells.
pub type Cells = (usize, Vec<Option<String>>);

pub fn rows_of(
    options: &SourceOptions,
    stream: Box<dyn Read + Send>,
) -> Result<(Vec<Cells>, Problems), SourceError> {
    rows_from(BibSource::from_reader(options, "test.bib", stream)?)
}

pub fn rows_from(mut source: BibSource) -> Result<(Vec<Cells>, Problems), SourceError> {
    let mut rows = Vec::new();
    let mut row = Row::new();
    while let Some(table) = source.next_row(&mut row)? {
        let mut scratch = Vec::new();
        let mut text = |cell: Cell<'_>| {
            let text = cell.text_in(&mut scratch)?.to_vec();
            Some(String::from_utf8(text).expect("rows are UTF-8"))
        };
        rows.push((table, row.cells().map(&mut text).collect()));
    }
    Ok((rows, source.problems().clone()))
}

/// All rows of a valid text.
pub fn rows(text: &str) -> Vec<Cells> {
    let stream = Box::new(Cursor::new(text.as_bytes().to_vec()));
    rows_of(&SourceOptions::default(), stream)
        .expect("the text is valid")
        .0
}

/// The cell of `column` in the only entry of `text`.
pub fn cell(text: &str, column: &str) -> Option<String> {
    let index = COLUMNS
        .iter()
        .position(|name| *name == column)
        .expect("a column of bibtab");
    let rows = rows(text);
    let (table, cells) = rows.first().expect("an entry");
    assert_eq!(*table, 0);
    cells[index].clone()
}

/// The error that reading `text` ends with.
pub fn error(text: &[u8]) -> SourceError {
    let stream = Box::new(Cursor::new(text.to_vec()));
    rows_of(&SourceOptions::default(), stream).expect_err("the text is bad")
}

/// The rows and problems of a text with errors.
pub fn rows_kept_going(text: &[u8]) -> (Vec<Cells>, Problems) {
    let options = SourceOptions {
        keep_going: true,
        ..SourceOptions::default()
    };
    rows_of(&options, Box::new(Cursor::new(text.to_vec()))).expect("bad entries are skipped")
}

/// The keys of the entries among `rows`.
pub fn keys(rows: &[Cells]) -> Vec<&str> {
    let label = COLUMNS
        .iter()
        .position(|name| *name == "label")
        .expect("a column of bibtab");
    let entries = rows.iter().filter(|(table, _)| *table == 0);
    entries
        .map(|(_, cells)| cells[label].as_deref().expect("every entry has a key"))
        .collect()
}

pub fn sample(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "data", name]
        .iter()
        .collect();
    path.to_string_lossy().into_owned()
}

/// A temporary folder for one test, removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-bibtex-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Self(path)
    }

    pub fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("the temporary folder can be written");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
