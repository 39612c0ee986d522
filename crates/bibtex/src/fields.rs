//! Takes an entry and a column; returns the text of the field for that column.

use crate::columns::{COLUMN_COUNT, PAGES, column_of};
use crate::entry::{Entry, Field};
use crate::pages::{NoCount, page_count};
use crate::tex::Cleaner;
use crate::tokens::PieceKind;

/// An entry and the bytes to which its ranges refer.
#[derive(Clone, Copy)]
pub(crate) struct Written<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) entry: &'t Entry,
}

impl Written<'_> {
    /// The type of the entry, as written in the file.
    pub(crate) fn kind(&self) -> &[u8] {
        &self.text[self.entry.kind.clone()]
    }

    /// Whether the entry is a whole work, such as a book, and not part of one.
    pub(crate) fn is_whole_work(&self) -> bool {
        let parts: [&[u8]; 5] = [
            b"article",
            b"inproceedings",
            b"incollection",
            b"inbook",
            b"conference",
        ];
        !parts
            .iter()
            .any(|part| self.kind().eq_ignore_ascii_case(part))
    }
}

/// The fields of an entry by their columns; if a field occurs twice, the first counts,
/// as in BibTeX.
pub(crate) struct Fields<'t> {
    pub(crate) written: Written<'t>,
    by_column: [Option<&'t Field>; COLUMN_COUNT],
}

impl<'t> Fields<'t> {
    pub(crate) fn of(written: Written<'t>) -> Self {
        let mut by_column = [None; COLUMN_COUNT];
        for field in &written.entry.fields {
            if let Some(column) = column_of(&written.text[field.name.clone()]) {
                by_column[column].get_or_insert(field);
            }
        }
        Self { written, by_column }
    }

    pub(crate) fn field(&self, column: usize) -> Option<&'t Field> {
        self.by_column[column]
    }

    /// Appends the text of the field with white space collapsed; returns false if there is no text.
    pub(crate) fn write_plain(&self, column: usize, out: &mut Vec<u8>) -> bool {
        let Some(field) = self.by_column[column] else {
            return false;
        };
        let mut cleaner = Cleaner::new(out);
        for piece in &self.written.entry.pieces[field.pieces.clone()] {
            cleaner.collapse(&self.written.text[piece.text.clone()]);
        }
        cleaner.finish()
    }

    /// The same without TeX markup.
    pub(crate) fn write_unmarked(&self, column: usize, out: &mut Vec<u8>) -> bool {
        let Some(field) = self.by_column[column] else {
            return false;
        };
        let mut cleaner = Cleaner::new(out);
        for piece in &self.written.entry.pieces[field.pieces.clone()] {
            let text = &self.written.text[piece.text.clone()];
            // The name of a macro is not TeX.
            match piece.kind {
                PieceKind::Macro => cleaner.collapse(text),
                _ => cleaner.unmark(text),
            }
        }
        cleaner.finish()
    }

    /// `hyphenated OR dehyphenated`; a text without hyphens is unchanged.
    pub(crate) fn write_hyphenated(&self, column: usize, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        if !self.write_plain(column, out) {
            return false;
        }
        let end = out.len();
        if out[start..end].contains(&b'-') {
            out.extend_from_slice(b" OR ");
            for at in start..end {
                let byte = out[at];
                if byte != b'-' {
                    out.push(byte);
                }
            }
        }
        true
    }

    /// The first three characters in lower case.
    pub(crate) fn write_first_letters(&self, column: usize, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        if !self.write_plain(column, out) {
            return false;
        }
        let third = std::str::from_utf8(&out[start..])
            .ok()
            .and_then(|text| text.char_indices().nth(3))
            .map_or(out.len(), |(at, _)| start + at);
        out.truncate(third);
        out.truncate(start + out[start..].trim_ascii_end().len());
        out[start..].make_ascii_lowercase();
        true
    }

    /// The number of pages in the field `pages`.
    pub(crate) fn page_count(&self, scratch: &mut Vec<u8>) -> Result<i32, NoCount> {
        scratch.clear();
        if !self.write_plain(PAGES, scratch) {
            return Err(NoCount::Unclear);
        }
        let text = std::str::from_utf8(scratch).map_err(|_| NoCount::Unclear)?;
        page_count(text, self.written.is_whole_work())
    }

    /// The raw text of the field, its pieces joined; in `scratch` if there are several.
    pub(crate) fn joined<'s>(&self, column: usize, scratch: &'s mut Vec<u8>) -> Option<&'s [u8]>
    where
        't: 's,
    {
        let field = self.by_column[column]?;
        if let Some(text) = self.written.entry.single(self.written.text, field) {
            return Some(text);
        }
        scratch.clear();
        for piece in &self.written.entry.pieces[field.pieces.clone()] {
            scratch.extend_from_slice(&self.written.text[piece.text.clone()]);
        }
        Some(scratch)
    }
}
