//! Takes a seed, a table's name and the way to a row; gives the random stream of that row.
//!
//! Streams go by name, so a table's rows stay what they are when another table is added or moved. Two rows
//! share a stream only where two numbers of 64 bits that should differ happen to be equal.

use assay_values::{Random, RowHash};

/// What a table's streams are for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The values of its rows.
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

/// The seed under which a row's children are numbered: `ancestors` are the rows on the way, from the first
/// table on.
pub(crate) fn seed_below(table_seed: u64, ancestors: impl Iterator<Item = u64>) -> u64 {
    ancestors.fold(table_seed, Random::derived)
}
