//! Takes the messages with an answer's rows, columns and tags; reports them to the answer without copying. Takes the text of
//! a prepared statement; returns how the tag of its answer begins, by which the answer to another statement is recognised.
//!
//! A session executes what it has prepared by name. Behind a pooler that gives each transaction another session
//! of the server, the name may be that of another client's statement.

use assay_values::{BracedElement, CellType, json_of_braced};

use crate::lexer::{Literals, end_of_token};
use crate::postgresql::message::Fields;
use crate::{Answer, ErrorClass, Result, SystemError};

/// Reads one DataRow. Cells that are not needed are not parsed.
#[inline]
pub(crate) fn row(body: &[u8], answer: &mut Answer) -> Result<()> {
    if !answer.wants_cells() {
        answer.pass_row();
        return Ok(());
    }
    let mut fields = Fields(body);
    answer.begin_row();
    for _ in 0..fields.count()? {
        match usize::try_from(fields.int32()?) {
            Ok(length) => answer.cell(Some(fields.bytes(length)?)),
            Err(_) => answer.cell(None),
        }
    }
    answer.end_row();
    Ok(())
}

/// The same of an answer with arrays, which it gets as JSON arrays. `elements`: of each column, if it has them.
#[cold]
pub(crate) fn row_with_arrays(
    body: &[u8],
    elements: &[Option<BracedElement>],
    answer: &mut Answer,
) -> Result<()> {
    let mut fields = Fields(body);
    answer.begin_row();
    for index in 0..fields.count()? {
        let Ok(length) = usize::try_from(fields.int32()?) else {
            answer.cell(None);
            continue;
        };
        let text = fields.bytes(length)?;
        let of = elements.get(index).copied().flatten();
        match of.and_then(|of| json_of_braced(text, of)) {
            Some(json) => answer.cell(Some(&json)),
            None => answer.cell(Some(text)),
        }
    }
    answer.end_row();
    Ok(())
}

/// A column of an answer.
#[derive(Clone, PartialEq)]
pub(crate) struct Column {
    pub name: Box<str>,
    pub cell_type: CellType,
    /// Of a column of arrays.
    pub elements: Option<BracedElement>,
}

/// Reports each column of a RowDescription.
pub(crate) fn columns(body: &[u8], mut on_column: impl FnMut(Column)) -> Result<()> {
    /// Table and column number before the type; type size, type modifier and format after it.
    const BEFORE_THE_TYPE_BYTES: usize = 6;
    const BEHIND_THE_TYPE_BYTES: usize = 8;
    let mut fields = Fields(body);
    for _ in 0..fields.count()? {
        let name = String::from_utf8_lossy(fields.text()?).into();
        fields.bytes(BEFORE_THE_TYPE_BYTES)?;
        let oid = fields.int32()?;
        fields.bytes(BEHIND_THE_TYPE_BYTES)?;
        let elements = elements_of(oid);
        on_column(Column {
            name,
            cell_type: elements.map_or_else(|| cell_type(oid), |_| CellType::List),
            elements,
        });
    }
    Ok(())
}

/// The cell type of a type's object id.
fn cell_type(oid: i32) -> CellType {
    match oid {
        17 => CellType::HexBytes,
        114 | 3802 => CellType::Document,
        1082 => CellType::Date,
        1083 => CellType::Time,
        1114 => CellType::Timestamp,
        1700 => CellType::Decimal,
        _ => CellType::Plain,
    }
}

/// How the elements of an array type are read, by its object id.
fn elements_of(oid: i32) -> Option<BracedElement> {
    match oid {
        1000 => Some(BracedElement::Bool),
        // Whole numbers, floats, exact numbers, object ids.
        1005 | 1007 | 1016 | 1021 | 1022 | 1231 | 1028 => Some(BracedElement::Number),
        199 | 3807 => Some(BracedElement::Json),
        // Characters, texts of both kinds, names; dates and times; UUIDs, network addresses.
        1002 | 1009 | 1014 | 1015 | 1003 | 1182 | 1183 | 1115 | 1185 | 1187 | 2951 | 1040
        | 1041 => Some(BracedElement::Text),
        _ => None,
    }
}

/// The rows that a statement changed, from the tag of its CommandComplete; 0 for those that change
/// none (`SELECT 5` returns five).
#[inline]
pub(crate) fn affected(body: &[u8]) -> u64 {
    // Four letters identify the tags with a count of changed rows.
    let (b"UPDA" | b"INSE" | b"DELE" | b"MERG" | b"COPY") = body.first_chunk().unwrap_or(b"none")
    else {
        return 0;
    };
    // INSERT has an object id (always 0) before its count, the others only the count.
    let digits = body
        .strip_suffix(b"\0")
        .unwrap_or(body)
        .rsplit(|&byte| byte == b' ')
        .next();
    digits
        .unwrap_or_default()
        .iter()
        .fold(0, |count: u64, &byte| {
            count
                .wrapping_mul(10)
                .wrapping_add(u64::from(byte.wrapping_sub(b'0')))
        })
}

