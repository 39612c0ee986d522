//! Takes seconds of the Gregorian calendar; gives dates and weekdays, and the way back.

pub const DAY_S: i64 = 86_400;

/// A moment without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// 0 is Sunday.
    pub weekday: usize,
}

pub const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Seconds from 1970 to the midnight that begins a day; a day beyond the end of its month is one of
/// the next month. Howard Hinnant, "chrono-compatible low-level date algorithms", 2021.
#[must_use]
pub fn seconds_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era - 719_468) * DAY_S
}

/// The moment that lies `seconds` after the beginning of 1970.
///
/// # Panics
/// Never: a remainder of 7 is a weekday.
#[must_use]
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
    /// If the month is none.
    #[must_use]
    pub fn as_date_prints(&self, zone: Option<&str>) -> String {
        const MONTHS: [&str; 12] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
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
    fn weekdays_are_those_of_the_calendar() {
        let moment = moment_of(seconds_of(2011, 3, 4) + 17 * 3600 + 53 * 60 + 38);
        assert_eq!(
            moment.as_date_prints(Some("MST")),
            "Fri Mar 4 17:53:38 MST 2011"
        );
        let moment = moment_of(seconds_of(1969, 7, 20));
        assert_eq!(moment.as_date_prints(None), "Sun Jul 20 00:00:00 1969");
    }
}
