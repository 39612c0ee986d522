//! Converts seconds since 1970 to dates and weekdays of the Gregorian calendar, and back.

/// The seconds of a day.
pub const DAY_S: i64 = 86_400;

/// A date and time without a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The year of the Gregorian calendar.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
    /// The hour, from 0.
    pub hour: i64,
    /// The minute, from 0.
    pub minute: i64,
    /// The second, from 0.
    pub second: i64,
    /// 0 is Sunday.
    pub weekday: usize,
}

/// The days of a week that begins on Sunday, as they are abbreviated.
pub const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Seconds from 1970 to the start of a day; a day beyond the end of its month falls into the next month.
/// Howard Hinnant, "chrono-compatible low-level date algorithms", 2021.
pub fn seconds_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era - 719_468) * DAY_S
}

/// The date and time `seconds` after the start of 1970.
///
/// # Panics
/// Never: a remainder of 7 is a weekday.
pub fn moment_of(seconds: i64) -> Moment {
    let days = seconds.div_euclid(DAY_S);
    let rest = seconds.rem_euclid(DAY_S);
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    Moment {
        year: year_of_era + era * 400 + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
        weekday: usize::try_from((days + 4).rem_euclid(7)).expect("a remainder of 7"),
    }
}

impl Moment {
    /// `Fri Mar 4 17:53:38 MST 2011`, as the `date` program prints it.
    ///
    /// # Panics
    /// If the month is not 1 to 12.
    pub fn as_date_prints(&self, zone: Option<&str>) -> String {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let month = MONTHS[usize::try_from(self.month - 1).expect("1 to 12")];
        let Self {
            year,
            day,
            hour,
            minute,
            second,
            weekday,
            ..
        } = *self;
        let weekday = WEEKDAYS[weekday];
        match zone {
            Some(zone) => {
                format!("{weekday} {month} {day} {hour:02}:{minute:02}:{second:02} {zone} {year}")
            }
            None => format!("{weekday} {month} {day} {hour:02}:{minute:02}:{second:02} {year}"),
        }
    }
}

const DAY_US: i64 = DAY_S * 1_000_000;

/// Appends `2011-03-04` for days since 1970. Years outside 0 to 9999 have as many digits as they need.
pub fn write_date(days: i32, out: &mut Vec<u8>) {
    write_day(&moment_of(i64::from(days) * DAY_S), out);
}

/// Appends `17:53:38` for microseconds since midnight, with a fraction if there is one.
pub fn write_time(us: i64, out: &mut Vec<u8>) {
    let us = us.rem_euclid(DAY_US);
    let seconds = us / 1_000_000;
    write_two_digits(seconds / 3600, out);
    for number in [seconds / 60 % 60, seconds % 60] {
        out.push(b':');
        write_two_digits(number, out);
    }
    let mut fraction = us % 1_000_000;
    if fraction > 0 {
        out.push(b'.');
    }
    let mut unit = 100_000;
    while fraction > 0 {
        out.push(b'0' + u8::try_from(fraction / unit).expect("a digit"));
        fraction %= unit;
        unit /= 10;
    }
}

/// Appends `2011-03-04 17:53:38` for microseconds since the start of 1970.
pub fn write_timestamp(us: i64, out: &mut Vec<u8>) {
    write_day(&moment_of(us.div_euclid(1_000_000)), out);
    out.push(b' ');
    write_time(us, out);
}

/// Appends the date of a moment.
pub fn write_day(at: &Moment, out: &mut Vec<u8>) {
    if (0..=9999).contains(&at.year) {
        write_two_digits(at.year / 100, out);
        write_two_digits(at.year % 100, out);
    } else {
        out.extend_from_slice(at.year.to_string().as_bytes());
    }
    for number in [at.month, at.day] {
        out.push(b'-');
        write_two_digits(number, out);
    }
}

/// Written by hand, because formatting takes five times as long and every row may have a timestamp.
pub fn write_two_digits(number: i64, out: &mut Vec<u8>) {
    let number = u8::try_from(number).unwrap_or(99);
    out.extend_from_slice(&[b'0' + number / 10 % 10, b'0' + number % 10]);
}

