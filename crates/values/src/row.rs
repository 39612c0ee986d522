//! One row of a table, in a buffer that is reused for the next row.

use crate::Value;
use crate::number_text::{write_double, write_int};

/// A row of cells. Texts share one buffer, so a row that is cleared and refilled stops allocating after its
/// longest content; numbers are converted to text only when it is needed.
#[derive(Debug, Default)]
pub struct Row {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number in binary floating point.
    Double(f64),
    /// Text, or the text form of a value of any other type.
    Text(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// Appends the text form; nothing for NULL. Booleans are 1 or 0, which every system accepts.
    #[inline]
    pub fn write_text(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => {}
            Self::Bool(truth) => out.push(b'0' + u8::from(truth)),
            Self::Int(number) => write_int(number, out),
            Self::Double(number) => write_double(number, out),
            Self::Text(text) => out.extend_from_slice(text),
        }
    }

    /// The text form, written to `scratch` if it does not exist yet; `None` for NULL.
    #[inline]
    pub fn text_in<'s>(self, scratch: &'s mut Vec<u8>) -> Option<&'s [u8]>
    where
        'a: 's,
    {
        match self {
            Self::Null => None,
            Self::Text(text) => Some(text),
            _ => {
                scratch.clear();
                self.write_text(scratch);
                Some(scratch)
            }
        }
    }

    /// The bytes of a text; `None` for everything else.
    pub fn as_text(self) -> Option<&'a [u8]> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Clone for Row {
    fn clone(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            slots: self.slots.clone(),
        }
    }

    /// Keeps the memory, unlike the derived implementation.
    fn clone_from(&mut self, other: &Self) {
        self.bytes.clone_from(&other.bytes);
        self.slots.clone_from(&other.slots);
    }
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    /// A range of the buffer.
    Text {
        start: u32,
        end: u32,
    },
}

impl Row {
    /// A row without cells.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all cells and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.slots.clear();
    }

    /// Appends a NULL.
    #[inline]
    pub fn push_null(&mut self) {
        self.slots.push(Slot::Null);
    }

    /// Appends a truth value.
    #[inline]
    pub fn push_bool(&mut self, truth: bool) {
        self.slots.push(Slot::Bool(truth));
    }

    /// Appends a whole number.
    #[inline]
    pub fn push_int(&mut self, number: i64) {
        self.slots.push(Slot::Int(number));
    }

    /// Appends a number in binary floating point.
    #[inline]
    pub fn push_double(&mut self, number: f64) {
        self.slots.push(Slot::Double(number));
    }

    /// Appends the bytes of a text.
    #[inline]
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.push_with(|buffer| buffer.extend_from_slice(bytes));
    }

    /// Appends a value in the form that its type has in rows.
    #[inline]
    pub fn push_value(&mut self, value: &Value) {
        match value {
            Value::Null => self.push_null(),
            Value::Bool(truth) => self.push_bool(*truth),
            Value::Int(number) => self.push_int(*number),
            Value::Double(number) => self.push_double(*number),
            Value::Text(text) => self.push_bytes(text.as_bytes()),
            Value::Bytes(bytes) => self.push_bytes(bytes),
            other => self.push_with(|buffer| other.write_text(buffer)),
        }
    }

    /// Appends a text cell that `write` adds to the end of the given buffer; `write` must only append.
    #[inline]
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.position();
        write(&mut self.bytes);
        let end = self.position();
        self.slots.push(Slot::Text { start, end });
    }

    /// As [`Row::push_with`]; if `write` returns false, the cell is NULL and its text is discarded: for text
    /// that may be empty after clean-up.
    pub fn push_or_null(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let start = self.position();
        let is_null = !write(&mut self.bytes);
        if is_null {
            self.bytes.truncate(start as usize);
            self.slots.push(Slot::Null);
        } else {
            let end = self.position();
            self.slots.push(Slot::Text { start, end });
        }
    }

    /// Removes the last cell.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(Slot::Text { start, .. }) = self.slots.pop() {
            self.bytes.truncate(start as usize);
        }
    }

    /// Total length of its texts, in bytes.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The number of cells.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether it has no cells.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// # Panics
    /// If the row has no such cell.
    #[inline]
    pub fn cell(&self, index: usize) -> Cell<'_> {
        self.filled(self.slots[index])
    }

    /// The cells in order.
    #[inline]
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        self.slots.iter().map(|&slot| self.filled(slot))
    }

    #[inline]
    fn filled(&self, slot: Slot) -> Cell<'_> {
        match slot {
            Slot::Null => Cell::Null,
            Slot::Bool(truth) => Cell::Bool(truth),
            Slot::Int(number) => Cell::Int(number),
            Slot::Double(number) => Cell::Double(number),
            Slot::Text { start, end } => Cell::Text(&self.bytes[start as usize..end as usize]),
        }
    }

    #[inline]
    fn position(&self) -> u32 {
        u32::try_from(self.bytes.len()).expect("row sources limit a row to far less than 4 GiB")
    }
}

/// Why a source could not return its next row: what was found, where, and the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// What was expected and what was found.
    pub message: String,
    /// The file that is wrong; empty where there is none.
    pub file: String,
    /// 1-based; 0 for the whole file.
    pub line: u64,
    /// 1-based, in bytes; 0 for the whole line.
    pub column: u64,
    /// How to mend it, where that is known.
    pub hint: Option<String>,
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.file)?;
        if self.line > 0 {
            write!(out, ":{}", self.line)?;
        }
        if self.column > 0 {
            write!(out, ":{}", self.column)?;
        }
        write!(out, ": {}", self.message)
    }
}

impl std::error::Error for SourceError {}

/// A source of rows that fill tables: a generator, or a reader of external files.
pub trait RowSource {
    /// Fills `row` with the next row and returns its table (an index into the loader's list of tables, in
    /// ascending order), or `None` at the end.
    ///
    /// # Errors
    /// If the input is invalid; the source cannot be used further.
    fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError>;

    /// Bytes of input read so far, for progress.
    fn bytes_read(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use super::{Cell, Row};

    #[test]
    fn a_null_cell_leaves_no_text_behind() {
        let mut row = Row::new();
        row.push_or_null(|bytes| {
            bytes.extend_from_slice(b"??");
            false
        });
        row.push_bytes(b"removed");
        row.pop();
        row.push_or_null(|bytes| {
            bytes.extend_from_slice(b"x");
            true
        });
        row.push_int(-3);
        let cells: Vec<_> = row.cells().collect();
        assert_eq!(cells, [Cell::Null, Cell::Text(b"x"), Cell::Int(-3)]);
        let mut scratch = Vec::new();
        let texts: Vec<_> = cells
            .iter()
            .map(|cell| cell.text_in(&mut scratch).map(<[u8]>::to_vec))
            .collect();
        assert_eq!(texts, [None, Some(b"x".to_vec()), Some(b"-3".to_vec())]);
    }
}
