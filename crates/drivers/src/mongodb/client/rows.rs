//! Takes documents; gives them to the answer as rows. The first names the columns; the fields of the others are
//! found by name, and one that a document lacks is NULL. A field that the first does not have is a further column.
//!
//! Arrays and documents are their relaxed Extended JSON, with fields in the order in which the server sent them.

use std::io::Write as _;

use assay_values::calendar::write_timestamp;
use assay_values::{CellType, write_double, write_hex, write_int, write_json_string, write_uuid};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Answer;
use crate::mongodb::decimal128;
use crate::mongodb::scan::{Element, Elements, Malformed, cstring, kind, subtype};

/// The columns of the answer under way.
#[derive(Default)]
pub(crate) struct Rows {
    columns: Vec<Column>,
    text: Vec<u8>,
}

struct Column {
    name: Box<[u8]>,
    /// Of the first value that is not NULL.
    kind: u8,
}

/// Fields are looked up by name: documents of more different ones are refused.
const MAX_COLUMNS: usize = 16 * 1024;

/// Fields of an answer that are not what was asked for.
const ENVELOPE: [&[u8]; 7] = [
    b"ok", b"operationTime", b"electionId", b"opTime", b"lastCommittedOpTime", b"cursor",
    b"writeConcernError",
];

impl Rows {
    /// Another answer begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.columns.clear();
    }

    /// Every document of a batch is a row.
    #[inline]
    pub(crate) fn batch(
        &mut self,
        batch: Elements<'_>,
        answer: &mut Answer,
    ) -> Result<(), Malformed> {
        let mut cells = Vec::new();
        for document in batch {
            let document = document?;
            if document.kind != kind::DOCUMENT {
                return Err(Malformed);
            }
            if answer.wants_cells() {
                self.row(Elements::of(document.value)?, &mut cells, answer)?;
            } else {
                answer.pass_row();
            }
        }
        Ok(())
    }

    /// A document is the only row.
    pub(crate) fn document(
        &mut self,
        document: &[u8],
        answer: &mut Answer,
    ) -> Result<(), Malformed> {
        self.row(Elements::of(document)?, &mut Vec::new(), answer)
    }

    /// Each value of an array is a row.
    pub(crate) fn values(
        &mut self,
        values: Elements<'_>,
        answer: &mut Answer,
    ) -> Result<(), Malformed> {
        for value in values {
            let value = Element { name: b"value", ..value? };
            self.row(std::iter::once(Ok(value)), &mut Vec::new(), answer)?;
        }
        Ok(())
    }

    /// What an answer holds besides its envelope is a row, if it is anything.
    pub(crate) fn rest(&mut self, reply: &[u8], answer: &mut Answer) -> Result<(), Malformed> {
        let is_own = |element: &Result<Element<'_>, Malformed>| match element {
            Ok(element) => !ENVELOPE.contains(&element.name) && !element.name.starts_with(b"$"),
            Err(_) => true,
        };
        let mut own = Elements::of(reply)?.filter(is_own).peekable();
        match own.peek() {
            Some(_) => self.row(own, &mut Vec::new(), answer),
            None => Ok(()),
        }
    }

    #[inline]
    fn row<'a>(
        &mut self,
        fields: impl Iterator<Item = Result<Element<'a>, Malformed>>,
        cells: &mut Vec<Option<Element<'a>>>,
        answer: &mut Answer,
    ) -> Result<(), Malformed> {
        cells.clear();
        cells.resize(self.columns.len(), None);
        let mut next = 0;
        for field in fields {
            let field = field?;
            let place = self.place(&field, next, answer).ok_or(Malformed)?;
            if place == cells.len() {
                cells.push(None);
            }
            cells[place] = Some(field);
            next = place + 1;
        }
        answer.begin_row();
        for cell in &*cells {
            match cell {
                Some(element) => answer.cell(cell_text(element, &mut self.text)?),
                None => answer.cell(None),
            }
        }
        answer.end_row();
        Ok(())
    }

    /// The column of a field: mostly that which comes next. None if there are too many.
    #[inline]
    fn place(&mut self, field: &Element<'_>, next: usize, answer: &mut Answer) -> Option<usize> {
        let is_it = |column: &Column| *column.name == *field.name;
        let place = match self.columns.get(next) {
            Some(column) if is_it(column) => next,
            _ => match self.columns.iter().position(is_it) {
                Some(place) => place,
                None if self.columns.len() >= MAX_COLUMNS => return None,
                None => {
                    let name = String::from_utf8_lossy(field.name);
                    answer.typed_column(&name, cell_type(field.kind));
                    self.columns.push(Column { name: field.name.into(), kind: field.kind });
                    return Some(self.columns.len() - 1);
                }
            },
        };
        let column = &mut self.columns[place];
        if column.kind == kind::NULL && field.kind != kind::NULL {
            column.kind = field.kind;
            if let Some(known) = answer.cell_types.get_mut(place) {
                *known = cell_type(field.kind);
            }
        }
        Some(place)
    }

    /// The answer is complete: rows that lack later columns get them.
    #[inline]
    pub(crate) fn end(&self, answer: &mut Answer) {
        if answer.wants_columns() {
            let width = self.columns.len();
            answer.kept.iter_mut().for_each(|row| row.resize(width, None));
        }
    }
}

