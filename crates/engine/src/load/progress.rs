//! What is told of a load while it goes on, and at its end.

use std::cell::Cell;
use std::time::Instant;

use serde::Serialize;

use crate::document::LoadDocument;

/// How far a load is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadProgress {
    /// The table whose rows travel now.
    pub table: String,
    /// Rows of all tables so far.
    pub rows: u64,
    /// Of the source's input.
    pub bytes_read: u64,
    pub bytes_sent: u64,
    pub elapsed_s: f64,
}

/// What a load has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadReport {
    /// In the document's order, also those that got no row.
    pub tables: Vec<TableReport>,
    /// From the first statement before to the last one after; connecting is left out.
    pub elapsed_ns: u64,
    /// In bulk messages; 0 for a library in this process.
    pub bytes_sent: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableReport {
    pub name: String,
    /// Rows sent.
    pub rows: u64,
    /// Rows that the system says it took.
    pub affected: u64,
}

/// The counters behind both. The loader writes them while the progress closure reads them.
pub(super) struct Gauge<'a> {
    document: &'a LoadDocument,
    started: Instant,
    /// None before the first.
    table: Cell<Option<usize>>,
    rows: Vec<Cell<u64>>,
    affected: Vec<Cell<u64>>,
    bytes_read: Cell<u64>,
    bytes_sent: Cell<u64>,
}

impl<'a> Gauge<'a> {
    pub(super) fn new(document: &'a LoadDocument) -> Self {
        let zeros = || document.tables.iter().map(|_| Cell::new(0)).collect();
        Self {
            document,
            started: Instant::now(),
            table: Cell::new(None),
            rows: zeros(),
            affected: zeros(),
            bytes_read: Cell::new(0),
            bytes_sent: Cell::new(0),
        }
    }

    pub(super) fn begin(&self, table: usize) {
        self.table.set(Some(table));
    }

    /// Counts a row of the table under way; gives its number, from 1.
    #[inline]
    pub(super) fn count_row(&self) -> u64 {
        let rows = &self.rows[self.table.get().expect("a table was begun before its rows")];
        rows.set(rows.get() + 1);
        rows.get()
    }

    pub(super) fn count_bytes(&self, read: u64, sent: u64) {
        self.bytes_read.set(read);
        self.bytes_sent.set(sent);
    }

    /// Ends the table under way, of which the system says that it took so many rows.
    pub(super) fn end(&self, affected: u64) {
        if let Some(table) = self.table.get() {
            // A source may come back to a table only by mistake, but counts must hold even then.
            self.affected[table].set(self.affected[table].get() + affected);
        }
    }

    /// The table under way and the rows sent for it, in words.
    pub(super) fn under_way(&self) -> String {
        match self.table.get() {
            Some(table) => {
                let (name, rows) = (&self.document.tables[table].name, self.rows[table].get());
                format!("loading the table {name}, after {rows} of its rows")
            }
            None => "loading".to_owned(),
        }
    }

    pub(super) fn progress(&self) -> LoadProgress {
        LoadProgress {
            table: (self.table.get())
                .map(|table| self.document.tables[table].name.clone())
                .unwrap_or_default(),
            rows: self.rows.iter().map(Cell::get).sum(),
            bytes_read: self.bytes_read.get(),
            bytes_sent: self.bytes_sent.get(),
            elapsed_s: self.started.elapsed().as_secs_f64(),
        }
    }

    pub(super) fn report(&self, elapsed_ns: u64) -> LoadReport {
        let tables = self
            .document
            .tables
            .iter()
            .zip(&self.rows)
            .zip(&self.affected);
        LoadReport {
            tables: tables
                .map(|((table, rows), affected)| TableReport {
                    name: table.name.clone(),
                    rows: rows.get(),
                    affected: affected.get(),
                })
                .collect(),
            elapsed_ns,
            bytes_sent: self.bytes_sent.get(),
        }
    }
}