/// The first four letters of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandTag([u8; 4]);

/// First word of a statement → its tag. What begins with another word (`WITH`, `CALL`) is not checked.
const TAGS: [(&[u8], &[u8; 4]); 7] = [
    (b"select", b"SELE"),
    (b"values", b"SELE"),
    (b"table", b"SELE"),
    (b"insert", b"INSE"),
    (b"update", b"UPDA"),
    (b"delete", b"DELE"),
    (b"merge", b"MERG"),
];

impl CommandTag {
    /// Every tag is right.
    pub const ANY: Self = Self([0; 4]);

    pub fn of(text: &str) -> Self {
        let word = first_word(text.as_bytes());
        let found = TAGS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(word));
        found.map_or(Self::ANY, |(_, tag)| Self(**tag))
    }

    /// Whether `tag`, the body of CommandComplete, answers the statement.
    #[inline]
    pub fn is_of(self, tag: &[u8]) -> bool {
        self == Self::ANY || tag.first_chunk() == Some(&self.0)
    }

    /// The error of an answer to another statement, which may have changed data.
    #[cold]
    pub fn refuse(self, tag: &[u8]) -> SystemError {
        let found = String::from_utf8_lossy(tag.strip_suffix(b"\0").unwrap_or(tag));
        let message = format!(
            "expected the answer to a statement that begins with {}…, the server executed another one and \
             answered \"{found}\"; hint: a pooler that gives each transaction another session of the server \
             mixes up prepared statements: take the simple protocol, or set its max_prepared_statements",
            String::from_utf8_lossy(&self.0),
        );
        SystemError::new(ErrorClass::WrongStatement, "", message)
    }
}

/// Notes in the answer that a transaction was committed or rolled back, where `tag` shows it.
#[inline]
pub(crate) fn note_end(tag: &[u8], answer: &mut Answer) {
    if let Some(b'C' | b'P' | b'R') = tag.first() {
        note_rare_end(tag, answer);
    }
}

/// A tag that begins as those of COMMIT, PREPARE TRANSACTION and ROLLBACK do.
#[cold]
fn note_rare_end(tag: &[u8], answer: &mut Answer) {
    match tag {
        b"COMMIT\0" | b"PREPARE TRANSACTION\0" => answer.has_committed = true,
        b"ROLLBACK\0" => answer.has_rolled_back = true,
        _ => {}
    }
}

/// Without comments, blanks and parentheses before it.
fn first_word(text: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let is_comment = matches!(text.get(at..at + 2), Some(b"--" | b"/*"));
        if is_comment {
            at = end_of_token(text, at, Literals::Doubled);
        } else if byte.is_ascii_whitespace() || byte == b'(' {
            at += 1;
        } else {
            break;
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic());
    &rest[..end.unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statements_that_change_rows_affect_rows() {
        for (tag, count) in [
            (&b"UPDATE 1\0"[..], 1),
            (b"INSERT 0 250\0", 250),
            (b"DELETE 0\0", 0),
            (b"COPY 18446744073709551615\0", u64::MAX),
            (b"MERGE 7\0", 7),
            (b"SELECT 5\0", 0),
            (b"COMMIT\0", 0),
            (b"", 0),
        ] {
            assert_eq!(affected(tag), count, "{}", tag.escape_ascii());
        }
    }

    #[test]
    fn the_first_word_of_a_statement_says_how_its_answer_begins() {
        for (text, tag) in [
            ("SELECT 1", &b"SELECT 1\0"[..]),
            (" /* a */ -- b\n((select 1) union select 2)", b"SELECT 2\0"),
            ("VALUES (1)", b"SELECT 1\0"),
            ("insert into t values (1) returning a", b"INSERT 0 1\0"),
            ("Update t SET a = 1", b"UPDATE 3\0"),
            ("DELETE FROM t", b"DELETE 0\0"),
            ("WITH a AS (SELECT 1) UPDATE t SET a = 1", b"UPDATE 1\0"),
            ("CALL p()", b"CALL\0"),
            ("", b"\0"),
        ] {
            let expected = CommandTag::of(text);
            assert!(expected.is_of(tag), "{text}");
            assert_eq!(
                expected.is_of(b"REFRESH\0"),
                expected == CommandTag::ANY,
                "{text}"
            );
        }
        let update = CommandTag::of("UPDATE t SET a = 1");
        let error = update.refuse(b"SELECT 1\0");
        assert_eq!(error.class, ErrorClass::WrongStatement);
        assert!(
            error
                .message
                .contains("answered \"SELECT 1\"; hint: a pooler")
        );
    }
}
