//! The tables of a null deployment: their names and numbers of rows.

use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Tables(HashMap<String, u64>);

impl Tables {
    /// The number of rows of a table, if it exists.
    pub(super) fn rows(&self, table: &str) -> Option<u64> {
        self.0.get(table).copied()
    }

    pub(super) fn add(&mut self, table: String, rows: u64) {
        *self.0.entry(table).or_default() += rows;
    }

    /// Adds rows to a table if it exists.
    pub(super) fn extend(&mut self, table: &str, rows: u64) {
        if let Some(known) = self.0.get_mut(table) {
            *known += rows;
        }
    }

    pub(super) fn make(&mut self, table: &str) {
        self.0.insert(table.into(), 0);
    }

    pub(super) fn remove(&mut self, table: &str) {
        self.0.remove(table);
    }

    /// Removes all rows; returns how many there were.
    pub(super) fn empty(&mut self, table: &str) -> u64 {
        self.0
            .get_mut(table)
            .map(std::mem::take)
            .unwrap_or_default()
    }
}
