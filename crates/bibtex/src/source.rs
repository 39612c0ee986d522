//! Takes files; returns the rows of the three tables, in order, as a [`RowSource`].

use std::io::Read;

use assay_values::{Row, RowSource, SourceError};
use serde::{Deserialize, Serialize};

use crate::input::{Encoding, Input};
use crate::item::Kind;
use crate::names::Names;
use crate::problems::Problems;
use crate::reader::{Reader, Reading};
use crate::replicate::{Replicas, Replicator};
use crate::row::RowWriter;
use crate::row::Strings;

/// Indexes of the tables in [`BibSource`].
pub(crate) const BIBTAB: usize = 0;
pub(crate) const STRTAB: usize = 1;
pub(crate) const NAMTAB: usize = 2;

/// Which files to read, how, and how often.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceOptions {
    /// Paths, in the order in which their rows are returned.
    pub files: Vec<String>,
    /// Base names of the files whose `bibtab` rows are returned; all if absent. `strtab` and
    /// `namtab` always have the rows of all files, so that an update can replace these tables.
    pub only: Option<Vec<String>>,
    /// The character encoding of the files.
    pub encoding: Encoding,
    /// Whether to skip and list bad entries, instead of stopping at the first.
    pub keep_going: bool,
    /// Whether a macro that no file defines is an error instead of a warning.
    pub strict: bool,
    /// How to enlarge the bibliography; if absent, the original data.
    pub replicas: Option<Replicas>,
}

impl SourceOptions {
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            encoding: self.encoding,
            keep_going: self.keep_going,
            strict: self.strict,
            with_digest: false,
        }
    }
}

/// The rows of a bibliography: table 0 is `bibtab`, 1 `strtab`, 2 `namtab`.
///
/// Replicas follow each other, each in the order of the files, as if each were a separate
/// bibliography; the files are read once for each replica.
pub struct BibSource {
    options: SourceOptions,
    reader: Reader,
    /// The current replica, from 1.
    replica: u32,
    replicator: Replicator,
    bytes_of_ended_replicas: u64,
    problems: Option<Problems>,
    writer: RowWriter,
    names: Names,
    strings: Strings,
    stage: Stage,
}

enum Stage {
    Entries,
    Strings {
        next: usize,
    },
    Names {
        sorted: std::vec::IntoIter<(Box<[u8]>, u64)>,
    },
}

impl BibSource {
    /// # Errors
    /// If no file is named, or the options contradict each other.
    pub fn new(options: &SourceOptions) -> Result<Self, SourceError> {
        Self::over(options, Input::files(&options.files), options.reading())
    }

    /// Reads one stream, called `name` in messages, instead of files.
    ///
    /// # Errors
    /// As [`BibSource::new`]; also for more than one replica, because a stream cannot be read twice.
    pub fn from_reader(
        options: &SourceOptions,
        name: &str,
        stream: Box<dyn Read + Send>,
    ) -> Result<Self, SourceError> {
        let input = Input::Stream {
            name: name.to_owned(),
            stream: Some(stream),
        };
        Self::over(options, vec![input], options.reading())
    }

    pub(crate) fn over(
        options: &SourceOptions,
        inputs: Vec<Input>,
        reading: Reading,
    ) -> Result<Self, SourceError> {
        let replicator = Replicator::new(options.replicas.as_ref())?;
        Ok(Self {
            options: options.clone(),
            reader: Reader::new(inputs, reading)?,
            replica: 1,
            replicator,
            bytes_of_ended_replicas: 0,
            problems: None,
            writer: RowWriter::default(),
            names: Names::default(),
            strings: Strings::default(),
            stage: Stage::Entries,
        })
    }

    /// The errors and warnings that did not stop the reading; complete after the last row of `bibtab`.
    pub fn problems(&self) -> &Problems {
        self.problems.as_ref().unwrap_or(&self.reader.problems)
    }

    fn next_entry(&mut self, row: &mut Row) -> Result<bool, SourceError> {
        loop {
            match self.reader.advance()? {
                Some(Kind::Entry) => {
                    let file_name = self.reader.file_name();
                    let written = self.reader.written();
                    let Some(edited) = self.replicator.edit(written, file_name, self.replica)
                    else {
                        continue;
                    };
                    self.writer
                        .write(edited.written, edited.file_name, row, &mut self.names);
                    let is_wanted = self
                        .options
                        .only
                        .as_ref()
                        .is_none_or(|only| only.iter().any(|name| name == file_name));
                    if is_wanted {
                        return Ok(true);
                    }
                }
                Some(Kind::String) if self.replica == 1 => {
                    let written = self.reader.written();
                    self.strings.add(written.text, written.entry);
                }
                Some(_) => {}
                None if self.replica < self.replicator.count => self.next_replica()?,
                None => return Ok(false),
            }
        }
    }

    fn next_replica(&mut self) -> Result<(), SourceError> {
        self.bytes_of_ended_replicas += self.reader.bytes_read();
        let next = Reader::new(Input::files(&self.options.files), self.options.reading())?;
        let ended = std::mem::replace(&mut self.reader, next);
        self.problems.get_or_insert_with(|| ended.problems.clone());
        self.replica += 1;
        Ok(())
    }
}

impl RowSource for BibSource {
    fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError> {
        loop {
            match &mut self.stage {
                Stage::Entries => {
                    if self.next_entry(row)? {
                        return Ok(Some(BIBTAB));
                    }
                    self.stage = Stage::Strings { next: 0 };
                }
                Stage::Strings { next } => {
                    if *next < self.strings.len() {
                        self.strings.write(*next, row);
                        *next += 1;
                        return Ok(Some(STRTAB));
                    }
                    let sorted = std::mem::take(&mut self.names).into_sorted().into_iter();
                    self.stage = Stage::Names { sorted };
                }
                Stage::Names { sorted } => {
                    let Some((name, count)) = sorted.next() else {
                        return Ok(None);
                    };
                    row.clear();
                    row.push_bytes(&name);
                    row.push_int(i64::try_from(count).unwrap_or(i64::MAX));
                    return Ok(Some(NAMTAB));
                }
            }
        }
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_of_ended_replicas + self.reader.bytes_read()
    }
}
