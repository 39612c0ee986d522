//! Takes an interval; appends its text as PostgreSQL prints it: `1 year 2 mons -3 days 04:05:06.5`.

use std::io::Write as _;

use assay_values::calendar::write_time;

use crate::duckdb::interface::RawInterval;

const DAY_US: u64 = 86_400_000_000;

pub(super) fn write(interval: RawInterval, out: &mut Vec<u8>) {
    let start = out.len();
    let parts = [
        (interval.months / 12, "year"),
        (interval.months % 12, "mon"),
        (interval.days, "day"),
    ];
    for (number, unit) in parts {
        if number != 0 {
            let plural = if number == 1 { "" } else { "s" };
            write!(out, "{number} {unit}{plural} ").expect("writing to memory is infallible");
        }
    }
    if interval.us == 0 && out.len() > start {
        out.pop();
        return;
    }
    if interval.us < 0 {
        out.push(b'-');
    }
    let us = interval.us.unsigned_abs();
    let hours = us / (DAY_US / 24);
    if hours < 24 {
        return write_time(us.cast_signed(), out);
    }
    write!(out, "{hours}").expect("writing to memory is infallible");
    let clock = out.len();
    write_time((us % (DAY_US / 24)).cast_signed(), out);
    out.drain(clock..clock + 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_printed_as_postgresql_prints_it() {
        for (months, days, us, expected) in [
            (0, 0, 0, "00:00:00"),
            (14, 3, 0, "1 year 2 mons 3 days"),
            (-1, 1, 14_706_500_000, "-1 mons 1 day 04:05:06.5"),
            (0, 0, -1_000_000, "-00:00:01"),
            (0, 0, 360_061_000_000, "100:01:01"),
        ] {
            let mut out = Vec::new();
            write(RawInterval { months, days, us }, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}
