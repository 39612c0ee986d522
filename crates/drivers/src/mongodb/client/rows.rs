//! Takes documents; gives them to the answer as rows. The first names the columns; the fields of the others are
//! found by name, and one that a document lacks is NULL. A field that the first does not have is a further column.

use crate::Answer;
use crate::mongodb::client::cell;
use crate::mongodb::shared::constants::kind;
use crate::mongodb::shared::scan::{Element, Elements, Malformed};

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
    b"ok",
    b"operationTime",
    b"electionId",
    b"opTime",
    b"lastCommittedOpTime",
    b"cursor",
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
            let value = Element {
                name: b"value",
                ..value?
            };
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
                Some(element) => answer.cell(cell::text(element, &mut self.text)?),
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
                    answer.typed_column(&name, cell::cell_type(field.kind));
                    self.columns.push(Column {
                        name: field.name.into(),
                        kind: field.kind,
                    });
                    return Some(self.columns.len() - 1);
                }
            },
        };
        let column = &mut self.columns[place];
        if column.kind == kind::NULL && field.kind != kind::NULL {
            column.kind = field.kind;
            if let Some(known) = answer.cell_types.get_mut(place) {
                *known = cell::cell_type(field.kind);
            }
        }
        Some(place)
    }

    /// The answer is complete: rows that lack later columns get them.
    #[inline]
    pub(crate) fn end(&self, answer: &mut Answer) {
        if answer.wants_columns() {
            let width = self.columns.len();
            answer
                .kept
                .iter_mut()
                .for_each(|row| row.resize(width, None));
        }
    }
}
