//! Takes dates and timestamps as texts; gives the numbers that stand for them in binary.

use assay_values::calendar::{DAY_S, seconds_of};

/// The server counts from the beginning of the year 2000.
fn seconds_since_2000(year: i64, month: i64, day: i64) -> i64 {
    seconds_of(year, month, day) - seconds_of(2000, 1, 1)
}

/// Days since 2000 of `YYYY-MM-DD`; `None` where the text is no such date.
pub(super) fn days(text: &[u8]) -> Option<i32> {
    i32::try_from(midnight(text)? / DAY_S).ok()
}

/// Microseconds since 2000 of `YYYY-MM-DD`, `YYYY-MM-DD HH:MM:SS` or the same with a fraction of up to
/// six digits; a `T` may stand for the space.
pub(super) fn microseconds(text: &[u8]) -> Option<i64> {
    let (date, time) = text.split_at_checked(10)?;
    let mut seconds = midnight(date)?;
    let mut microseconds = 0;
    if let [b' ' | b'T', time @ ..] = time {
        let (clock, fraction) = time.split_at_checked(8)?;
        let [h, hh, b':', m, mm, b':', s, ss] = *clock else {
            return None;
        };
        let (hour, minute, second) = (number(&[h, hh])?, number(&[m, mm])?, number(&[s, ss])?);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        seconds += hour * 3600 + minute * 60 + second;
        if let [b'.', digits @ ..] = fraction {
            let places = u32::try_from(digits.len())
                .ok()
                .filter(|&places| places <= 6)?;
            microseconds = number(digits)? * 10_i64.pow(6 - places);
        } else if !fraction.is_empty() {
            return None;
        }
    } else if !time.is_empty() {
        return None;
    }
    Some(seconds * 1_000_000 + microseconds)
}

/// Seconds from 2000 to the midnight that begins the day.
fn midnight(text: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else {
        return None;
    };
    let year = number(&[y1, y2, y3, y4])?;
    let (month, day) = (number(&[m1, m2])?, number(&[d1, d2])?);
    let next = |month| match month {
        12 => seconds_since_2000(year + 1, 1, 1),
        _ => seconds_since_2000(year, month + 1, 1),
    };
    if year == 0 || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let midnight = seconds_since_2000(year, month, day);
    (midnight < next(month)).then_some(midnight)
}

fn number(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0, |number, digit| {
        digit
            .is_ascii_digit()
            .then(|| number * 10 + i64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::{days, microseconds};

    #[test]
    fn dates_are_days_and_timestamps_microseconds_since_2000() {
        assert_eq!(days(b"2000-01-01"), Some(0));
        assert_eq!(days(b"1999-12-31"), Some(-1));
        assert_eq!(days(b"2024-02-29"), Some(8825));
        assert_eq!(microseconds(b"2000-01-01 00:00:01.5"), Some(1_500_000));
        assert_eq!(microseconds(b"2000-01-02T00:00:00"), Some(86_400_000_000));
        assert_eq!(microseconds(b"2000-01-02"), Some(86_400_000_000));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "2023-02-29",
            "2023-13-01",
            "2023-00-10",
            "2023-1-1",
            "0000-01-01",
            "20230101",
            "",
        ] {
            assert_eq!(days(text.as_bytes()), None, "{text}");
        }
        for text in [
            "2000-01-01 24:00:00",
            "2000-01-01 00:60:00",
            "2000-01-01 00:00",
            "2000-01-01 00:00:00.",
            "2000-01-01 00:00:00.1234567",
            "2000-01-01 00:00:00+02",
            "2000-01-01x",
        ] {
            assert_eq!(microseconds(text.as_bytes()), None, "{text}");
        }
    }
}