/// A document that is nested deeper is not believed: servers allow 100 levels, and a little more around them.
const MAX_DEPTH: usize = 200;
/// The moments that extended JSON writes as text: the years 1970 to 9999.
const TEXT_MS: std::ops::Range<i64> = 0..253_402_300_800_000;

/// What the engine knows of a column with such a field.
pub(crate) fn cell_type(kind: u8) -> CellType {
    match kind {
        kind::BINARY => CellType::Bytes,
        kind::DECIMAL128 => CellType::Decimal,
        kind::DATE => CellType::Timestamp,
        kind::DOCUMENT => CellType::Document,
        kind::ARRAY => CellType::List,
        _ => CellType::Plain,
    }
}

/// The text of a field: the bytes themselves, or written to `scratch`; none for NULL.
#[inline]
pub(crate) fn cell_text<'a>(
    element: &Element<'a>,
    scratch: &'a mut Vec<u8>,
) -> Result<Option<&'a [u8]>, Malformed> {
    scratch.clear();
    match element.kind {
        kind::NULL | kind::UNDEFINED => return Ok(None),
        kind::STRING | kind::SYMBOL => return element.text().ok_or(Malformed).map(Some),
        kind::BINARY => {
            let (subtype, bytes) = element.binary().ok_or(Malformed)?;
            match (subtype, bytes.try_into()) {
                (subtype::UUID, Ok(bytes)) => write_uuid(bytes, scratch),
                (subtype::OLD_GENERIC, _) => return bytes.get(4..).ok_or(Malformed).map(Some),
                _ => return Ok(Some(bytes)),
            }
        }
        kind::INT32 | kind::INT64 => write_int(element.whole().ok_or(Malformed)?, scratch),
        kind::DOUBLE => write_double(double(element)?, scratch),
        kind::BOOL => scratch.extend_from_slice(truth(element)),
        kind::DATE => {
            let ms = element.whole().ok_or(Malformed)?;
            match ms.checked_mul(1000) {
                Some(us) => write_timestamp(us, scratch),
                None => write_int(ms, scratch),
            }
        }
        kind::DECIMAL128 => decimal128::write_text(fixed(element)?, scratch),
        kind::OBJECT_ID => write_hex(element.value, scratch),
        _ => write_json(element, 0, scratch)?,
    }
    Ok(Some(scratch))
}

/// Appends the value as JSON.
pub(crate) fn write_json(
    element: &Element<'_>,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    if depth > MAX_DEPTH {
        return Err(Malformed);
    }
    match element.kind {
        kind::NULL => out.extend_from_slice(b"null"),
        kind::BOOL => out.extend_from_slice(truth(element)),
        kind::INT32 | kind::INT64 => write_int(element.whole().ok_or(Malformed)?, out),
        kind::DOUBLE => {
            let number = double(element)?;
            if number.is_finite() {
                write_double(number, out);
            } else {
                out.extend_from_slice(b"{\"$numberDouble\":\"");
                write_double(number, out);
                out.extend_from_slice(b"\"}");
            }
        }
        kind::STRING => write_string(element.text().ok_or(Malformed)?, out),
        kind::ARRAY => {
            out.push(b'[');
            for (number, part) in Elements::of(element.value)?.enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                write_json(&part?, depth + 1, out)?;
            }
            out.push(b']');
        }
        kind::DOCUMENT => write_object(element.value, depth, out)?,
        kind::DECIMAL128 => {
            out.extend_from_slice(b"{\"$numberDecimal\":\"");
            decimal128::write_text(fixed(element)?, out);
            out.extend_from_slice(b"\"}");
        }
        kind::DATE => {
            let ms = element.whole().ok_or(Malformed)?;
            if TEXT_MS.contains(&ms) {
                out.extend_from_slice(b"{\"$date\":\"");
                let start = out.len();
                write_timestamp(ms * 1000, out);
                out[start + 10] = b'T';
                out.extend_from_slice(b"Z\"}");
            } else {
                write(out, format_args!("{{\"$date\":{{\"$numberLong\":\"{ms}\"}}}}"));
            }
        }
        kind::OBJECT_ID => {
            out.extend_from_slice(b"{\"$oid\":\"");
            write_hex(element.value, out);
            out.extend_from_slice(b"\"}");
        }
        kind::BINARY => {
            let (subtype, bytes) = element.binary().ok_or(Malformed)?;
            let text = STANDARD.encode(bytes);
            write(
                out,
                format_args!(
                    "{{\"$binary\":{{\"base64\":\"{text}\",\"subType\":\"{subtype:02x}\"}}}}"
                ),
            );
        }
        _ => write_rare(element, depth, out)?,
    }
    Ok(())
}

