//! Takes the data of a `COPY … FROM STDIN` as a client sends it; returns the number of rows.

use crate::null::{Lines, Tuples};

pub(crate) struct Copy {
    table: String,
    is_simple: bool,
    rows: Rows,
}

enum Rows {
    Text(Lines),
    Binary(Tuples),
}

impl Copy {
    pub(crate) fn new(table: &str, is_binary: bool, is_simple: bool) -> Self {
        Self {
            table: table.to_owned(),
            is_simple,
            rows: if is_binary {
                Rows::Binary(Tuples::default())
            } else {
                Rows::Text(Lines::default())
            },
        }
    }

    /// Whether it belongs to a simple query.
    pub(crate) fn is_simple(&self) -> bool {
        self.is_simple
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        match &mut self.rows {
            Rows::Text(lines) => lines.take(bytes),
            Rows::Binary(tuples) => tuples.take(bytes),
        }
    }

    /// The table and the number of rows.
    pub(crate) fn finish(self) -> (String, u64) {
        let rows = match self.rows {
            Rows::Text(lines) => lines.finish(),
            Rows::Binary(tuples) => tuples.finish(),
        };
        (self.table, rows)
    }
}
