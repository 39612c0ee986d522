//! Takes a format string and values; appends the formatted text. The conversions are the part of C's
//! `printf` that data need: `%d`, `%f`, `%s`, `%x`, with a width, `-`, `0` and a number of decimals.

use crate::expression::function::Arguments;
use crate::expression::number::{Fault, append, number};
use assay_values::{Random, Value, write_int};
use std::io::Write as _;

/// A piece of a format string.
enum Piece<'a> {
    Plain(&'a str),
    Place { kind: u8, is_left: bool, is_zero_padded: bool, width: usize, decimals: Option<usize> },
}

/// The largest width: more than any formatted column needs.
const WIDEST: usize = 1000;

fn malformed(form: &str, found: &str) -> Fault {
    Fault::of(format!("expected %d, %f, %s, %x or %% in the format '{form}', found {found}"))
}

/// The first piece of `rest`, and the text after it.
fn piece<'a>(form: &str, rest: &'a str) -> Result<(Piece<'a>, &'a str), Fault> {
    let Some(spelled) = rest.strip_prefix('%') else {
        let (plain, behind) = rest.split_at(rest.find('%').unwrap_or(rest.len()));
        return Ok((Piece::Plain(plain), behind));
    };
    if let Some(behind) = spelled.strip_prefix('%') {
        return Ok((Piece::Plain("%"), behind));
    }
    let bytes = spelled.as_bytes();
    let flags = bytes.iter().take_while(|byte| b"-0".contains(byte)).count();
    let mut at = flags;
    let count = |at: &mut usize| {
        let mut count = 0_usize;
        while let Some(digit) = bytes.get(*at).filter(|byte| byte.is_ascii_digit()) {
            count = count.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
            *at += 1;
        }
        count.min(WIDEST)
    };
    let width = count(&mut at);
    let mut decimals = None;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        decimals = Some(count(&mut at));
    }
    match bytes.get(at) {
        Some(&kind @ (b'd' | b'f' | b's' | b'x')) => {
            let place = Piece::Place {
                kind,
                is_left: bytes[..flags].contains(&b'-'),
                is_zero_padded: bytes[..flags].contains(&b'0'),
                width,
                decimals,
            };
            Ok((place, &spelled[at + 1..]))
        }
        _ => {
            let shown: String = rest.chars().take(at + 2).collect();
            Err(malformed(form, &shown))
        }
    }
}

/// Compares the number of conversions in a constant format string with the number of values.
pub(super) fn check(known: &[Option<&Value>]) -> Result<(), Fault> {
    let Some(Some(Value::Text(form))) = known.first() else {
        return Ok(());
    };
    let mut places = 0;
    let mut rest = &**form;
    while !rest.is_empty() {
        let (piece, behind) = piece(form, rest)?;
        places += usize::from(matches!(piece, Piece::Place { .. }));
        rest = behind;
    }
    match known.len() - 1 {
        values if values == places => Ok(()),
        values => Err(Fault::of(format!(
            "expected {places} values for the format '{form}', found {values}"
        ))),
    }
}

pub(super) fn format(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Result<(), Fault> {
    let Value::Text(form) = &x[0] else {
        return Err(Fault::of("format expects a text as its first argument"));
    };
    let mut values = x.iter().skip(1);
    let mut rest = &**form;
    while !rest.is_empty() {
        let (piece, behind) = piece(form, rest)?;
        rest = behind;
        match piece {
            Piece::Plain(plain) => out.extend_from_slice(plain.as_bytes()),
            Piece::Place { kind, is_left, is_zero_padded, width, decimals } => {
                let value = values.next().ok_or_else(|| {
                    Fault::of(format!("the format '{form}' has more conversions than values"))
                })?;
                let start = out.len();
                place(kind, decimals, value, out)?;
                pad(start, width, is_left, is_zero_padded && kind != b's', out);
            }
        }
    }
    match values.next() {
        None => Ok(()),
        Some(_) => Err(Fault::of(format!("the format '{form}' has fewer conversions than values"))),
    }
}

fn place(kind: u8, decimals: Option<usize>, value: &Value, out: &mut Vec<u8>) -> Result<(), Fault> {
    match kind {
        b'd' => write_int(number(value)?.int()?, out),
        b'x' => {
            write!(out, "{:x}", number(value)?.int()?).expect("writing to memory is infallible");
        }
        b'f' => {
            let (number, decimals) = (number(value)?.double(), decimals.unwrap_or(6));
            write!(out, "{number:.decimals$}").expect("writing to memory is infallible");
        }
        _ => append(value, out),
    }
    Ok(())
}

/// Pads what was written since `start`; zeros go after the sign.
fn pad(start: usize, width: usize, is_left: bool, is_zero_padded: bool, out: &mut Vec<u8>) {
    let written = &out[start..];
    let is_character = |byte: &&u8| **byte & 0xc0 != 0x80;
    let missing = width.saturating_sub(written.iter().filter(is_character).count());
    if missing == 0 {
        return;
    }
    let (fill, at) = match (is_left, is_zero_padded) {
        (true, _) => (b' ', out.len()),
        (false, true) => (b'0', start + usize::from(written.first() == Some(&b'-'))),
        (false, false) => (b' ', start),
    };
    let end = out.len();
    out.resize(end + missing, fill);
    out.copy_within(at..end, at + missing);
    out[at..at + missing].fill(fill);
}
