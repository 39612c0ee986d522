//! Takes the values of a statement, and the columns that it was prepared for; appends them as the protocol sends
//! them.

use std::borrow::Cow;

use super::bind_value;
use super::bound::{Bound, write_text};
use super::cql_type::Column;
use crate::{ErrorClass, SystemError};

/// Appends the number of values, then each.
///
/// # Errors
/// Where there are more or fewer than the statement has, or one cannot become the type of its column.
#[inline]
pub(super) fn write_all<'a>(
    columns: &[Column],
    values: impl ExactSizeIterator<Item = Bound<'a>>,
    out: &mut Vec<u8>,
) -> Result<(), SystemError> {
    if values.len() != columns.len() {
        return Err(wrong_count(columns.len(), values.len()));
    }
    // The server never names more columns than this: it counts them in two bytes as well.
    let count = u16::try_from(columns.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&count.to_be_bytes());
    for (number, (column, value)) in columns.iter().zip(values).enumerate() {
        bind_value::write(&column.kind, value, out)
            .ok_or_else(|| mismatch(number, column, value))?;
    }
    Ok(())
}

#[cold]
fn wrong_count(expected: usize, found: usize) -> SystemError {
    let message = format!("the statement has {expected} values, {found} were given");
    SystemError::new(ErrorClass::Data, "", message)
}

#[cold]
fn mismatch(number: usize, column: &Column, value: Bound<'_>) -> SystemError {
    const MAX_SHOWN: usize = 60;
    let mut text = Vec::new();
    write_text(value, &mut text);
    let mut shown: Cow<'_, str> = String::from_utf8_lossy(&text);
    if shown.chars().count() > MAX_SHOWN {
        let start: String = shown.chars().take(MAX_SHOWN).collect();
        shown = Cow::Owned(start + "…");
    }
    let message = format!(
        "value {} ({}): expected {}, found {shown:?}",
        number + 1,
        column.name,
        column.kind.name(),
    );
    SystemError::new(ErrorClass::Data, "", message)
}
