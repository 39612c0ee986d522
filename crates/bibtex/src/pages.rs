//! Takes the text of `pages`; returns the number of pages, or the reason why it is unknown.
//!
//! Items between commas, semicolons or the word `and` add up, and so do parts joined by `+`: `20--32`
//! is 13, `17:1--17:13` is 13, `xxiv + 324` is 348, `1--10, 20--25` is 16, `3, 7--9` is 4. A number
//! alone is the length of a book, but one page of an article. Open ranges, texts with other words,
//! and counts above the range of an `int` column are unknown.

/// Why a text has no number of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoCount {
    /// It is an open range, or contains words.
    Unclear,
    /// A number in it, or the sum, exceeds the range of an `int` column.
    TooLarge,
}

/// The number of pages in `text`. `is_whole`: the entry is a whole work, so that
/// a number alone is its length.
pub(crate) fn page_count(text: &str, is_whole: bool) -> Result<i32, NoCount> {
    let is_list = items(text).nth(1).is_some();
    let count = items(text).try_fold(0, |sum, item| {
        let count = if item.contains('+') {
            item.split('+')
                .try_fold(0, |sum, part| added(sum, part_count(part.trim())?))?
        } else if let Some((first, last)) = range(item) {
            range_count(first, last)?
        } else if is_whole && !is_list {
            page_number(item)?
        } else {
            single_page(item)?
        };
        added(sum, count)
    })?;
    i32::try_from(count).map_err(|_| NoCount::TooLarge)
}

fn added(sum: u64, more: u64) -> Result<u64, NoCount> {
    sum.checked_add(more).ok_or(NoCount::TooLarge)
}

/// The items of a list of pages.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';'])
        .flat_map(|item| item.split(" and "))
        .map(|item| item.trim_matches([' ', '~']))
}

/// The ends of `20--32`, also written with an en dash or with three hyphens.
fn range(item: &str) -> Option<(&str, &str)> {
    let (first, last) = item
        .split_once("--")
        .or_else(|| item.split_once('\u{2013}'))?;
    Some((first.trim(), last.strip_prefix('-').unwrap_or(last).trim()))
}

/// One part of a sum: a length, in brackets if its pages are unnumbered, or a range.
fn part_count(part: &str) -> Result<u64, NoCount> {
    if let Some((first, last)) = range(part) {
        return range_count(first, last);
    }
    page_number(
        part.strip_prefix('[')
            .and_then(|part| part.strip_suffix(']'))
            .unwrap_or(part),
    )
}

/// A single page, which must contain a number: `45`, `iv`, `e12`, `17:3`.
fn single_page(page: &str) -> Result<u64, NoCount> {
    // `12-15` may be a range written with one hyphen, or page 15 of section 12.
    if page.contains('-') || (page.contains(' ') && roman(page).is_none()) {
        return Err(NoCount::Unclear);
    }
    if roman(page).is_none() {
        split_prefix(page)?;
    }
    Ok(1)
}

fn range_count(first: &str, last: &str) -> Result<u64, NoCount> {
    let (from, to) = if let (Some(from), Some(to)) = (roman(first), roman(last)) {
        (from, to)
    } else {
        let (first_prefix, from) = split_prefix(first)?;
        let (last_prefix, to) = split_prefix(last)?;
        if !last_prefix.is_empty() && first_prefix != last_prefix {
            return Err(NoCount::Unclear);
        }
        (from, to)
    };
    added(to.checked_sub(from).ok_or(NoCount::Unclear)?, 1)
}

/// `17:13` as `17:` and 13.
fn split_prefix(page: &str) -> Result<(&str, u64), NoCount> {
    let digits = page.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (prefix, number) = page.split_at(page.len() - digits);
    Ok((prefix, parsed(number)?))
}

fn page_number(text: &str) -> Result<u64, NoCount> {
    roman(text).map_or_else(|| parsed(text), Ok)
}

fn parsed(digits: &str) -> Result<u64, NoCount> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NoCount::Unclear);
    }
    digits.parse().map_err(|_| NoCount::TooLarge)
}

/// The value of a valid Roman numeral in lower or upper case.
fn roman(text: &str) -> Option<u64> {
    const STEPS: [(&str, u64); 13] = [
        ("m", 1000),
        ("cm", 900),
        ("d", 500),
        ("cd", 400),
        ("c", 100),
        ("xc", 90),
        ("l", 50),
        ("xl", 40),
        ("x", 10),
        ("ix", 9),
        ("v", 5),
        ("iv", 4),
        ("i", 1),
    ];
    if text.len() > 15 || !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let mut rest = lower.as_str();
    let mut value = 0;
    for (letters, worth) in STEPS {
        let most = if letters.len() == 1 && !matches!(letters, "d" | "l" | "v") {
            3
        } else {
            1
        };
        for _ in 0..most {
            let Some(shorter) = rest.strip_prefix(letters) else {
                break;
            };
            rest = shorter;
            value += worth;
        }
    }
    (rest.is_empty() && value > 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_from_the_text() {
        let table = [
            ("20--32", Some(13)),
            ("17:1--17:13", Some(13)),
            ("xxiv + 324", Some(348)),
            ("xi + 324 + [12]", Some(347)),
            ("c1--c4", Some(4)),
            ("1.2/3--9", Some(7)),
            ("ix--xii", Some(4)),
            ("3, 7--9", Some(4)),
            ("3--5, 11--12", Some(5)),
            ("1--10, 20--25", Some(16)),
            ("1--10,20--25;~30 and 40--41", Some(19)),
            ("1\u{2013}10, 20---25", Some(16)),
            ("1--10, 20--", None),
            ("20--??", None),
            ("??--??", None),
            ("32--20", None),
            ("A. 1--B. 3", None),
            ("12-15", None),
            ("various", None),
            ("400 (est.)", None),
            ("xi + + 12", None),
            ("", None),
        ];
        for (text, expected) in table {
            let expected = expected.ok_or(NoCount::Unclear);
            assert_eq!(page_count(text, false), expected, "{text}");
            assert_eq!(page_count(text, true), expected, "{text}");
        }
    }

    #[test]
    fn a_count_that_does_not_fit_an_int_column_is_too_large() {
        for text in [
            "1--2147483648",
            "1--99999999999",
            "1--2000000000, 1--2000000000",
            "2147483647 + 1",
            "18446744073709551615 + 1",
            "1--99999999999999999999",
            "99999999999999999999",
        ] {
            assert_eq!(page_count(text, false), Err(NoCount::TooLarge), "{text}");
            assert_eq!(page_count(text, true), Err(NoCount::TooLarge), "{text}");
        }
        assert_eq!(page_count("1--2147483647", false), Ok(i32::MAX));
        assert_eq!(page_count("2147483648", true), Err(NoCount::TooLarge));
    }

    #[test]
    fn a_number_alone_is_a_page_of_an_article_and_the_length_of_a_book() {
        assert_eq!(page_count("324", false), Ok(1));
        assert_eq!(page_count("324", true), Ok(324));
        assert_eq!(page_count("xii", false), Ok(1));
        assert_eq!(page_count("xii", true), Ok(12));
    }

    #[test]
    fn only_valid_roman_numerals_are_accepted() {
        for (text, value) in [("iv", 4), ("XLVIII", 48), ("mcmxciv", 1994), ("lxxxviii", 88)] {
            assert_eq!(roman(text), Some(value), "{text}");
        }
        for text in ["", "iiii", "vx", "mild", "ic"] {
            assert_eq!(roman(text), None, "{text}");
        }
    }
}
