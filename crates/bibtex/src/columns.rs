//! Takes the name of a field; returns its column of `bibtab`, how the column is computed, and the text of an entry's field
//! for it.

use crate::entry::{Entry, Field, PieceKind};
use crate::pages::{NoCount, page_count};
use crate::tex::Cleaner;

/// How the value of a column is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    AuthorCount,
    EditorCount,
    PageCount,
    Kind,
    FileName,
    Label,
    Author,
    Editor,
    Day,
    /// The month's three letters; if no month is named, the first three characters in lower case.
    Month,
    MonthNumber,
    Timestamp,
    Entry,
    /// White space collapsed.
    Plain,
    /// White space collapsed and TeX markup removed.
    Unmarked,
    /// `hyphenated OR dehyphenated`.
    Hyphenated,
}

struct Column {
    name: &'static str,
    /// The name of its field, in lower case; empty if it is not computed from a field.
    field: &'static str,
    rule: Rule,
}

pub(crate) const COLUMN_COUNT: usize = 49;

const fn column(name: &'static str, field: &'static str, rule: Rule) -> Column {
    Column { name, field, rule }
}

/// Beebe's bibtosql 0.01: the columns, their order, and which fields lose their markup.
#[rustfmt::skip]
const TABLE: [Column; COLUMN_COUNT] = [
    column("authorcount", "", Rule::AuthorCount),
    column("editorcount", "", Rule::EditorCount),
    column("pagecount", "", Rule::PageCount),
    column("bibtype", "", Rule::Kind),
    column("filename", "", Rule::FileName),
    column("label", "", Rule::Label),
    column("author", "author", Rule::Author),
    column("editor", "editor", Rule::Editor),
    column("booktitle", "booktitle", Rule::Unmarked),
    column("title", "title", Rule::Unmarked),
    column("crossref", "crossref", Rule::Plain),
    column("chapter", "chapter", Rule::Unmarked),
    column("journal", "journal", Rule::Unmarked),
    column("volume", "volume", Rule::Plain),
    column("type", "type", Rule::Unmarked),
    column("number", "number", Rule::Plain),
    column("institution", "institution", Rule::Unmarked),
    column("organization", "organization", Rule::Unmarked),
    column("publisher", "publisher", Rule::Unmarked),
    column("school", "school", Rule::Unmarked),
    column("address", "address", Rule::Unmarked),
    column("edition", "edition", Rule::Unmarked),
    column("pages", "pages", Rule::Plain),
    column("day", "day", Rule::Day),
    column("month", "month", Rule::Month),
    column("monthnumber", "", Rule::MonthNumber),
    column("year", "year", Rule::Plain),
    column("CODEN", "coden", Rule::Plain),
    column("DOI", "doi", Rule::Plain),
    column("ISBN", "isbn", Rule::Hyphenated),
    column("ISBN13", "isbn-13", Rule::Hyphenated),
    column("ISSN", "issn", Rule::Hyphenated),
    column("LCCN", "lccn", Rule::Plain),
    column("MRclass", "mrclass", Rule::Plain),
    column("MRnumber", "mrnumber", Rule::Plain),
    column("MRreviewer", "mrreviewer", Rule::Plain),
    column("bibdate", "bibdate", Rule::Plain),
    column("bibsource", "bibsource", Rule::Plain),
    column("bibtimestamp", "", Rule::Timestamp),
    column("note", "note", Rule::Unmarked),
    column("series", "series", Rule::Unmarked),
    column("URL", "url", Rule::Plain),
    column("abstract", "abstract", Rule::Unmarked),
    column("keywords", "keywords", Rule::Unmarked),
    column("remark", "remark", Rule::Unmarked),
    column("subject", "subject", Rule::Unmarked),
    column("TOC", "tableofcontents", Rule::Unmarked),
    column("ZMnumber", "zmnumber", Rule::Plain),
    column("entry", "", Rule::Entry),
];

/// The columns of `bibtab`, in order. The first three are integers, the others texts.
pub const COLUMNS: [&str; COLUMN_COUNT] = {
    let mut names = [""; COLUMN_COUNT];
    let mut at = 0;
    while at < COLUMN_COUNT {
        names[at] = TABLE[at].name;
        at += 1;
    }
    names
};

/// The rules of [`COLUMNS`].
pub(crate) const RULES: [Rule; COLUMN_COUNT] = {
    let mut rules = [Rule::Plain; COLUMN_COUNT];
    let mut at = 0;
    while at < COLUMN_COUNT {
        rules[at] = TABLE[at].rule;
        at += 1;
    }
    rules
};

pub(crate) const AUTHOR: usize = index_of("author");
pub(crate) const EDITOR: usize = index_of("editor");
pub(crate) const PAGES: usize = index_of("pages");
pub(crate) const MONTH: usize = index_of("month");
pub(crate) const BIBDATE: usize = index_of("bibdate");
pub(crate) const REMARK: usize = index_of("remark");

/// The column of the field `name` (case-insensitive); `None` for a field that is stored in
/// column `entry` only.
pub(crate) fn column_of(name: &[u8]) -> Option<usize> {
    if name.len() < 3 {
        return None;
    }
    let column = usize::from(SLOTS[slot(name)]);
    let field = TABLE.get(column)?.field.as_bytes();
    name.eq_ignore_ascii_case(field).then_some(column)
}

/// The slot of the name in [`SLOTS`], a perfect hash: a function of its length and of its first, third and
/// last letter, with factors found by search so that no two fields share a slot.
const fn slot(name: &[u8]) -> usize {
    let (first, third, last) = (name[0] | 0x20, name[2] | 0x20, name[name.len() - 1] | 0x20);
    (35 * name.len() + 77 * first as usize + 66 * third as usize + 36 * last as usize) % 128
}

/// Columns by the slots of their fields. Two fields in one slot are a compile-time error.
#[expect(clippy::cast_possible_truncation, reason = "there are 49 columns")]
const SLOTS: [u8; 128] = {
    let mut slots = [u8::MAX; 128];
    let mut at = 0;
    while at < COLUMN_COUNT {
        let field = TABLE[at].field.as_bytes();
        if !field.is_empty() {
            assert!(
                slots[slot(field)] == u8::MAX,
                "two fields share a slot: change the factors"
            );
            slots[slot(field)] = at as u8;
        }
        at += 1;
    }
    slots
};

const fn index_of(field: &str) -> usize {
    let mut at = 0;
    while !is_same(TABLE[at].field.as_bytes(), field.as_bytes()) {
        at += 1;
    }
    at
}

/// `==` for slices, which is not available in constants.
const fn is_same(left: &[u8], right: &[u8]) -> bool {
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}

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
        let parts: [&[u8]; 5] =
            [b"article", b"inproceedings", b"incollection", b"inbook", b"conference"];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_case_and_others_are_not() {
        assert_eq!(column_of(b"ISBN-13").map(|at| COLUMNS[at]), Some("ISBN13"));
        assert_eq!(
            column_of(b"TableOfContents").map(|at| COLUMNS[at]),
            Some("TOC")
        );
        for unknown in ["", "isbn13", "toc", "entry", "label", "acknowledgement", "abstracts"] {
            assert_eq!(column_of(unknown.as_bytes()), None, "{unknown}");
        }
        for (at, column) in TABLE
            .iter()
            .enumerate()
            .filter(|(_, column)| !column.field.is_empty())
        {
            assert_eq!(
                column_of(column.field.as_bytes()),
                Some(at),
                "{}",
                column.name
            );
        }
    }
}
