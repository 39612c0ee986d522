//! Takes a date as the `date` program prints it; returns a timestamp whose text sorts by time.

/// The parts of a valid `bibdate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bibdate<'t> {
    pub(crate) year: u32,
    /// 1 to 12.
    pub(crate) month: u32,
    pub(crate) day: u32,
    /// `hh:mm:ss`.
    pub(crate) time: &'t str,
    pub(crate) zone: Option<&'t str>,
}

pub(crate) const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The number of the month whose first three letters, in lower case, are `name`.
pub(crate) fn month_number(name: &[u8]) -> Option<u32> {
    (1..)
        .zip(MONTHS)
        .find(|(_, month)| month.as_bytes() == name)
        .map(|(number, _)| number)
}

impl<'t> Bibdate<'t> {
    /// Reads `Fri Mar 4 17:53:38 MST 2011`, or the same without the zone.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let mut words = [""; 6];
        let mut count = 0;
        for word in text.split_ascii_whitespace() {
            *words.get_mut(count)? = word;
            count += 1;
        }
        let (zone, year) = match count {
            6 => (Some(words[4]), words[5]),
            5 => (None, words[4]),
            _ => return None,
        };
        let is_time = |text: &str| {
            text.len() == 8
                && text.bytes().enumerate().all(|(at, byte)| match at {
                    2 | 5 => byte == b':',
                    _ => byte.is_ascii_digit(),
                })
        };
        let is_weekday = words[0].len() == 3 && words[0].bytes().all(|b| b.is_ascii_alphabetic());
        if !is_weekday || !is_time(words[3]) || words[1].len() != 3 || year.len() != 4 {
            return None;
        }
        let mut name = [0; 3];
        name.copy_from_slice(words[1].as_bytes());
        name.make_ascii_lowercase();
        let day = number(words[2]).filter(|day| (1..=31).contains(day))?;
        Some(Self {
            year: number(year)?,
            month: month_number(&name)?,
            day,
            time: words[3],
            zone,
        })
    }

    /// Appends `2011.03.04 17:53:38 MST`; an unknown time zone is `???`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let digit = |number: u32| b'0' + u8::try_from(number % 10).expect("a remainder of 10");
        let Self {
            year, month, day, ..
        } = *self;
        out.extend([
            digit(year / 1000),
            digit(year / 100),
            digit(year / 10),
            digit(year),
            b'.',
        ]);
        out.extend([
            digit(month / 10),
            digit(month),
            b'.',
            digit(day / 10),
            digit(day),
            b' ',
        ]);
        out.extend_from_slice(self.time.as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.zone.unwrap_or("???").as_bytes());
    }
}

fn number(text: &str) -> Option<u32> {
    let is_number = text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_dates_become_timestamps() {
        let table = [
            (
                "Fri Mar 4 17:53:38 MST 2011",
                Some("2011.03.04 17:53:38 MST"),
            ),
            ("Fri Oct 23 16:59:25 2009", Some("2009.10.23 16:59:25 ???")),
            (
                "Fri  Mar  4  17:53:38  2011",
                Some("2011.03.04 17:53:38 ???"),
            ),
            ("Sun Mar 10 1996", None),
            ("12 August 2014", None),
            ("Sat Aug 27 10:53:25 1994n", None),
            ("Fri Mar 4 17:53:38 MST US 2011", None),
            ("Fri Foo 4 17:53:38 MST 2011", None),
            ("Fri Mar 32 17:53:38 2011", None),
            ("Fri Mar 4 17.53.38 2011", None),
            ("", None),
        ];
        for (text, expected) in table {
            let stamp = Bibdate::parse(text).map(|date| {
                let mut out = Vec::new();
                date.write(&mut out);
                String::from_utf8(out).expect("made of texts")
            });
            assert_eq!(stamp.as_deref(), expected, "{text}");
        }
    }
}
