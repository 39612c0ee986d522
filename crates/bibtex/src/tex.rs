//! Takes the text of a field; returns it with white space collapsed and, on request, without TeX markup.
//!
//! Removed are braces, accents (the letter stays), escapes (`\&` becomes `&`), ties, discretionary
//! hyphens and the names of markup commands (`\emph{x}` and `{\em x}` become `x`). A
//! command that prints a text is replaced by its name (`\TeX` becomes `TeX`), special letters by plain
//! letters (`\ss` becomes `ss`), and dash macros by ` -- `.

use crate::item::is_space;

/// Appends to a buffer and remembers whether a blank must precede the next character.
pub(crate) struct Cleaner<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    blank_is_due: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Space,
    Brace,
    Backslash,
    Tie,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    classes[b' ' as usize] = Class::Space;
    classes[b'\t' as usize] = Class::Space;
    classes[b'\n' as usize] = Class::Space;
    classes[b'\r' as usize] = Class::Space;
    classes[0x0B] = Class::Space;
    classes[0x0C] = Class::Space;
    classes[b'{' as usize] = Class::Brace;
    classes[b'}' as usize] = Class::Brace;
    classes[b'\\' as usize] = Class::Backslash;
    classes[b'~' as usize] = Class::Tie;
    classes
};

impl<'o> Cleaner<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, blank_is_due: false }
    }

    /// Whether the text has content: an empty text and a text of question marks have none.
    pub(crate) fn finish(self) -> bool {
        self.out[self.start..].iter().any(|&byte| byte != b'?')
    }

    /// Appends `text` with every run of white space collapsed to one blank.
    pub(crate) fn collapse(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            if is_space(text[at]) {
                self.blank_is_due = true;
                at += 1;
                continue;
            }
            // A control character ends the run and is copied separately.
            let run = quiet_length::<false>(&text[at..]).max(1);
            self.push(&text[at..at + run]);
            at += run;
        }
    }

    /// Appends `text` without its TeX markup.
    pub(crate) fn unmark(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            match CLASSES[text[at] as usize] {
                Class::Plain => {
                    let run = quiet_length::<true>(&text[at..]).max(1);
                    self.push(&text[at..at + run]);
                    at += run;
                }
                Class::Space | Class::Tie => {
                    self.blank_is_due = true;
                    at += 1;
                }
                Class::Brace => at += 1,
                Class::Backslash => at = self.escape(text, at + 1),
            }
        }
    }

    /// Handles what follows a backslash at `at`; returns the offset at which to continue.
    fn escape(&mut self, text: &[u8], at: usize) -> usize {
        let Some(&first) = text.get(at) else {
            self.push(b"\\");
            return at;
        };
        if first.is_ascii_alphabetic() {
            let name = run_length(&text[at..], |byte| byte.is_ascii_alphabetic());
            return self.command(text, &text[at..at + name], at + name);
        }
        match first {
            b'~' | b'^' if text[at + 1..].starts_with(b"{}") => {
                self.push(&[first]);
                return at + 3;
            }
            b'\'' | b'`' | b'^' | b'"' | b'~' | b'=' | b'.' => {
                // White space may separate the letter from its accent: `\' e`.
                return at + 1 + spaces(&text[at + 1..]);
            }
            b'-' | b'/' | b'!' | b'@' => {}
            b',' | b';' | b':' | b'>' | b'\\' => self.blank_is_due = true,
            byte if is_space(byte) => self.blank_is_due = true,
            _ => {
                let length = 1 + run_length(&text[at + 1..], |byte| byte & 0xC0 == 0x80);
                self.push(&text[at..at + length]);
                return at + length;
            }
        }
        at + 1
    }

    /// Handles the command `name`, which ends at `at`; returns the offset at which to continue.
    fn command(&mut self, text: &[u8], name: &[u8], at: usize) -> usize {
        let behind_space = at + spaces(&text[at..]);
        match name {
            b"Dash" | b"emdash" | b"endash" | b"textemdash" | b"textendash" => {
                self.blank_is_due = true;
                self.push(b"--");
                self.blank_is_due = true;
                return behind_empty_group(text, at);
            }
            b"par" | b"quad" | b"qquad" | b"space" | b"thinspace" | b"newline" => {
                self.blank_is_due = true;
                return behind_empty_group(text, at);
            }
            b"noopsort" | b"phantom" | b"hphantom" | b"vphantom" => {
                return behind_group(text, behind_space);
            }
            b"verb" | b"path" => return self.verbatim(text, at),
            _ => {}
        }
        if let Some(letters) = special_letters(name) {
            self.push(letters);
            return behind_empty_group(text, behind_space);
        }
        if is_accent(name) || is_switch(name) {
            return behind_space;
        }
        if text[at..].starts_with(b"{") && !text[at..].starts_with(b"{}") {
            return at;
        }
        self.push(name);
        behind_empty_group(text, at)
    }

    /// `\verb|text|`: the text between two equal delimiters, unchanged.
    fn verbatim(&mut self, text: &[u8], at: usize) -> usize {
        let Some(&mark) = text.get(at).filter(|mark| mark.is_ascii_punctuation()) else {
            return at;
        };
        if mark == b'{' {
            return at;
        }
        match memchr::memchr(mark, &text[at + 1..]) {
            Some(length) => {
                self.collapse(&text[at + 1..at + 1 + length]);
                at + length + 2
            }
            None => at + 1,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.blank_is_due {
            self.blank_is_due = false;
            if self.out.len() > self.start {
                self.out.push(b' ');
            }
        }
        self.out.extend_from_slice(bytes);
    }
}

