//! Takes a value that is neither a number nor text; appends its bytes as a parameter of an execution.

use crate::mysql::shared::scan::{write_length, write_text};
use assay_values::Value;
use assay_values::calendar::{DAY_S, moment_of};

const SECOND_US: i64 = 1_000_000;

pub(crate) fn write_typed(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Bytes(bytes) => write_text(out, bytes),
        Value::Date(days) => {
            out.push(4);
            write_day(i64::from(*days) * DAY_S, out);
        }
        Value::Timestamp(us) => {
            let (seconds, fraction) = (us.div_euclid(SECOND_US), us.rem_euclid(SECOND_US));
            out.push(if fraction == 0 { 7 } else { 11 });
            write_day(seconds, out);
            write_clock(seconds.rem_euclid(DAY_S), fraction, out);
        }
        Value::Time(us) => {
            let us = us.rem_euclid(DAY_S * SECOND_US);
            let (seconds, fraction) = (us / SECOND_US, us % SECOND_US);
            out.push(if fraction == 0 { 8 } else { 12 });
            out.extend_from_slice(&[0; 5]); // not negative, no days
            write_clock(seconds, fraction, out);
        }
        decimal_or_text => {
            // The length prefix of a short text is one byte, filled in after writing.
            let start = out.len();
            out.push(0);
            decimal_or_text.write_text(out);
            match u8::try_from(out.len() - start - 1) {
                Ok(length @ ..=250) => out[start] = length,
                _ => {
                    let mut length = Vec::new();
                    write_length(&mut length, out.len() - start - 1);
                    out.splice(start..=start, length);
                }
            }
        }
    }
}

/// Year, month and day of a time in seconds since 1970.
fn write_day(seconds: i64, out: &mut Vec<u8>) {
    let at = moment_of(seconds);
    let byte = |number: i64| u8::try_from(number).unwrap_or(0);
    // The types end with the year 9999.
    out.extend_from_slice(&u16::try_from(at.year).unwrap_or(0).to_le_bytes());
    out.extend_from_slice(&[byte(at.month), byte(at.day)]);
}

fn write_clock(seconds: i64, fraction_us: i64, out: &mut Vec<u8>) {
    let byte = |number: i64| u8::try_from(number).unwrap_or(0);
    out.extend_from_slice(&[
        byte(seconds / 3600),
        byte(seconds / 60 % 60),
        byte(seconds % 60),
    ]);
    if fraction_us > 0 {
        out.extend_from_slice(&u32::try_from(fraction_us).unwrap_or(0).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::write_typed;
    use assay_values::{Decimal, Value};

    #[test]
    fn dates_and_times_omit_trailing_zeros() {
        let decimal = Decimal::parse("-1.50")
            .map(Value::Decimal)
            .expect("it is one");
        for (value, expected) in [
            (Value::Date(19_782), &[4, 0xE8, 7, 2, 29][..]),
            (
                Value::Timestamp(-1_000_000),
                &[7, 0xB1, 7, 12, 31, 23, 59, 59],
            ),
            (
                Value::Timestamp(500_000),
                &[11, 0xB2, 7, 1, 1, 0, 0, 0, 0x20, 0xA1, 7, 0],
            ),
            (Value::Time(3_723_000_000), &[8, 0, 0, 0, 0, 0, 1, 2, 3]),
            (decimal, b"\x05-1.50"),
            (Value::Bytes([1, 2].into()), &[2, 1, 2]),
        ] {
            let mut out = Vec::new();
            write_typed(&value, &mut out);
            assert_eq!(out, expected, "{value:?}");
        }
    }
}
