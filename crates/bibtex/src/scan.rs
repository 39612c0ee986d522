//! Takes the names of files; returns their contents in numbers, errors and warnings, without making rows.

use std::ops::ControlFlow;
use std::time::UNIX_EPOCH;

use assay_values::SourceError;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::input::{Encoding, Input, base_name};
use crate::item::Kind;
use crate::problems::Contents;
use crate::problems::Problems;
use crate::reader::{Reader, Reading};

/// Which files to scan, and how to read them.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScanOptions {
    /// Paths, in the order in which they are read.
    pub files: Vec<String>,
    /// The character encoding of the files.
    pub encoding: Encoding,
    /// Whether to skip and list bad entries, instead of stopping at the first.
    pub keep_going: bool,
    /// Whether a macro that no file defines is an error instead of a warning.
    pub strict: bool,
}

/// The contents of a set of files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Scan {
    /// The files in the order in which they were given.
    pub files: Vec<ScannedFile>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Entries of all files, without those left out.
    pub entries: u64,
    /// `@String` definitions of all files; `strtab` contains equal definitions once.
    pub strings: u64,
    /// `@Preamble` items of all files.
    pub preambles: u64,
    /// The errors and warnings of the files.
    pub problems: Problems,
    /// A 128-bit hash, in hexadecimal, of the base names and contents of all files, in order.
    pub fingerprint: String,
}

/// The contents of one file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ScannedFile {
    /// The path, as it was given.
    pub path: String,
    /// The value of column `filename`.
    pub name: String,
    /// Size of the file.
    pub bytes: u64,
    /// Valid entries.
    pub entries: u64,
    /// `@String` definitions.
    pub strings: u64,
    /// `@Preamble` items.
    pub preambles: u64,
    /// Time of the last change before the file was read, in nanoseconds since 1970.
    pub mtime_ns: u64,
    /// The 128-bit XXH3 hash of the file's bytes, in hexadecimal.
    pub fingerprint: String,
}

/// Bytes between two calls of `progress`.
const PROGRESS_BYTES: u64 = 1 << 20;

/// Reads all files once without making rows. `progress` receives the bytes read and the bytes to read.
///
/// # Errors
/// The first error of the files, unless bad entries are skipped; an error if no file has an
/// entry; and `interrupted` if `progress` breaks.
pub fn scan(
    options: &ScanOptions,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Scan, SourceError> {
    let facts: Vec<Facts> = options.files.iter().map(|path| Facts::of(path)).collect();
    let bytes_total = facts.iter().map(|facts| facts.bytes).sum();
    let reading = Reading {
        encoding: options.encoding,
        keep_going: options.keep_going,
        strict: options.strict,
        with_digest: true,
    };
    let mut reader = Reader::new(Input::files(&options.files), reading)?;
    let mut reported = 0;
    while let Some(kind) = reader.advance()? {
        if kind == Kind::Entry && reader.bytes_read() >= reported + PROGRESS_BYTES {
            reported = reader.bytes_read();
            if progress(reported, bytes_total).is_break() {
                return Err(interrupted(options));
            }
        }
    }
    let files: Vec<ScannedFile> = reader
        .ended
        .iter()
        .map(|ended| scanned(&reader, ended, &facts))
        .collect();
    let mut digest = Xxh3::new();
    for file in &files {
        digest.update(format!("{}\0{}\n", file.name, file.fingerprint).as_bytes());
    }
    let sum = |count: fn(&ScannedFile) -> u64| files.iter().map(count).sum();
    Ok(Scan {
        bytes: sum(|file| file.bytes),
        entries: sum(|file| file.entries),
        strings: sum(|file| file.strings),
        preambles: sum(|file| file.preambles),
        problems: reader.problems.clone(),
        fingerprint: format!("{:032x}", digest.digest128()),
        files,
    })
}

/// Size and modification time of a file; zeros if they are not available, since opening the file reports why.
struct Facts {
    bytes: u64,
    mtime_ns: u64,
}

impl Facts {
    fn of(path: &str) -> Self {
        let metadata = std::fs::metadata(path).ok();
        let modified = metadata
            .as_ref()
            .and_then(|metadata| metadata.modified().ok());
        let since_1970 = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            bytes: metadata.map_or(0, |metadata| metadata.len()),
            mtime_ns: since_1970.map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)),
        }
    }
}

fn scanned(reader: &Reader, ended: &Contents, facts: &[Facts]) -> ScannedFile {
    let path = reader.file_path(ended.file);
    ScannedFile {
        path: path.to_owned(),
        name: base_name(path).to_owned(),
        bytes: ended.bytes,
        entries: ended.entries,
        strings: ended.strings,
        preambles: ended.preambles,
        mtime_ns: facts[ended.file].mtime_ns,
        fingerprint: format!("{:032x}", ended.digest),
    }
}

fn interrupted(options: &ScanOptions) -> SourceError {
    SourceError {
        message: "interrupted".to_owned(),
        file: options.files[0].clone(),
        line: 0,
        column: 0,
        hint: None,
    }
}