fn run_length(text: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !is_part(byte)).unwrap_or(text.len())
}

fn spaces(text: &[u8]) -> usize {
    run_length(text, is_space)
}

fn behind_empty_group(text: &[u8], at: usize) -> usize {
    if text[at..].starts_with(b"{}") { at + 2 } else { at }
}

/// The end of the group that begins at `at`, or `at` if none begins there.
fn behind_group(text: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, &byte) in text[at..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if byte == b'}' { at + offset + 1 } else { at };
        }
    }
    at
}

/// The letters or symbols that a command prints, as ASCII.
pub(crate) fn special_letters(name: &[u8]) -> Option<&'static [u8]> {
    Some(match name {
        b"i" => b"i",
        b"j" => b"j",
        b"l" => b"l",
        b"L" => b"L",
        b"o" => b"o",
        b"O" => b"O",
        b"aa" => b"a",
        b"AA" => b"A",
        b"ae" => b"ae",
        b"AE" => b"AE",
        b"oe" => b"oe",
        b"OE" => b"OE",
        b"ss" => b"ss",
        b"SS" => b"SS",
        b"th" => b"th",
        b"TH" => b"TH",
        b"dh" | b"dj" => b"d",
        b"DH" | b"DJ" => b"D",
        b"ng" => b"ng",
        b"NG" => b"NG",
        b"slash" => b"/",
        b"backslash" | b"textbackslash" => b"\\",
        b"dots" | b"ldots" => b"...",
        b"underscore" | b"textunderscore" => b"_",
        b"textasciitilde" => b"~",
        b"textasciicircum" => b"^",
        // Quotes as they are typed without a command.
        b"textquoteleft" | b"lq" | b"textasciigrave" => b"`",
        b"textquoteright" | b"rq" | b"textquotesingle" => b"'",
        b"textquotedblleft" => b"``",
        b"textquotedblright" => b"''",
        b"textquotedbl" => b"\"",
        b"quotesinglbase" => b",",
        b"quotedblbase" => b",,",
        b"guillemotleft" | b"guillemetleft" => b"<<",
        b"guillemotright" | b"guillemetright" => b">>",
        b"guilsinglleft" | b"textless" => b"<",
        b"guilsinglright" | b"textgreater" => b">",
        b"textbar" => b"|",
        b"textbraceleft" | b"lbrace" => b"{",
        b"textbraceright" | b"rbrace" => b"}",
        b"textdollar" => b"$",
        b"textampersand" => b"&",
        b"textpercent" => b"%",
        b"textellipsis" => b"...",
        b"textperiodcentered" | b"textbullet" => b"*",
        _ => return None,
    })
}

/// Commands that put an accent on the next letter.
pub(crate) fn is_accent(name: &[u8]) -> bool {
    matches!(name, b"b" | b"c" | b"d" | b"H" | b"k" | b"r" | b"t" | b"u" | b"v")
}

