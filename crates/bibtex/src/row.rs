//! Takes a parsed entry; returns its row of `bibtab`, and the rows of `strtab` for `@String` definitions, each once.

use std::collections::HashSet;
use std::ops::Range;

use assay_values::{Row, write_int};

use crate::columns::{AUTHOR, BIBDATE, EDITOR, Fields, RULES, Rule, Written};
use crate::dates::{Bibdate, MONTHS, Month};
use crate::entry::Entry;
use crate::names::{Names, write_names};
use crate::tex::Cleaner;

/// Writes rows, and reuses its buffers.
#[derive(Default)]
pub(crate) struct RowWriter {
    authors: People,
    editors: People,
    month: Month,
    scratch: Vec<u8>,
}

/// The names of one field: joined by ` and `, and the range of each.
#[derive(Default)]
struct People {
    text: Vec<u8>,
    parts: Vec<Range<usize>>,
    is_known: bool,
}

impl RowWriter {
    /// Fills `row` with the 49 columns of `written`, and counts the names of its authors and
    /// editors.
    pub(crate) fn write(
        &mut self,
        written: Written<'_>,
        file_name: &str,
        row: &mut Row,
        names: &mut Names,
    ) {
        let fields = Fields::of(written);
        self.authors.read(&fields, AUTHOR, &mut self.scratch, names);
        self.editors.read(&fields, EDITOR, &mut self.scratch, names);
        self.month.read(&fields);
        row.clear();
        for (column, rule) in RULES.into_iter().enumerate() {
            match rule {
                Rule::AuthorCount => self.authors.push_count(row),
                Rule::EditorCount => self.editors.push_count(row),
                Rule::PageCount => {
                    let count = fields.page_count(&mut self.scratch);
                    push_int(row, count.ok().map(i64::from));
                }
                Rule::Kind => row.push_with(|out| {
                    let start = out.len();
                    out.extend_from_slice(written.kind());
                    out[start..].make_ascii_lowercase();
                }),
                Rule::FileName => row.push_bytes(file_name.as_bytes()),
                Rule::Label => row.push_bytes(&written.text[written.entry.key.clone()]),
                Rule::Author => self.authors.push_text(row),
                Rule::Editor => self.editors.push_text(row),
                Rule::Plain => row.push_or_null(|out| fields.write_plain(column, out)),
                Rule::Unmarked => row.push_or_null(|out| fields.write_unmarked(column, out)),
                Rule::Hyphenated => row.push_or_null(|out| fields.write_hyphenated(column, out)),
                Rule::Day => row.push_or_null(|out| {
                    fields.write_plain(column, out) || {
                        out.extend_from_slice(self.month.days().unwrap_or_default());
                        self.month.days().is_some()
                    }
                }),
                Rule::Month => row.push_or_null(|out| match self.month.number() {
                    Some(number) => {
                        out.extend_from_slice(MONTHS[number as usize - 1].as_bytes());
                        true
                    }
                    None => fields.write_first_letters(column, out),
                }),
                // As a text, which is the column's type.
                Rule::MonthNumber => match self.month.number() {
                    Some(number) => row.push_with(|out| write_int(number.into(), out)),
                    None => row.push_null(),
                },
                Rule::Timestamp => self.push_timestamp(row),
                Rule::Entry => row.push_with(|out| {
                    out.push(b'\n');
                    out.extend_from_slice(written.text);
                }),
            }
        }
    }

    fn push_timestamp(&mut self, row: &mut Row) {
        self.scratch.clear();
        if let Some(date) =
            row.cell(BIBDATE).as_text().and_then(|text| std::str::from_utf8(text).ok())
            && let Some(date) = Bibdate::parse(date)
        {
            date.write(&mut self.scratch);
            row.push_bytes(&self.scratch);
        } else {
            row.push_null();
        }
    }
}

impl People {
    fn read(
        &mut self,
        fields: &Fields<'_>,
        column: usize,
        scratch: &mut Vec<u8>,
        names: &mut Names,
    ) {
        self.text.clear();
        self.parts.clear();
        self.is_known = fields
            .joined(column, scratch)
            .is_some_and(|text| write_names(text, &mut self.text, &mut self.parts));
        if self.is_known {
            for part in &self.parts {
                names.add(&self.text[part.clone()]);
            }
        }
    }

    fn push_count(&self, row: &mut Row) {
        // An empty name, as between the two `and` of `A and and B`, is not counted.
        let count = self.parts.iter().filter(|part| !part.is_empty()).count();
        push_int(row, self.is_known.then(|| count.try_into().unwrap_or(i64::MAX)));
    }

    fn push_text(&self, row: &mut Row) {
        if self.is_known {
            row.push_bytes(&self.text);
        } else {
            row.push_null();
        }
    }
}

fn push_int(row: &mut Row, number: Option<i64>) {
    match number {
        Some(number) => row.push_int(number),
        None => row.push_null(),
    }
}

/// The definitions in the order of their first occurrence. Definitions that differ only in white space are
/// one row; definitions of one key with different values are separate rows.
#[derive(Default)]
pub(crate) struct Strings {
    definitions: Vec<Definition>,
    /// 128-bit digests of the definitions with white space collapsed.
    seen: HashSet<u128>,
    scratch: Vec<u8>,
}

struct Definition {
    key: Box<[u8]>,
    value: Box<[u8]>,
    verbatim: Box<[u8]>,
}

impl Strings {
    /// Adds the definition with the bytes `text`, parsed as `entry`.
    pub(crate) fn add(&mut self, text: &[u8], entry: &Entry) {
        self.scratch.clear();
        Cleaner::new(&mut self.scratch).collapse(text);
        if !self.seen.insert(xxhash_rust::xxh3::xxh3_128(&self.scratch)) {
            return;
        }
        let field = &entry.fields[0];
        self.scratch.clear();
        let mut cleaner = Cleaner::new(&mut self.scratch);
        for piece in &entry.pieces[field.pieces.clone()] {
            cleaner.collapse(&text[piece.text.clone()]);
        }
        self.definitions.push(Definition {
            key: text[field.name.clone()].into(),
            value: self.scratch.as_slice().into(),
            verbatim: text.into(),
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.definitions.len()
    }

    /// Fills `row` with key, value (NULL if empty) and the definition's text.
    pub(crate) fn write(&self, index: usize, row: &mut Row) {
        let definition = &self.definitions[index];
        row.clear();
        row.push_bytes(&definition.key);
        row.push_or_null(|out| {
            out.extend_from_slice(&definition.value);
            !definition.value.is_empty()
        });
        row.push_with(|out| {
            out.push(b'\n');
            out.extend_from_slice(&definition.verbatim);
        });
    }
}
