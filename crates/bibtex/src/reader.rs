//! Takes files; returns their entries and definitions in order, and collects errors and warnings.

use std::path::PathBuf;

use assay_values::SourceError;

use crate::columns::Written;
use crate::cursor::Failure;
use crate::examine::{Examiner, Rejection};
use crate::input::Chunks;
use crate::input::{Encoding, Input, base_name};
use crate::item::Kind;
use crate::problems::{Contents, nothing_found};
use crate::problems::{Flaw, Place, Problems, Severity, Skipped, counted};
use crate::splitter::Splitter;

/// How files are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) encoding: Encoding,
    /// Whether bad entries are skipped and listed instead of ending the reading.
    pub(crate) keep_going: bool,
    /// Whether macros that no file defines are errors instead of warnings.
    pub(crate) strict: bool,
    pub(crate) with_digest: bool,
}

pub(crate) struct Reader {
    inputs: Vec<Input>,
    reading: Reading,
    next_input: usize,
    open: Option<Open>,
    pub(crate) ended: Vec<Contents>,
    examiner: Examiner,
    pub(crate) problems: Problems,
    /// How much was left out of the files read to their end.
    skipped: Skipped,
    is_finished: bool,
}

/// The current file.
struct Open {
    splitter: Splitter,
    file_name: String,
    contents: Contents,
    /// Errors of the files before this one.
    errors_before: u64,
}

impl Reader {
    pub(crate) fn new(inputs: Vec<Input>, reading: Reading) -> Result<Self, SourceError> {
        if inputs.is_empty() {
            let flaw = Flaw {
                place: Place::default(),
                message: "expected at least one BibTeX file, found none".to_owned(),
                hint: Some("name the files to read".to_owned()),
            };
            return Err(flaw.in_file("(no file)"));
        }
        let mut reader = Self {
            inputs,
            reading,
            next_input: 0,
            open: None,
            ended: Vec::new(),
            examiner: Examiner::default(),
            problems: Problems::default(),
            skipped: Skipped::default(),
            is_finished: false,
        };
        let paths: Vec<&str> = reader.inputs.iter().map(Input::name).collect();
        for warning in equal_names(&paths) {
            reader.problems.warning(warning);
        }
        Ok(reader)
    }

    /// Finds the next valid item; `None` at the end of the last file.
    pub(crate) fn advance(&mut self) -> Result<Option<Kind>, SourceError> {
        loop {
            let file = self.next_input.wrapping_sub(1);
            let Some(open) = &mut self.open else {
                if self.open_next()? {
                    continue;
                }
                self.finish()?;
                return Ok(None);
            };
            let found = open.splitter.advance();
            self.problems.skipped(self.skipped, open.splitter.skipped());
            match found {
                Ok(Some(item)) => match self.examiner.examine(&open.splitter, file) {
                    Ok(warnings) => {
                        open.contents.count(item.kind);
                        for warning in warnings {
                            self.problems
                                .warning(warning.in_file(self.inputs[file].name()));
                        }
                        return Ok(Some(item.kind));
                    }
                    Err(Rejection::Unreadable(flaw)) => {
                        open.splitter.reject();
                        self.fail(file, flaw)?;
                    }
                    Err(Rejection::Duplicate(flaw)) => {
                        open.splitter.leave_out();
                        self.fail(file, flaw)?;
                    }
                },
                Ok(None) => self.end_file(true)?,
                Err(Failure::Item(flaw)) => self.fail(file, flaw)?,
                Err(Failure::File(flaw)) => {
                    self.fail(file, flaw)?;
                    self.end_file(false)?;
                }
            }
        }
    }

