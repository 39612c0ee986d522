//! Takes the result of an expression and its column's type; returns the value in the form of the type, so
//! that every system stores and returns the same value. Half a unit is rounded away from zero, as in SQL's numeric types.
//!
//! Integer types are numbers, decimals have all their digits, a 32-bit number is rounded to 32 bits, a
//! boolean is a boolean. Values that the type cannot store are rejected here: some systems would change them
//! silently.

use assay_values::{Cell, ColumnType, Row};

/// Converts the last cell of `row` to the form of its column's type; an error contains what was expected.
#[inline]
pub(crate) fn fit(column_type: ColumnType, row: &mut Row) -> Result<(), String> {
    match (column_type, row.cell(row.len() - 1)) {
        // Most cells need no change.
        (_, Cell::Null)
        | (ColumnType::BigInt, Cell::Int(_))
        | (ColumnType::Double, Cell::Int(_) | Cell::Double(_))
        | (
            ColumnType::Text | ColumnType::Bytes | ColumnType::Date | ColumnType::Timestamp,
            Cell::Text(_),
        )
        | (ColumnType::Bool, Cell::Bool(_)) => Ok(()),
        (ColumnType::Int, Cell::Int(number)) if i32::try_from(number).is_ok() => Ok(()),
        (ColumnType::Char(most) | ColumnType::Varchar(most), Cell::Text(text))
            if text.len() <= most as usize =>
        {
            Ok(())
        }
        (column_type, cell) => match changed(column_type, cell) {
            Some(Fitted::Unchanged) => Ok(()),
            Some(Fitted::Int(number)) => {
                row.pop();
                row.push_int(number);
                Ok(())
            }
            Some(Fitted::Double(number)) => {
                row.pop();
                row.push_double(number);
                Ok(())
            }
            Some(Fitted::Bool(truth)) => {
                row.pop();
                row.push_bool(truth);
                Ok(())
            }
            Some(Fitted::Text(text)) => {
                row.pop();
                row.push_bytes(&text);
                Ok(())
            }
            None => Err(type_error(column_type, cell)),
        },
    }
}

enum Fitted {
    Unchanged,
    Int(i64),
    Double(f64),
    Bool(bool),
    Text(Vec<u8>),
}

/// The cell in the form of the type; `None` if the type cannot store the value.
fn changed(column_type: ColumnType, cell: Cell<'_>) -> Option<Fitted> {
    match column_type {
        ColumnType::SmallInt => whole(cell)
            .filter(|&number| i16::try_from(number).is_ok())
            .map(Fitted::Int),
        ColumnType::Int => whole(cell)
            .filter(|&number| i32::try_from(number).is_ok())
            .map(Fitted::Int),
        ColumnType::BigInt => whole(cell).map(Fitted::Int),
        ColumnType::Decimal { precision, scale } => {
            written(cell, precision, scale).map(Fitted::Text)
        }
        ColumnType::Float => double(cell).and_then(short).map(Fitted::Double),
        ColumnType::Double => double(cell).map(Fitted::Double),
        ColumnType::Char(most) | ColumnType::Varchar(most) => {
            let mut scratch = Vec::new();
            let text = cell.text_in(&mut scratch)?;
            let characters = String::from_utf8_lossy(text).chars().count();
            match cell {
                _ if characters > most as usize => None,
                Cell::Text(_) => Some(Fitted::Unchanged),
                _ => Some(Fitted::Text(text.to_vec())),
            }
        }
        ColumnType::Text | ColumnType::Bytes => {
            let mut scratch = Vec::new();
            cell.text_in(&mut scratch)
                .map(|text| Fitted::Text(text.to_vec()))
        }
        // Only texts are dates; those are handled before.
        ColumnType::Date | ColumnType::Timestamp => None,
        ColumnType::Bool => truth(cell).map(Fitted::Bool),
        ColumnType::Json => {
            let mut scratch = Vec::new();
            let text = match cell {
                Cell::Bool(truth) => if truth { "true" } else { "false" }.as_bytes(),
                cell => cell.text_in(&mut scratch)?,
            };
            (column_type.accepts(Cell::Text(text))).then(|| Fitted::Text(text.to_vec()))
        }
        ColumnType::Array(_) => column_type.accepts(cell).then_some(Fitted::Unchanged),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the bounds are tested before"
)]
fn whole(cell: Cell<'_>) -> Option<i64> {
    match cell {
        Cell::Int(number) => Some(number),
        Cell::Bool(truth) => Some(truth.into()),
        Cell::Double(number) => {
            (number.fract() == 0.0 && number.abs() < 9.0e18).then_some(number as i64)
        }
        Cell::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
        Cell::Null => None,
    }
}

