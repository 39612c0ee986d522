//! Takes a seed, a table's name and the ancestors of a row; returns the random stream of that row.
//!
//! Streams depend on the name, so a table's rows stay the same when another table is added or moved. Two rows
//! share a stream only if two hashes of 64 bits collide.

use assay_values::{Random, RowHash};

/// The purpose of a stream.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The values of the table's rows.
    Rows,
    /// How many rows a parent has.
    Count,
}

/// The seed of all streams of a table for one purpose.
pub(crate) fn table_seed(seed: u64, table: &str, purpose: Purpose) -> u64 {
    let mut name = RowHash::default();
    name.cell(Some(table.as_bytes()));
    Random::derived(Random::derived(seed, purpose as u64), name.sum())
}

/// The seed of a row's children; `ancestors` are the row numbers from the root table on.
pub(crate) fn seed_below(table_seed: u64, ancestors: impl Iterator<Item = u64>) -> u64 {
    ancestors.fold(table_seed, Random::derived)
}
