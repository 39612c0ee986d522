//! Takes values and a random stream; appends texts: random texts, names, and transformed texts.

use crate::expression::function::arguments::LARGEST_BYTES;
use crate::expression::function::{Arguments, typed};
use crate::expression::number::{Fault, append, number, plain};
use assay_values::{Random, Value};
use std::time::{SystemTime, UNIX_EPOCH};

type Written = Result<(), Fault>;

/// Longer texts are rejected: a row has to fit into memory.
const LONGEST: i64 = LARGEST_BYTES as i64;

fn int(value: &Value) -> Result<i64, Fault> {
    number(value)?.int()
}

pub(super) fn text(x: Arguments<'_>, random: &mut Random, out: &mut Vec<u8>) -> Written {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let (least, most) = (int(&x[0])?, int(&x[1])?);
    if !(0 <= least && least <= most && most <= LONGEST) {
        return Err(Fault::of(format!(
            "expected 0 <= min <= max <= {LONGEST}, found text({least}, {most})"
        )));
    }
    let length = match least == most {
        true => least,
        false => random.between(least, most),
    };
    append_drawn(LETTERS, length, random, out);
    Ok(())
}

pub(super) fn digits(x: Arguments<'_>, random: &mut Random, out: &mut Vec<u8>) -> Written {
    let length = int(&x[0])?;
    if !(0..=LONGEST).contains(&length) {
        return Err(Fault::of(format!(
            "expected 0 <= n <= {LONGEST}, found digits({length})"
        )));
    }
    append_drawn(b"0123456789", length, random, out);
    Ok(())
}

/// Takes eight letters from each random 64-bit word, as digits of a fraction in base `letters.len()`: 62^8
/// is so far below 2^64 that no letter is favoured by more than one part in 80,000.
#[expect(
    clippy::cast_possible_truncation,
    reason = "both halves of the product are used"
)]
fn append_drawn(letters: &[u8], length: i64, random: &mut Random, out: &mut Vec<u8>) {
    const OF_A_WORD: usize = 8;
    let mut left = usize::try_from(length).expect("the callers have checked it");
    out.reserve(left);
    while left > 0 {
        let mut fraction = random.next();
        let mut drawn = [0; OF_A_WORD];
        for letter in &mut drawn {
            let product = u128::from(fraction) * letters.len() as u128;
            *letter = letters[(product >> 64) as usize];
            fraction = product as u64;
        }
        let taken = left.min(OF_A_WORD);
        out.extend_from_slice(&drawn[..taken]);
        left -= taken;
    }
}

/// The characters of an alphabet, a byte each.
fn alphabet(value: &Value) -> Result<Vec<u8>, Fault> {
    let letters = plain(value).into_owned().into_bytes();
    if letters.len() < 2 || !letters.is_ascii() {
        return Err(Fault::of(format!(
            "expected an alphabet of at least 2 ASCII characters, found '{}'",
            plain(value)
        )));
    }
    Ok(letters)
}

pub(super) fn hash_text(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Written {
    let (number, length) = (int(&x[0])?, int(&x[1])?);
    let (letters, seed) = (alphabet(&x[2])?, int(&x[3])?);
    if !(0..=LONGEST).contains(&length) {
        return Err(Fault::of(format!(
            "hash_text expects 0 to {LONGEST} characters, found {length}"
        )));
    }
    let mut random = Random::stream(seed.cast_unsigned(), number.cast_unsigned());
    append_drawn(&letters, length, &mut random, out);
    Ok(())
}

pub(super) fn numeral(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Written {
    let (number, length, letters) = (int(&x[0])?, int(&x[1])?, alphabet(&x[2])?);
    if !(0..=LONGEST).contains(&length) {
        return Err(Fault::of(format!(
            "numeral expects 0 to {LONGEST} digits, found {length}"
        )));
    }
    let start = out.len();
    let base = i64::try_from(letters.len()).expect("a text is no longer than memory");
    let mut left = number;
    for _ in 0..length {
        let digit = usize::try_from(left.rem_euclid(base)).expect("below the base");
        out.push(letters[digit]);
        left = left.div_euclid(base);
    }
    if left != 0 {
        return Err(Fault::of(format!(
            "numeral({number}, {length}): expected a number of 0 or more that fits into {length} digits of base {base}"
        )));
    }
    out[start..].reverse();
    Ok(())
}

/// TPC-C, clause 4.3.2.3.
pub(super) fn lastname(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Written {
    const SYLLABLES: [&str; 10] =
        ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
    let number = int(&x[0])?;
    let Some(number) = usize::try_from(number).ok().filter(|&number| number < 1000) else {
        return Err(Fault::of(format!(
            "expected a number of 0 to 999, found lastname({number})"
        )));
    };
    for digit in [number / 100, number / 10 % 10, number % 10] {
        out.extend_from_slice(SYLLABLES[digit].as_bytes());
    }
    Ok(())
}

pub(super) fn concat(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Written {
    x.iter().for_each(|value| append(value, out));
    Ok(())
}

pub(super) fn lower(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Written {
    out.extend_from_slice(plain(&x[0]).to_lowercase().as_bytes());
    Ok(())
}

pub(super) fn upper(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Written {
    out.extend_from_slice(plain(&x[0]).to_uppercase().as_bytes());
    Ok(())
}

/// As in SQL: characters before the first count towards `n`.
pub(super) fn substr(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Written {
    let text = plain(&x[0]);
    let from = int(&x[1])?;
    let end = match x.len() {
        2 => i64::MAX,
        _ => match int(&x[2])? {
            count if count < 0 => {
                return Err(Fault::of(format!(
                    "substr expects a number of characters of 0 or more, found {count}"
                )));
            }
            count => from.saturating_add(count),
        },
    };
    let (skipped, kept) = (from.max(1) - 1, end.saturating_sub(from.max(1)).max(0));
    let count = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    if text.is_ascii() {
        let start = count(skipped).min(text.len());
        let kept = count(kept).min(text.len() - start);
        out.extend_from_slice(&text.as_bytes()[start..start + kept]);
        return Ok(());
    }
    let letters = text.chars().skip(count(skipped)).take(count(kept));
    letters.for_each(|letter| out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()));
    Ok(())
}

pub(super) fn now(_: Arguments<'_>, _: &mut Random) -> Result<Value, Fault> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map(|since| since.as_secs()).unwrap_or_default();
    Ok(Value::Int(i64::try_from(seconds).unwrap_or(i64::MAX)))
}

pub(super) fn date(x: Arguments<'_>, random: &mut Random, out: &mut Vec<u8>) -> Result<(), Fault> {
    typed::date(x, random)?.write_text(out);
    Ok(())
}

pub(super) fn timestamp(
    x: Arguments<'_>,
    random: &mut Random,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    typed::timestamp(x, random)?.write_text(out);
    Ok(())
}
