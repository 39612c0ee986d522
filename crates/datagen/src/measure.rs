//! Takes a data set; returns for each table its exact number of rows, their approximate size in bytes, and,
//! if requested, their checksum.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use assay_script::expression::Fault;
use assay_values::{Random, Row, SourceError, Value, row_sum};
use serde::Serialize;

use crate::cursor::Cursor;
use crate::dataset::{Dataset, row_count};
use crate::export::csv_line;
use crate::part::Part;

/// All tables of a data set, as far as its part includes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// The tables in the order of the document.
    pub tables: Vec<TableMeasure>,
}

/// What one table amounts to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableMeasure {
    /// The name of the table.
    pub name: String,
    /// Its number of rows.
    pub rows: u64,
    /// As CSV, estimated from a sample of rows.
    pub bytes: u64,
    /// 16 hexadecimal digits, equal for equal rows in any order; null if not requested.
    pub checksum: Option<String>,
}

/// A sample takes rows at this many places, evenly spread, …
const SAMPLED_PLACES: u64 = 64;
/// … and at most this many at each.
const ROWS_A_PLACE: u64 = 32;
const LOOK_UP_EVERY: Duration = Duration::from_millis(100);

/// Measures all tables that are loaded. A checksum needs all rows, which are generated on all processors; `go_on` gets their
/// number at most ten times a second.
///
/// # Errors
/// If a row cannot be computed. `None` if `go_on` broke.
pub fn measure(
    dataset: &Dataset,
    with_checksums: bool,
    go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Measure>, SourceError> {
    let mut tables = Vec::new();
    for (index, name) in dataset.names().enumerate() {
        if !dataset.tables[index].is_loaded {
            continue;
        }
        let rows = dataset.count(index, dataset.part)?;
        let bytes = sampled_bytes(dataset, index, rows)?;
        let checksum = if with_checksums {
            match checksum(dataset, index, go_on)? {
                Some(sum) => Some(format!("{sum:016x}")),
                None => return Ok(None),
            }
        } else {
            None
        };
        tables.push(TableMeasure {
            name: name.to_owned(),
            rows,
            bytes,
            checksum,
        });
    }
    Ok(Some(Measure { tables }))
}

fn sampled_bytes(dataset: &Dataset, table: usize, rows: u64) -> Result<u64, SourceError> {
    let roots = dataset.roots(table, dataset.part);
    let count = roots.end - roots.start;
    let places = count.min(SAMPLED_PLACES);
    let (mut row, mut lines, mut sampled) = (Row::new(), Vec::new(), 0_u64);
    let mut bytes = 0_u64;
    for place in 0..places {
        let offset = u128::from(count) * u128::from(place) / u128::from(places);
        let at = roots.start + u64::try_from(offset).expect("below the count");
        let mut cursor = Cursor::new(dataset, table, at..at + 1);
        for _ in 0..ROWS_A_PLACE {
            if !cursor.advance(dataset)? {
                break;
            }
            cursor.write(dataset, &mut row)?;
            csv_line(&row, &mut lines);
            bytes += lines.len() as u64;
            lines.clear();
            sampled += 1;
        }
    }
    let estimate = u128::from(bytes) * u128::from(rows) / u128::from(sampled.max(1));
    Ok(u64::try_from(estimate).unwrap_or(u64::MAX))
}

/// The sum over all rows of the table; `None` if `go_on` broke.
fn checksum(
    dataset: &Dataset,
    table: usize,
    go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<u64>, SourceError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = u32::try_from(threads).unwrap_or(1);
    let (is_cancelled, generated) = (AtomicBool::new(false), AtomicU64::new(0));
    let (is_cancelled, generated) = (&is_cancelled, &generated);
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel();
        let parts = dataset.part.divided(threads);
        let threads_of_parts: Vec<_> = parts
            .map(|part| {
                let ended = ended.clone();
                scope.spawn(move || {
                    let cursor = Cursor::new(dataset, table, dataset.roots(table, part));
                    let sum = sum_of(dataset, table, cursor, is_cancelled, generated);
                    if sum.is_err() {
                        is_cancelled.store(true, Ordering::Relaxed);
                    }
                    // Fails if another part has failed: then nothing receives it.
                    let _ = ended.send(());
                    sum
                })
            })
            .collect();
        drop(ended);
        loop {
            match end.recv_timeout(LOOK_UP_EVERY) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => {
                    if go_on(generated.load(Ordering::Relaxed)).is_break() {
                        is_cancelled.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let mut total = 0_u64;
        for thread in threads_of_parts {
            total = total.wrapping_add(thread.join().expect("a sum does not panic")?);
        }
        let is_cancelled = is_cancelled.load(Ordering::Relaxed);
        Ok((!is_cancelled).then_some(total))
    })
}

fn sum_of(
    dataset: &Dataset,
    table: usize,
    mut cursor: Cursor,
    is_cancelled: &AtomicBool,
    generated: &AtomicU64,
) -> Result<u64, SourceError> {
    let types = dataset.tables[table].types();
    let (mut row, mut scratch, mut sum, mut rows) = (Row::new(), Vec::new(), 0_u64, 0_u64);
    while cursor.advance(dataset)? {
        cursor.write(dataset, &mut row)?;
        sum = sum.wrapping_add(row_sum(&row, &types, &mut scratch));
        rows += 1;
        if rows.is_multiple_of(1024) {
            generated.fetch_add(1024, Ordering::Relaxed);
            if is_cancelled.load(Ordering::Relaxed) {
                break;
            }
        }
    }
    Ok(sum)
}

impl Dataset {
    /// How many rows of the table are in the part. If the number of children varies, it is computed for every
    /// parent row, without the row's other values.
    ///
    /// # Errors
    /// If a number of rows cannot be computed.
    pub fn count(&self, table: usize, part: Part) -> Result<u64, SourceError> {
        let compiled = &self.tables[table];
        let Some(parent) = compiled.parent else {
            let range = part.range(compiled.total);
            return Ok(range.end - range.start);
        };
        if !compiled.has_constant_count() {
            return Cursor::new(self, table, self.roots(table, part)).count(self);
        }
        let each = compiled
            .rows
            .evaluate(
                &vec![Value::Null; compiled.slots()],
                &mut Random::stream(0, 0),
            )
            .map_err(|Fault(message)| message.into_owned())
            .and_then(|value| row_count(&value))
            .map_err(|message| {
                let what = format!("the rows of {}", compiled.name);
                self.error_at(compiled.rows_line, &what, &message)
            })?;
        Ok(self.count(parent, part)? * each)
    }
}