/// Types that are seldom in data.
fn write_rare(element: &Element<'_>, depth: usize, out: &mut Vec<u8>) -> Result<(), Malformed> {
    match element.kind {
        kind::REGEX => {
            let (pattern, rest) = cstring(element.value).ok_or(Malformed)?;
            let (options, _) = cstring(rest).ok_or(Malformed)?;
            out.extend_from_slice(b"{\"$regularExpression\":{\"pattern\":");
            write_string(pattern, out);
            out.extend_from_slice(b",\"options\":");
            write_string(options, out);
            out.extend_from_slice(b"}}");
        }
        kind::TIMESTAMP => {
            let bits = u64::from_le_bytes(element.value.try_into().map_err(|_| Malformed)?);
            let (time, count) = (bits >> 32, bits & 0xFFFF_FFFF);
            write(out, format_args!("{{\"$timestamp\":{{\"t\":{time},\"i\":{count}}}}}"));
        }
        kind::CODE | kind::SYMBOL => {
            let key: &[u8] = match element.kind {
                kind::CODE => b"{\"$code\":",
                _ => b"{\"$symbol\":",
            };
            out.extend_from_slice(key);
            write_string(element.text().ok_or(Malformed)?, out);
            out.push(b'}');
        }
        kind::CODE_WITH_SCOPE => {
            let code = element.value.get(4..).ok_or(Malformed)?;
            let size = crate::mongodb::scan::length(code).ok_or(Malformed)?;
            let (code, scope) = code.split_at_checked(size + 4).ok_or(Malformed)?;
            let [_, _, _, _, text @ .., 0] = code else {
                return Err(Malformed);
            };
            out.extend_from_slice(b"{\"$code\":");
            write_string(text, out);
            out.extend_from_slice(b",\"$scope\":");
            write_object(scope, depth, out)?;
            out.push(b'}');
        }
        kind::DB_POINTER => {
            let (text, id) = element.value.split_last_chunk::<12>().ok_or(Malformed)?;
            let [_, _, _, _, text @ .., 0] = text else {
                return Err(Malformed);
            };
            out.extend_from_slice(b"{\"$dbPointer\":{\"$ref\":");
            write_string(text, out);
            out.extend_from_slice(b",\"$id\":{\"$oid\":\"");
            write_hex(id, out);
            out.extend_from_slice(b"\"}}}");
        }
        kind::UNDEFINED => out.extend_from_slice(b"{\"$undefined\":true}"),
        kind::MIN_KEY => out.extend_from_slice(b"{\"$minKey\":1}"),
        kind::MAX_KEY => out.extend_from_slice(b"{\"$maxKey\":1}"),
        _ => return Err(Malformed),
    }
    Ok(())
}

fn write_object(document: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), Malformed> {
    out.push(b'{');
    for (number, field) in Elements::of(document)?.enumerate() {
        let field = field?;
        if number > 0 {
            out.push(b',');
        }
        write_string(field.name, out);
        out.push(b':');
        write_json(&field, depth + 1, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn write_string(text: &[u8], out: &mut Vec<u8>) {
    write_json_string(&String::from_utf8_lossy(text), out);
}

fn truth(element: &Element<'_>) -> &'static [u8] {
    match element.value {
        [0] => b"false",
        _ => b"true",
    }
}

fn double(element: &Element<'_>) -> Result<f64, Malformed> {
    Ok(f64::from_le_bytes(fixed(element)?))
}

fn fixed<const N: usize>(element: &Element<'_>) -> Result<[u8; N], Malformed> {
    element.value.try_into().map_err(|_| Malformed)
}

fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory is infallible");
}
