//! Takes the arguments of a meta command; returns their tokens, each with its place.

use crate::place::{Defect, name_end};
use assay_values::Decimal;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Int(i64),
    /// 9223372036854775808: only its negative fits into 64 bits.
    SmallestInt,
    Double(f64),
    Decimal(Decimal),
    /// `'…'`, with doubled quotes unescaped.
    Text(String),
    /// `:name`.
    Variable(&'a str),
    /// A keyword, a function, a unit, a name.
    Word(&'a str),
    Symbol(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Placed<'a> {
    pub token: Token<'a>,
    pub range: Range<usize>,
}

/// Longer symbols first, so that the first match is right.
const SYMBOLS: &[&str] = &[
    "->>", "->", "..", "<>", "!=", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%", "(", ")", ",",
    "<", ">", "=", "|", "#", "&", "~",
];

/// More tokens than any sensible line has; it bounds the recursion over expressions.
const MOST_TOKENS: usize = 1000;

/// The tokens of `range` of `text`, the last of them [`Token::End`].
pub(crate) fn tokens(text: &str, range: Range<usize>) -> Result<Vec<Placed<'_>>, Defect> {
    let text = &text[..range.end];
    let mut found = Vec::new();
    let mut at = range.start;
    while let Some(&byte) = text.as_bytes().get(at) {
        let (token, end) = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => {
                at += 1;
                continue;
            }
            b'\\' if is_continuation(&text[at + 1..]) => {
                at += 1;
                continue;
            }
            b'0'..=b'9' => number(text, at)?,
            b'.' if text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit) => {
                number(text, at)?
            }
            b'\'' => quoted(text, at)?,
            b':' => match name_end(text, at + 1) {
                Some(end) => (Token::Variable(&text[at + 1..end]), end),
                None if text[at + 1..].starts_with('{') => {
                    return Err(Defect::new(at, "expected a value, found :{")
                        .hint(":{name} is allowed in statements only; a value is written :name"));
                }
                None => return Err(Defect::new(at, "expected the name of a variable after :")),
            },
            _ => match name_end(text, at) {
                Some(end) => (Token::Word(&text[at..end]), end),
                None => symbol(text, at)?,
            },
        };
        found.push(Placed { token, range: at..end });
        if found.len() > MOST_TOKENS {
            return Err(Defect::new(
                at,
                format!("found more than {MOST_TOKENS} words on one line"),
            ));
        }
        at = end;
    }
    found.push(Placed { token: Token::End, range: range.end..range.end });
    Ok(found)
}

fn is_continuation(rest: &str) -> bool {
    rest.starts_with('\n') || rest.starts_with("\r\n")
}

/// `1`, `1.5`, `.5`, `1.`, `1e-3`; in `1..5` the number ends before the dots.
fn number(text: &str, start: usize) -> Result<(Token<'static>, usize), Defect> {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(start);
    let mut is_double = false;
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
        end = digits(end + 1);
        is_double = true;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let is_signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        let exponent = end + 1 + usize::from(is_signed);
        if digits(exponent) > exponent {
            end = digits(exponent);
            is_double = true;
        }
    }
    let spelled = &text[start..end];
    if is_double {
        let number: f64 = spelled.parse().expect("digits with a dot or an exponent are a double");
        if number.is_infinite() {
            return Err(Defect::new(start, format!("{spelled} is too large for a double")));
        }
        // A double keeps some 16 digits; one with more is written because they count.
        let exact = Decimal::parse(spelled)
            .filter(|exact| Decimal::try_from(number).is_ok_and(|kept| kept.order(*exact).is_ne()));
        return Ok((exact.map_or(Token::Double(number), Token::Decimal), end));
    }
    match spelled.parse::<u64>() {
        Ok(number) if number == 1 << 63 => Ok((Token::SmallestInt, end)),
        Ok(number) if number < 1 << 63 => Ok((Token::Int(number.cast_signed()), end)),
        _ => Err(Defect::new(start, format!("{spelled} does not fit into an integer of 64 bits"))
            .hint(format!("as a double it is written {spelled}.0"))),
    }
}

fn quoted(text: &str, open: usize) -> Result<(Token<'static>, usize), Defect> {
    let mut content = String::new();
    let mut at = open + 1;
    loop {
        let Some(length) =
            text[at..].find(['\'', '\n']).filter(|&length| text.as_bytes()[at + length] == b'\'')
        else {
            return Err(Defect::new(open, "this text is not closed on its line: expected '"));
        };
        content.push_str(&text[at..at + length]);
        at += length + 1;
        if !text[at..].starts_with('\'') {
            return Ok((Token::Text(content), at));
        }
        content.push('\'');
        at += 1;
    }
}

fn symbol(text: &str, at: usize) -> Result<(Token<'static>, usize), Defect> {
    if let Some(symbol) = SYMBOLS.iter().find(|&&symbol| text[at..].starts_with(symbol)) {
        return Ok((Token::Symbol(symbol), at + symbol.len()));
    }
    let letter = text[at..].chars().next().expect("the caller saw a byte here");
    let defect =
        Defect::new(at, format!("found {}, which no expression contains", visible(letter)));
    Err(match letter {
        ';' => defect.hint("a meta command ends with its line, without ;"),
        '"' => defect.hint("a text is written '...'"),
        '\\' => defect.hint("a meta command needs a line of its own"),
        _ => defect,
    })
}

fn visible(letter: char) -> String {
    if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
}
