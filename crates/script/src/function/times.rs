//! Takes days or seconds since 1970; appends dates and moments as SQL spells them. No time zones.

use super::Arguments;
use crate::number::{Fault, number, shown};
use assay_values::calendar::{DAY_S, Moment, moment_of};
use assay_values::{Random, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// The years that four digits can spell, as seconds since 1970: 0001-01-01 to 9999-12-31.
const SPELLABLE: std::ops::RangeInclusive<f64> = -62_135_596_800.0..=253_402_300_799.0;

pub(super) fn now(_: Arguments<'_>, _: &mut Random) -> Result<Value, Fault> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map(|since| since.as_secs()).unwrap_or_default();
    Ok(Value::Int(i64::try_from(seconds).unwrap_or(i64::MAX)))
}

/// The moment of so many units of so many seconds; a part of a second is dropped.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the bounds are tested before"
)]
fn moment(value: &Value, unit_s: i64) -> Result<Moment, Fault> {
    #[expect(clippy::cast_precision_loss, reason = "a day has few seconds")]
    let seconds = (number(value)?.double() * unit_s as f64).floor();
    if SPELLABLE.contains(&seconds) {
        Ok(moment_of(seconds as i64))
    } else {
        Err(Fault::of(format!(
            "expected a moment of the years 1 to 9999, found {}",
            shown(value)
        )))
    }
}

pub(super) fn date(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Result<(), Fault> {
    write_day(&moment(&x[0], DAY_S)?, out);
    Ok(())
}

pub(super) fn timestamp(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Result<(), Fault> {
    let at = moment(&x[0], 1)?;
    write_day(&at, out);
    for (mark, number) in [(b' ', at.hour), (b':', at.minute), (b':', at.second)] {
        out.push(mark);
        write_two_digits(number, out);
    }
    Ok(())
}

fn write_day(at: &Moment, out: &mut Vec<u8>) {
    write_two_digits(at.year / 100, out);
    write_two_digits(at.year % 100, out);
    for number in [at.month, at.day] {
        out.push(b'-');
        write_two_digits(number, out);
    }
}

/// By hand, because formatting costs five times as much and every row may have a moment.
fn write_two_digits(number: i64, out: &mut Vec<u8>) {
    let number = u8::try_from(number).expect("parts of moments have two digits");
    out.extend_from_slice(&[b'0' + number / 10, b'0' + number % 10]);
}