    /// The entry or definition that was found last.
    pub(crate) fn written(&self) -> Written<'_> {
        Written {
            text: self.text(),
            entry: &self.examiner.entry,
        }
    }

    /// The bytes of the item that was found last.
    pub(crate) fn text(&self) -> &[u8] {
        self.under_way().splitter.item().0
    }

    /// The base name of the current file.
    pub(crate) fn file_name(&self) -> &str {
        &self.under_way().file_name
    }

    pub(crate) fn file_path(&self, file: usize) -> &str {
        self.inputs[file].name()
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        let open = self
            .open
            .as_ref()
            .map_or(0, |open| open.splitter.chunks().bytes_read);
        self.ended
            .iter()
            .map(|contents| contents.bytes)
            .sum::<u64>()
            + open
    }

    fn under_way(&self) -> &Open {
        self.open
            .as_ref()
            .expect("called only after an item was found")
    }

    fn open_next(&mut self) -> Result<bool, SourceError> {
        while self.next_input < self.inputs.len() {
            let file = self.next_input;
            self.next_input += 1;
            match self.inputs[file].open() {
                Ok(stream) => {
                    let is_latin1 = self.reading.encoding == Encoding::Latin1;
                    let mut chunks = Chunks::new(stream, is_latin1);
                    if self.reading.with_digest {
                        chunks = chunks.with_digest();
                    }
                    self.open = Some(Open {
                        splitter: Splitter::new(chunks, is_latin1),
                        file_name: base_name(self.inputs[file].name()).to_owned(),
                        contents: Contents {
                            file,
                            ..Contents::default()
                        },
                        errors_before: self.problems.errors,
                    });
                    return Ok(true);
                }
                Err(error) if self.reading.keep_going => self.problems.error(error),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Closes the current file; `is_whole`: it was read to its end.
    fn end_file(&mut self, is_whole: bool) -> Result<(), SourceError> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let skipped = open.splitter.skipped();
        self.problems.skipped(self.skipped, skipped);
        self.skipped.entries += skipped.entries;
        self.skipped.bytes += skipped.bytes;
        let mut contents = open.contents;
        let chunks = open.splitter.chunks();
        contents.bytes = chunks.bytes_read;
        contents.digest = chunks.digest();
        self.examiner.keys.clear();
        let (file, bytes, is_empty) = (contents.file, contents.bytes, contents.is_empty());
        self.ended.push(contents);
        if is_whole && is_empty && self.problems.errors == open.errors_before {
            self.fail(file, nothing_found(bytes))?;
        }
        Ok(())
    }

    /// Makes the checks that need all files: undefined macros, and no entries.
    fn finish(&mut self) -> Result<(), SourceError> {
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(());
        }
        for unknown in self.examiner.macros.unknown() {
            let flaw = Flaw {
                place: unknown.place,
                message: format!(
                    "the macro `{}` is not defined in any of the files; it is used {}, first here",
                    unknown.name,
                    counted(unknown.uses, "time", "times")
                ),
                hint: Some("its name is kept as the value; add the file that defines it".into()),
            };
            if self.reading.strict {
                self.fail(unknown.file, flaw)?;
            } else {
                self.problems
                    .warning(flaw.in_file(self.inputs[unknown.file].name()));
            }
        }
        if self.ended.iter().any(|contents| contents.entries > 0) {
            return Ok(());
        }
        let first = self
            .problems
            .kept
            .iter()
            .find(|problem| problem.severity == Severity::Error);
        let flaw = Flaw {
            place: Place::default(),
            message: format!(
                "expected entries, found none in {}",
                counted(self.inputs.len() as u64, "file", "files")
            ),
            hint: first.map(|first| {
                let line = match first.line {
                    0 => String::new(), // the file as a whole
                    line => format!(":{line}"),
                };
                format!("the first error: {}{line}: {}", first.file, first.message)
            }),
        };
        Err(flaw.in_file(self.inputs[0].name()))
    }

    /// Returns `flaw` as the error, or records it if reading continues after errors.
    fn fail(&mut self, file: usize, flaw: Flaw) -> Result<(), SourceError> {
        let error = flaw.in_file(self.inputs[file].name());
        if !self.reading.keep_going {
            return Err(error);
        }
        self.problems.error(error);
        Ok(())
    }
}

/// Warns because column `filename` contains only base names, which do not distinguish such files.
pub(crate) fn equal_names(paths: &[&str]) -> Vec<SourceError> {
    let mut names: Vec<(&str, &str)> = paths.iter().map(|path| (base_name(path), *path)).collect();
    names.sort_unstable();
    names
        .chunk_by(|left, right| left.0 == right.0)
        .filter(|same| same.len() > 1)
        .flat_map(|same| of_one_name(same.iter().map(|name| name.1)))
        .collect()
}

/// The warnings for `paths`, which have the same base name.
fn of_one_name<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<SourceError> {
    // Each file by its first path, and how often it was named.
    let mut files: Vec<(Option<PathBuf>, &str, u64)> = Vec::new();
    for path in paths {
        let real = std::fs::canonicalize(path).ok();
        match files
            .iter_mut()
            .find(|file| file.1 == path || (real.is_some() && file.0 == real))
        {
            Some(file) => file.2 += 1,
            None => files.push((real, path, 1)),
        }
    }
    let warning = |path: &str, message: String, hint: &str| {
        let flaw = Flaw {
            place: Place::default(),
            message,
            hint: Some(hint.to_owned()),
        };
        flaw.in_file(path)
    };
    let again = files.iter().filter(|file| file.2 > 1).map(|file| {
        let times = match file.2 {
            2 => "twice".to_owned(),
            times => format!("{times} times"),
        };
        let message = format!("is given {times}; every entry is loaded {times}");
        warning(file.1, message, "name it once")
    });
    let others = files.windows(2).map(|pair| {
        let message = format!(
            "has the same name as {}; column `filename` does not distinguish them",
            pair[0].1
        );
        warning(pair[1].1, message, "rename one")
    });
    again.chain(others).collect()
}