fn double(cell: Cell<'_>) -> Option<f64> {
    match cell {
        #[expect(clippy::cast_precision_loss, reason = "as every system converts")]
        Cell::Int(number) => Some(number as f64),
        Cell::Double(number) => Some(number),
        Cell::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
        Cell::Bool(_) | Cell::Null => None,
    }
}

/// The number whose shortest text is that of the nearest 32-bit number.
#[expect(clippy::cast_possible_truncation, reason = "the rounding is intended")]
fn short(number: f64) -> Option<f64> {
    let rounded = number as f32;
    let fits = rounded.is_finite() == number.is_finite();
    fits.then(|| rounded.to_string().parse().ok()).flatten()
}

fn truth(cell: Cell<'_>) -> Option<bool> {
    match cell {
        Cell::Bool(truth) => Some(truth),
        Cell::Int(number @ (0 | 1)) => Some(number == 1),
        Cell::Text(text) => match text.to_ascii_lowercase().as_slice() {
            b"t" | b"true" | b"1" => Some(true),
            b"f" | b"false" | b"0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

#[cold]
fn type_error(column_type: ColumnType, cell: Cell<'_>) -> String {
    let mut scratch = Vec::new();
    let text = cell.text_in(&mut scratch).unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let beginning: String = text.chars().take(40).collect();
    let rest = if beginning.len() < text.len() {
        " …"
    } else {
        ""
    };
    format!("expected {column_type}, found {beginning}{rest}")
}

/// Powers of ten that are exact in 64 bits.
const MOST_DIGITS: u32 = 18;

/// The text with exactly `scale` digits after the point; `None` if it is not a number, or has more digits
/// than the type.
pub(crate) fn written(cell: Cell<'_>, precision: u32, scale: u32) -> Option<Vec<u8>> {
    let text = match cell {
        Cell::Int(number) => of_digits(number.unsigned_abs().to_string(), number < 0, 0, scale),
        Cell::Double(number) => of_double(number, scale)?,
        Cell::Text(text) => of_text(text, scale)?,
        Cell::Bool(_) | Cell::Null => return None,
    };
    let whole = text
        .iter()
        .take_while(|&&byte| byte != b'.')
        .filter(|byte| byte.is_ascii_digit());
    let whole = whole.skip_while(|&&digit| digit == b'0').count();
    (whole <= (precision - scale) as usize).then_some(text)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the bounds are tested before"
)]
fn of_double(number: f64, scale: u32) -> Option<Vec<u8>> {
    if !number.is_finite() {
        return None;
    }
    if scale <= MOST_DIGITS {
        let scaled = (number * 10_i64.pow(scale) as f64).round();
        if scaled.abs() < 9.0e15 {
            let units = scaled as i64;
            let digits = units.unsigned_abs().to_string();
            return Some(of_digits(digits, units < 0, scale, scale));
        }
    }
    Some(format!("{number:.*}", scale as usize).into_bytes())
}

/// Takes digits of which `has` are after the point; returns them with `scale` after it.
fn of_digits(mut digits: String, is_negative: bool, has: u32, scale: u32) -> Vec<u8> {
    digits.extend(std::iter::repeat_n('0', (scale - has) as usize));
    let least = scale as usize + 1;
    let missing = least.saturating_sub(digits.len());
    digits.insert_str(0, &"0".repeat(missing));
    if scale > 0 {
        digits.insert(digits.len() - scale as usize, '.');
    }
    if is_negative {
        digits.insert(0, '-');
    }
    digits.into_bytes()
}

fn of_text(text: &[u8], scale: u32) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (digits, is_negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_plain = !whole.is_empty()
        && whole
            .bytes()
            .chain(fraction.bytes())
            .all(|byte| byte.is_ascii_digit());
    match u32::try_from(fraction.len()) {
        Ok(has) if is_plain && has <= scale => Some(of_digits(
            format!("{whole}{fraction}"),
            is_negative,
            has,
            scale,
        )),
        _ => of_double(text.parse().ok()?, scale),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_values::Cell;

    fn fitted(column_type: &str, push: impl FnOnce(&mut Row)) -> Result<String, String> {
        let mut row = Row::new();
        push(&mut row);
        fit(column_type.parse().expect("a type"), &mut row)?;
        Ok(format!("{:?}", row.cell(0)).replace(['[', ']', ' '], ""))
    }

    #[test]
    fn a_value_takes_the_form_of_its_type() {
        let text = |text: &'static str| move |row: &mut Row| row.push_bytes(text.as_bytes());
        #[rustfmt::skip]
        let cases = [
            ("int", fitted("int", |row| row.push_double(3.0)), "Int(3)"),
            ("int", fitted("int", text("007")), "Int(7)"),
            ("bool", fitted("bool", |row| row.push_int(1)), "Bool(true)"),
            ("float", fitted("float", |row| row.push_double(0.1 + 1e-12)), "Double(0.1)"),
            ("char", fitted("char(2)", |row| row.push_int(42)), "Text(52,50)"),
            ("varchar", fitted("varchar(2)", text("éé")), "Text(195,169,195,169)"),
            ("decimal", fitted("decimal(4,1)", |row| row.push_int(5)), "Text(53,46,48)"),
            ("smallint", fitted("smallint", Row::push_null), "Null"),
            ("json", fitted("json", |row| row.push_bool(true)), "Text(116,114,117,101)"),
            ("int[]", fitted("int[]", text("[7]")), "Text(91,55,93)"),
        ];
        for (of, found, expected) in cases {
            assert_eq!(found.as_deref(), Ok(expected), "{of}");
        }
    }

    #[test]
    fn a_value_that_the_type_cannot_store_is_an_error() {
        let cases: [(_, fn(&mut Row), _); 7] = [
            ("smallint", |row| row.push_int(40_000), "40000"),
            ("int", |row| row.push_double(0.5), "0.5"),
            ("char(2)", |row| row.push_bytes(b"abc"), "abc"),
            ("date", |row| row.push_int(3), "3"),
            ("json", |row| row.push_bytes(b"words"), "words"),
            ("int[]", |row| row.push_bytes(b"[0.5]"), "[0.5]"),
            ("decimal(3,1)", |row| row.push_int(100), "100"),
        ];
        for (column_type, push, found) in cases {
            let expected = format!("expected {column_type}, found {found}");
            assert_eq!(fitted(column_type, push), Err(expected));
        }
    }

    #[test]
    fn decimals_have_all_their_digits_and_round_half_away_from_zero() {
        for (cell, scale, expected) in [
            (Cell::Int(-5), 2, Some("-5.00")),
            (Cell::Int(7), 0, Some("7")),
            (Cell::Double(0.125), 2, Some("0.13")),
            (Cell::Double(-0.125), 2, Some("-0.13")),
            (Cell::Double(1234.5), 2, Some("1234.50")),
            (Cell::Double(0.001), 2, Some("0.00")),
            (Cell::Text(b"12.5"), 2, Some("12.50")),
            (Cell::Text(b"12.345"), 2, Some("12.35")),
            (Cell::Text(b"0.3"), 0, Some("0")),
            (Cell::Double(f64::NAN), 2, None),
            (Cell::Text(b"x"), 2, None),
            (Cell::Text(b""), 2, None),
            (Cell::Int(12_345_678), 2, None),
        ] {
            let found = written(cell, 9, scale);
            let found = found.map(|text| String::from_utf8(text).expect("digits"));
            assert_eq!(found.as_deref(), expected, "{cell:?}");
        }
    }
}
