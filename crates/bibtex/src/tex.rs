//! Takes the text of a field; returns it with white space collapsed and, on request, without TeX markup.
//!
//! Removed are braces, accents (the letter stays), escapes (`\&` becomes `&`), ties, discretionary
//! hyphens and the names of markup commands (`\emph{x}` and `{\em x}` become `x`). A
//! command that prints a text is replaced by its name (`\TeX` becomes `TeX`), special letters by plain
//! letters (`\ss` becomes `ss`), and dash macros by ` -- `.

use crate::byte_class::is_space;
use crate::quiet::quiet_length;
use crate::tex_commands::{is_accent, is_switch, special_letters};

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
        Self {
            out,
            start,
            blank_is_due: false,
        }
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
    text.iter()
        .position(|&byte| !is_part(byte))
        .unwrap_or(text.len())
}

fn spaces(text: &[u8]) -> usize {
    run_length(text, is_space)
}

fn behind_empty_group(text: &[u8], at: usize) -> usize {
    if text[at..].starts_with(b"{}") {
        at + 2
    } else {
        at
    }
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
