//! Takes BibTeX as text; returns its rows, for the other tests: they do not depend on how the bytes are split into reads.

use std::io;
use std::io::{Cursor, Read};
use std::path::PathBuf;

use assay_bibtex::{BibSource, COLUMNS, Encoding, Problems, SourceOptions};
use assay_values::{Cell, Random, Row, RowSource as _, SourceError};

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
    let read = rows_of(&SourceOptions::default(), stream);
    read.expect("the text is valid").0
}

/// The place of a column of bibtab.
pub fn place(column: &str) -> usize {
    let place = COLUMNS.iter().position(|name| *name == column);
    place.expect("a column of bibtab")
}

/// The cell of `column` in the only entry of `text`.
pub fn cell(text: &str, column: &str) -> Option<String> {
    let rows = rows(text);
    let (table, cells) = rows.first().expect("an entry");
    assert_eq!(*table, 0);
    cells[place(column)].clone()
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
    let entries = rows.iter().filter(|(table, _)| *table == 0);
    let place = place("label");
    let labels = entries.map(|(_, cells)| cells[place].as_deref());
    labels
        .map(|label| label.expect("every entry has a key"))
        .collect()
}

pub fn sample(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
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

/// Returns its bytes in pieces with the lengths in `lengths`, repeated, with occasional interruptions.
struct PiecewiseReader {
    bytes: Vec<u8>,
    at: usize,
    lengths: Vec<usize>,
    turn: usize,
}

impl Read for PiecewiseReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        if self.turn.is_multiple_of(7) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = self.lengths[self.turn % self.lengths.len()];
        let count = length.min(into.len()).min(self.bytes.len() - self.at);
        into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Numbers at random, the same every time.
pub fn random() -> impl FnMut() -> usize {
    let mut random = Random::stream(1, 0);
    move || usize::try_from(random.next() >> 33).expect("31 bits")
}

/// Pieces of one byte put a boundary at every offset; the others at some offsets.
fn piece_lengths() -> Vec<Vec<usize>> {
    let mut random = random();
    let mut next = move || random() % 300 + 1;
    let mut all = vec![vec![1], vec![2, 3], vec![usize::MAX]];
    all.extend((0..40).map(|_| (0..5).map(|_| next()).collect()));
    all
}

fn piecewise(bytes: &[u8], lengths: Vec<usize>) -> Box<PiecewiseReader> {
    Box::new(PiecewiseReader {
        bytes: bytes.to_vec(),
        at: 0,
        lengths,
        turn: 0,
    })
}

fn check(bytes: &[u8], options: &SourceOptions) {
    let read = |lengths: Vec<usize>| rows_of(options, piecewise(bytes, lengths));
    let whole = read(vec![usize::MAX]);
    for lengths in piece_lengths() {
        assert_eq!(read(lengths.clone()), whole, "{lengths:?}");
    }
}

#[test]
fn pieces_of_any_length_give_the_same_rows() {
    let bytes = std::fs::read(sample("sample.bib")).expect("the sample is part of the crate");
    check(&bytes, &SourceOptions::default());
    let latin_1 = SourceOptions {
        encoding: Encoding::Latin1,
        ..SourceOptions::default()
    };
    check(&bytes, &latin_1);
}

#[test]
fn pieces_of_any_length_give_the_same_errors() {
    let good = std::fs::read(sample("sample.bib")).expect("the sample is part of the crate");
    let ends: [&[u8]; 6] = [
        b"@Misc{open, note = {x}",
        b"@Misc{bad, note = {\xE9}}",
        b"@Misc{k\0}",
        b"@Misc{nul, note = {x}}\0",
        b"@Misc\n",
        b"@Misc{twice, note = {x}}\n@Misc{twice, note = {x}}",
    ];
    for end in ends {
        let bytes = [&good, end].concat();
        for keep_going in [false, true] {
            let options = SourceOptions {
                keep_going,
                ..SourceOptions::default()
            };
            check(&bytes, &options);
        }
    }
}

#[test]
fn an_entry_longer_than_many_pieces_is_one_entry() {
    let words = "word {x} ".repeat(100_000);
    let long = format!("@Misc{{k,\n note = {{{words}}}\n}}\n@Misc{{l,}}");
    let stream = piecewise(long.as_bytes(), vec![4096]);
    let (rows, _) = rows_of(&SourceOptions::default(), stream).expect("the text is valid");
    assert_eq!(rows.len(), 2);
    let entry = rows[0].1.last().and_then(Option::as_ref);
    assert_eq!(entry.map(String::len), Some(900_022));
}