/// Commands that change the style of the following text and print nothing.
pub(crate) fn is_switch(name: &[u8]) -> bool {
    matches!(
        name,
        b"bf"
            | b"cal"
            | b"em"
            | b"it"
            | b"rm"
            | b"sc"
            | b"sf"
            | b"sl"
            | b"tt"
            | b"bfseries"
            | b"itshape"
            | b"rmfamily"
            | b"scshape"
            | b"sffamily"
            | b"slshape"
            | b"ttfamily"
            | b"normalfont"
            | b"small"
            | b"protect"
            | b"relax"
            | b"unskip"
    )
}

/// The number of bytes of `text`, which does not begin with white space or markup, before the first
/// white space that is not a single blank between words and, if `STOPS_AT_MARKUP`, before the
/// first of `{` `}` `\\` `~`.
///
/// Most text of a bibliography is scanned here, so eight bytes are examined at once.
pub(crate) fn quiet_length<const STOPS_AT_MARKUP: bool>(text: &[u8]) -> usize {
    let mut length = 0;
    let mut words = text.chunks_exact(8);
    for word in words.by_ref() {
        let word: [u8; 8] = word.try_into().expect("chunks of eight bytes");
        let stops = stops::<STOPS_AT_MARKUP>(u64::from_le_bytes(word));
        if stops != 0 {
            return without_blank(text, length + stops.trailing_zeros() as usize / 8);
        }
        // Two adjacent blanks may be in two words of eight bytes.
        if word[7] == b' ' && text.get(length + 8).is_none_or(|&next| next == b' ') {
            return without_blank(text, length + 8);
        }
        length += 8;
    }
    let mut rest = [b' '; 8];
    rest[..words.remainder().len()].copy_from_slice(words.remainder());
    let stops = stops::<STOPS_AT_MARKUP>(u64::from_le_bytes(rest));
    // The text is padded with blanks, which end the scan.
    let quiet = if stops == 0 { 8 } else { stops.trailing_zeros() as usize / 8 };
    without_blank(text, length + quiet.min(words.remainder().len()))
}

/// A blank before the stop belongs to the white space or markup after it.
fn without_blank(text: &[u8], length: usize) -> usize {
    if length > 0 && text[length - 1] == b' ' { length - 1 } else { length }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A word whose lowest set bit is in the first byte at which to stop; higher bits have no meaning.
fn stops<const STOPS_AT_MARKUP: bool>(word: u64) -> u64 {
    // All control characters: only white space matters, but the others are rare.
    let mut stops = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    let blanks = equal(word, b' ');
    stops |= blanks & (blanks >> 8);
    if STOPS_AT_MARKUP {
        stops |= equal(word, b'{') | equal(word, b'}') | equal(word, b'\\') | equal(word, b'~');
    }
    stops
}

/// Sets the high bit of exactly those bytes of `word` that equal `byte`.
fn equal(word: u64, byte: u8) -> u64 {
    let differing = word ^ (ONES * u64::from(byte));
    !(((differing & !HIGH) + !HIGH) | differing) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same byte by byte.
    fn plainly(text: &[u8], stops_at_markup: bool) -> usize {
        let is_stop = |at: usize| {
            let byte = text[at];
            byte < 0x20
                || (byte == b' ' && text.get(at + 1).is_none_or(|&next| next == b' '))
                || (stops_at_markup && matches!(byte, b'{' | b'}' | b'\\' | b'~'))
        };
        let length = (0..text.len()).find(|&at| is_stop(at)).unwrap_or(text.len());
        without_blank(text, length)
    }

    #[test]
    fn eight_bytes_at_once_give_the_same_as_byte_by_byte() {
        let mut random = assay_values::Random::stream(7, 0);
        let letters = b"abc   {}\\~\n\t\xC3\xA9\x7F|xyzxyzxyzxyzxyzxyzxyz";
        for _ in 0..200_000 {
            let length = crate::chance::length_between(&mut random, 1, 40);
            let mut text: Vec<u8> =
                (0..length).map(|_| crate::chance::pick(&mut random, letters)).collect();
            text[0] = b'a';
            assert_eq!(quiet_length::<true>(&text), plainly(&text, true), "{text:?}");
            assert_eq!(quiet_length::<false>(&text), plainly(&text, false), "{text:?}");
        }
    }
}