/// Parses `YYYY-MM-DD` to days since 1970; `None` if the text is not a valid date.
pub fn parse_date(text: &[u8]) -> Option<i32> {
    i32::try_from(midnight(text)? / DAY_S).ok()
}

/// Parses `HH:MM:SS`, with an optional fraction of up to six digits, to microseconds since midnight.
pub fn parse_time(text: &[u8]) -> Option<i64> {
    let (clock, fraction) = text.split_at_checked(8)?;
    let [h, hh, b':', m, mm, b':', s, ss] = *clock else {
        return None;
    };
    let (hour, minute, second) = (digits(&[h, hh])?, digits(&[m, mm])?, digits(&[s, ss])?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut us = (hour * 3600 + minute * 60 + second) * 1_000_000;
    if let [b'.', behind @ ..] = fraction {
        let places = u32::try_from(behind.len())
            .ok()
            .filter(|&places| places <= 6)?;
        us += digits(behind)? * 10_i64.pow(6 - places);
    } else if !fraction.is_empty() {
        return None;
    }
    Some(us)
}

/// Parses `YYYY-MM-DD`, with an optional time after a space or a `T`, to microseconds since 1970.
pub fn parse_timestamp(text: &[u8]) -> Option<i64> {
    let (date, time) = text.split_at_checked(10)?;
    let us = midnight(date)? * 1_000_000;
    match time {
        [] => Some(us),
        [b' ' | b'T', time @ ..] => Some(us + parse_time(time)?),
        _ => None,
    }
}

/// Seconds from 1970 to the start of the day.
fn midnight(text: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else {
        return None;
    };
    let year = digits(&[y1, y2, y3, y4])?;
    let (month, day) = (digits(&[m1, m2])?, digits(&[d1, d2])?);
    if year == 0 || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let next = match month {
        12 => seconds_of(year + 1, 1, 1),
        _ => seconds_of(year, month + 1, 1),
    };
    let midnight = seconds_of(year, month, day);
    (midnight < next).then_some(midnight)
}

fn digits(text: &[u8]) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0, |number, digit| {
        digit
            .is_ascii_digit()
            .then(|| number * 10 + i64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_moments_agree() {
        assert_eq!(seconds_of(1970, 1, 1), 0);
        assert_eq!(seconds_of(2000, 2, 30), seconds_of(2000, 3, 1));
        for day in -200_000..200_000 {
            let moment = moment_of(day * DAY_S + 1);
            assert_eq!(
                seconds_of(moment.year, moment.month, moment.day),
                day * DAY_S
            );
        }
    }

    #[test]
    fn weekdays_follow_the_calendar() {
        let moment = moment_of(seconds_of(2011, 3, 4) + 17 * 3600 + 53 * 60 + 38);
        assert_eq!(
            moment.as_date_prints(Some("MST")),
            "Fri Mar 4 17:53:38 MST 2011"
        );
        let moment = moment_of(seconds_of(1969, 7, 20));
        assert_eq!(moment.as_date_prints(None), "Sun Jul 20 00:00:00 1969");
    }

    #[test]
    fn dates_and_times_are_parsed_as_they_are_written() {
        assert_eq!(parse_date(b"2000-01-01"), Some(10_957));
        assert_eq!(parse_date(b"2024-02-29"), Some(19_782));
        assert_eq!(parse_timestamp(b"1970-01-01 00:00:01.5"), Some(1_500_000));
        assert_eq!(parse_timestamp(b"1970-01-02T00:00:00"), Some(DAY_US));
        assert_eq!(parse_timestamp(b"1969-12-31"), Some(-DAY_US));
        for us in [0, -1, 1_234_567_890_123_456, -86_399_000_000] {
            let mut text = Vec::new();
            write_timestamp(us, &mut text);
            assert_eq!(parse_timestamp(&text), Some(us), "{}", text.escape_ascii());
        }
        for text in
            ["2023-02-29", "2023-13-01", "2023-00-10", "2023-1-1", "0000-01-01", "20230101", ""]
        {
            assert_eq!(parse_date(text.as_bytes()), None, "{text}");
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
            assert_eq!(parse_timestamp(text.as_bytes()), None, "{text}");
        }
    }
}
