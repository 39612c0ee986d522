//! Takes a number of days or seconds since 1970; returns it if its year is within 0001 to 9999.

use crate::number::{Fault, number, shown};
use assay_values::Value;
use assay_values::calendar::{DAY_S, Moment, moment_of, seconds_of};

/// The supported range as seconds since 1970: 0001-01-01 to 9999-12-31.
const SPELLABLE: std::ops::RangeInclusive<f64> = -62_135_596_800.0..=253_402_300_799.0;

/// The moment `value` units of `unit_s` seconds after 1970; a fraction of a second is dropped.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the bounds are checked before"
)]
fn moment(value: &Value, unit_s: i64) -> Result<Moment, Fault> {
    #[expect(clippy::cast_precision_loss, reason = "a day has few seconds")]
    let seconds = (number(value)?.double() * unit_s as f64).floor();
    if SPELLABLE.contains(&seconds) {
        Ok(moment_of(seconds as i64))
    } else {
        Err(Fault::of(format!(
            "expected a date or time of the years 1 to 9999, found {}",
            shown(value)
        )))
    }
}

/// Days since 1970, within the supported range.
pub(super) fn day(value: &Value) -> Result<i32, Fault> {
    let at = moment(value, DAY_S)?;
    Ok(i32::try_from(seconds_of(at.year, at.month, at.day) / DAY_S).expect("4 digits of years"))
}

/// Seconds since 1970, within the supported range.
pub(super) fn second(value: &Value) -> Result<i64, Fault> {
    let at = moment(value, 1)?;
    let midnight = seconds_of(at.year, at.month, at.day);
    Ok(midnight + at.hour * 3600 + at.minute * 60 + at.second)
}
