//! Takes what a script expects and the answer; returns nothing if they match, or a message that says how
//! they differ. NULL accepts any answer: it means that the expected answer is not known for this data set.

use crate::expression::number::{
    Fault, Number, number, plain, shown, spelled_number, spelled_truth,
};
use crate::program::{Assertion, Program};
use crate::reply::Reply;
use crate::run::registers::Registers;
use assay_values::Value;

/// Compares the number of rows returned or, if none were returned, of rows changed.
pub(crate) fn rows(expected: &Value, reply: &Reply<'_>) -> Result<Option<String>, Fault> {
    if matches!(expected, Value::Null) {
        return Ok(None);
    }
    let expected = number(expected)?.int()?;
    let found = if reply.rows > 0 { reply.rows } else { reply.affected };
    if u64::try_from(expected) == Ok(found) {
        return Ok(None);
    }
    let changed = if reply.rows == 0 && found > 0 { " changed" } else { "" };
    let rows = |is_single: bool| if is_single { "row" } else { "rows" };
    Ok(Some(format!(
        "expected {expected} {}, found {found} {}{changed}",
        rows(expected == 1),
        rows(found == 1)
    )))
}

/// Compares the first cell of the first row. Numbers are compared as numbers, so that 5 equals 5.00.
pub(crate) fn value(expected: &Value, reply: &Reply<'_>) -> Option<String> {
    let cell = match reply.first_row {
        _ if matches!(expected, Value::Null) => return None,
        None | Some([]) => return Some(format!("expected {}, found no row", shown(expected))),
        Some([None, ..]) => return Some(format!("expected {}, found NULL", shown(expected))),
        Some([Some(cell), ..]) => String::from_utf8_lossy(cell),
    };
    let is_met = match expected {
        Value::Null => true,
        Value::Bool(truth) => spelled_truth(&cell).or(spelled_bit(&cell)) == Some(*truth),
        Value::Int(_) | Value::Double(_) => is_number(expected, &cell),
        other => plain(other) == cell || is_number(expected, &cell),
    };
    (!is_met).then(|| format!("expected {}, found {}", shown(expected), shortened(&cell)))
}

fn is_number(expected: &Value, cell: &str) -> bool {
    let expected = number(expected).ok();
    let found = spelled_number(cell);
    expected
        .zip(found)
        .is_some_and(|(left, right)| left.order(right).is_some_and(std::cmp::Ordering::is_eq))
}

/// Systems without a boolean type return a number.
fn spelled_bit(cell: &str) -> Option<bool> {
    match spelled_number(cell)? {
        Number::Int(0) => Some(false),
        Number::Int(1) => Some(true),
        _ => None,
    }
}

/// The beginning of a cell, for messages.
fn shortened(cell: &str) -> String {
    const MOST: usize = 60;
    match cell.char_indices().nth(MOST) {
        Some((end, _)) => format!("'{}...'", &cell[..end]),
        None => format!("'{cell}'"),
    }
}

/// Compares the statement's error with the expected class.
pub(crate) fn error(expected: &str, reply: &Reply<'_>) -> Option<String> {
    match reply.error {
        None => Some(format!("expected an error of the class {expected}, the statement succeeded")),
        Some((class, _)) if class == expected => None,
        Some((class, message)) => {
            Some(format!("expected an error of the class {expected}, found {class}: {message}"))
        }
    }
}

/// Of a value in a message, in characters.
const LONGEST_SHOWN: usize = 120;

/// What an `\assert` expects, and what its variables hold where it is not met.
pub(crate) fn not_met(assertion: &Assertion, registers: &Registers, program: &Program) -> String {
    let found = assertion.reads.iter().map(|&slot| {
        let name = &program.variable(slot).name;
        let value = registers.read(program, slot);
        let value = value.map_or_else(|_| "not set".into(), shown);
        let cut = match value.chars().nth(LONGEST_SHOWN) {
            Some(_) => format!("{}…", value.chars().take(LONGEST_SHOWN).collect::<String>()),
            None => value.into_owned(),
        };
        format!("{name} = {cut}")
    });
    let found: Vec<String> = found.collect();
    let expected = format!("expected {}", assertion.spelled);
    match found.is_empty() {
        true => expected,
        false => format!("{expected}, found {}", found.join(", ")),
    }
}
