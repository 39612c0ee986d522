//! Takes a date as the `date` program prints it; returns a timestamp whose text sorts by time.
//! Takes the text of a `month` field; returns the number of the month, and the days it names.
//!
//! BibTeX's manual writes a day as `month = "10~" # jan`, bibclean as `jan # " 10"`; both are accepted, and
//! so are ranges of days (`"20--28~" # mar`), several months, of which the first counts
//! (`"1~" # feb # "/" # mar`), full names (`{September 15}`) and a number alone (`7`). One form is
//! not accepted: a day joined to a macro with a blank instead of a tie (`"31 " # aug`). The sanity
//! check of months reports it as unknown.

use std::ops::Range;

use crate::columns::{Fields, MONTH};
use crate::entry::PieceKind;
use crate::item::is_space;

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

pub(crate) const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

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
        out.extend([digit(year / 1000), digit(year / 100), digit(year / 10), digit(year), b'.']);
        out.extend([digit(month / 10), digit(month), b'.', digit(day / 10), digit(day), b' ']);
        out.extend_from_slice(self.time.as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.zone.unwrap_or("???").as_bytes());
    }
}

fn number(text: &str) -> Option<u32> {
    let is_number = text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Marks a blank that should be a tie; this byte does not otherwise occur where it matters.
const MISPLACED_BLANK: u8 = 0x1F;

/// The month of one entry, and the buffers for reading it.
#[derive(Default)]
pub(crate) struct Month {
    text: Vec<u8>,
    found: Option<Found>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    /// 1 to 12.
    number: u32,
    days: Option<Range<usize>>,
}

impl Month {
    pub(crate) fn read(&mut self, fields: &Fields<'_>) {
        self.text.clear();
        self.found = None;
        let Some(field) = fields.field(MONTH) else {
            return;
        };
        for piece in &fields.written.entry.pieces[field.pieces.clone()] {
            if piece.kind == PieceKind::Macro && self.text.last().is_some_and(|&b| is_space(b)) {
                self.text.push(MISPLACED_BLANK);
            }
            self.text
                .extend_from_slice(&fields.written.text[piece.text.clone()]);
        }
        self.found = find(&self.text);
    }

    /// 1 to 12, if the field names a month.
    pub(crate) fn number(&self) -> Option<u32> {
        self.found.as_ref().map(|found| found.number)
    }

    /// A day or a range of days in the month, as written.
    pub(crate) fn days(&self) -> Option<&[u8]> {
        Some(&self.text[self.found.as_ref()?.days.clone()?])
    }
}

fn find(text: &[u8]) -> Option<Found> {
    let mut days_before = None;
    let mut at = 0;
    loop {
        at += separators(&text[at..]);
        let rest = &text[at..];
        let digits = run(rest, |byte| byte.is_ascii_digit());
        let letters = run(rest, |byte| byte.is_ascii_alphabetic());
        if digits > 0 {
            let days = days(text, at);
            at = days.as_ref().map_or(at + digits, |days| days.end);
            if days.is_none() && digits != 4 {
                return None; // neither a day nor a year
            }
            days_before = days_before.or(days);
            at += ordinal(&text[at..]);
        } else if letters > 0 {
            let number = month_of(&rest[..letters])?;
            let days = days_before.or_else(|| days_behind(text, at + letters));
            return Some(Found { number, days });
        } else {
            break;
        }
    }
    // A number alone is the number of a month.
    let number = std::str::from_utf8(text.trim_ascii()).ok()?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = is_number.then(|| number.parse().ok())??;
    (1..=12)
        .contains(&number)
        .then_some(Found { number, days: None })
}

/// The length of the separators between days and months: `~`, `--`, `/`, `\slash `, `, ` and the like.
fn separators(text: &[u8]) -> usize {
    let mut at = 0;
    while at < text.len() {
        at += match text[at] {
            b'\\' if text[at..].starts_with(b"\\slash") => b"\\slash".len(),
            b'\\'
                if text
                    .get(at + 1)
                    .is_some_and(|&next| matches!(next, b',' | b' ' | b'/' | b'&')) =>
            {
                2
            }
            b'~' | b'-' | b'/' | b',' | b'.' | b'&' | b'{' | b'}' => 1,
            byte if is_space(byte) => 1,
            _ if text[at..].starts_with("–".as_bytes()) => "–".len(),
            _ => break,
        };
    }
    at
}

fn days_behind(text: &[u8], end_of_month: usize) -> Option<Range<usize>> {
    let mut at = end_of_month;
    loop {
        at += match text.get(at)? {
            b'\\'
                if text
                    .get(at + 1)
                    .is_some_and(|&next| matches!(next, b',' | b' ')) =>
            {
                2
            }
            b'~' | b',' | b'.' | b'{' | b'}' => 1,
            &byte if is_space(byte) => 1,
            _ => break,
        };
    }
    days(text, at)
}

/// The range at `at` of a day, or of two days with a dash or a slash between them.
fn days(text: &[u8], at: usize) -> Option<Range<usize>> {
    let first = day(text, at)?;
    let between = text[first..]
        .iter()
        .take_while(|byte| matches!(byte, b'-' | b'/'))
        .count();
    let between = if text[first..].starts_with("–".as_bytes()) {
        "–".len()
    } else {
        between
    };
    let last = (between > 0).then(|| day(text, first + between)).flatten();
    Some(at..last.unwrap_or(first))
}

/// The end of the number from 1 to 31 at `at`.
fn day(text: &[u8], at: usize) -> Option<usize> {
    let digits = run(&text[at..], |byte| byte.is_ascii_digit());
    if digits == 0 || digits > 2 {
        return None;
    }
    let day = text[at..at + digits]
        .iter()
        .fold(0, |day, &digit| day * 10 + (digit - b'0'));
    (1..=31).contains(&day).then_some(at + digits)
}

fn ordinal(text: &[u8]) -> usize {
    let letters = run(text, |byte| byte.is_ascii_alphabetic());
    let is_one = ["st", "nd", "rd", "th"]
        .iter()
        .any(|ordinal| text[..letters].eq_ignore_ascii_case(ordinal.as_bytes()));
    if is_one { letters } else { 0 }
}

fn month_of(word: &[u8]) -> Option<u32> {
    month_number(&word.get(..3)?.to_ascii_lowercase())
}

fn run(text: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|&&byte| is_part(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_dates_become_timestamps() {
        #[rustfmt::skip]
        let table = [
            ("Fri Mar 4 17:53:38 MST 2011", Some("2011.03.04 17:53:38 MST")),
            ("Fri Oct 23 16:59:25 2009", Some("2009.10.23 16:59:25 ???")),
            ("Fri  Mar  4  17:53:38  2011", Some("2011.03.04 17:53:38 ???")),
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
