//! Takes the name of a field; returns its column of `bibtab`, and how the column is computed.

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
        for unknown in [
            "",
            "isbn13",
            "toc",
            "entry",
            "label",
            "acknowledgement",
            "abstracts",
        ] {
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
