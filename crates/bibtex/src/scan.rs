//! Takes the names of files; gives what they hold and what is wrong with them, and loads nothing.

use std::ops::ControlFlow;
use std::time::UNIX_EPOCH;

use assay_values::SourceError;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::contents::Contents;
use crate::input::{Encoding, Input, base_name};
use crate::item::Kind;
use crate::problems::Problems;
use crate::reader::{Reader, Reading};

/// Which files to scan, and how to read them.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScanOptions {
    /// Paths, in the order in which their rows are wanted.
    pub files: Vec<String>,
    /// How the bytes of the files are to be read.
    pub encoding: Encoding,
    /// Skip bad entries and list them, instead of ending at the first.
    pub keep_going: bool,
    /// Take a macro that no file defines for an error and not for a warning.
    pub strict: bool,
}

/// What a set of files holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Scan {
    /// The files in the order in which they were given.
    pub files: Vec<ScannedFile>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Entries of all files, those left out aside.
    pub entries: u64,
    /// Definitions as they stand in the files; `strtab` holds equal ones once.
    pub strings: u64,
    /// `@Preamble` items of all files.
    pub preambles: u64,
    /// What is wrong with the files.
    pub problems: Problems,
    /// 128 bits in hexadecimal over the base names and contents of all files, in their order.
    pub fingerprint: String,
}

/// What one file holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ScannedFile {
    /// The path, as it was given.
    pub path: String,
    /// What column `filename` holds.
    pub name: String,
    /// Bytes of the file, as it is stored.
    pub bytes: u64,
    /// Entries that can be used.
    pub entries: u64,
    /// `@String` definitions.
    pub strings: u64,
    /// `@Preamble` items.
    pub preambles: u64,
    /// Time of the last change before the file was read, in nanoseconds since 1970.
    pub mtime_ns: u64,
    /// XXH3, 128 bits in hexadecimal, of the bytes of the file.
    pub fingerprint: String,
}

/// Bytes between two calls of `progress`.
const PROGRESS_BYTES: u64 = 1 << 20;

/// Reads all files once and keeps no row. `progress` receives the bytes read and the bytes to read.
///
/// # Errors
/// The first error of the files, unless they are to be kept going; an error where no file has an
/// entry; and `interrupted` where `progress` breaks.
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
        .ended()
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
        problems: reader.problems().clone(),
        fingerprint: format!("{:032x}", digest.digest128()),
        files,
    })
}

/// The file system's facts of a file; zeros where there are none, since opening it reports why.
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
