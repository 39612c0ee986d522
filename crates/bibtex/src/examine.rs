//! Takes the bytes of an item; returns its parts, or an error with its place.

use std::collections::HashSet;
use std::ops::Range;

use crate::columns::{AUTHOR, EDITOR, PAGES};
use crate::columns::{Fields, Written};
use crate::entry::{Entry, Field};
use crate::entry::{PieceKind, SyntaxError};
use crate::item::{Item, Kind};
use crate::keys::Keys;
use crate::keys::Macros;
use crate::names::has_empty_name;
use crate::pages::NoCount;
use crate::problems::Flaw;
use crate::splitter::Splitter;

/// With more fields than this, duplicates are found with a hash table instead of pairwise comparison.
const MANY_FIELDS: usize = 64;

/// The state from earlier items that is needed to check the next.
#[derive(Default)]
pub(crate) struct Examiner {
    /// The parts of the item that was examined last.
    pub(crate) entry: Entry,
    pub(crate) macros: Macros,
    /// Keys of the current file.
    pub(crate) keys: Keys,
    scratch: Vec<u8>,
}

/// Why an item that has an end is rejected.
pub(crate) enum Rejection {
    /// It cannot be parsed, so its end is uncertain too.
    Unreadable(Flaw),
    Duplicate(Flaw),
}

impl Examiner {
    /// Parses the item that `splitter` found last, in file number `file`. Returns the warnings of a valid
    /// item.
    pub(crate) fn examine(
        &mut self,
        splitter: &Splitter,
        file: usize,
    ) -> Result<Vec<Flaw>, Rejection> {
        let (text, item) = splitter.item();
        if item.kind == Kind::Preamble {
            return match splitter.nul_in_item() {
                Some(at) => Err(Rejection::Unreadable(Flaw::nul_byte(splitter.place(at)))),
                None => Ok(Vec::new()),
            };
        }
        self.read(text, &item, splitter).map_err(Rejection::Unreadable)?;
        for piece in &self.entry.pieces {
            if piece.kind == PieceKind::Macro {
                let place = || splitter.place(piece.text.start);
                self.macros.use_name(&text[piece.text.clone()], file, place);
            }
        }
        if item.kind == Kind::String {
            self.macros.define(&text[self.entry.fields[0].name.clone()]);
            return Ok(Vec::new());
        }
        self.check_key(text, splitter).map_err(Rejection::Duplicate)?;
        let mut warnings = Vec::from_iter(self.repeated_field(text, splitter));
        let written = Written { text, entry: &self.entry };
        for Odd { at, message } in odd_values(written, &mut self.scratch) {
            warnings.push(Flaw { place: splitter.place(at), message, hint: None });
        }
        Ok(warnings)
    }

    fn read(&mut self, text: &[u8], item: &Item, splitter: &Splitter) -> Result<(), Flaw> {
        if let Some(at) = splitter.nul_in_item() {
            return Err(Flaw::nul_byte(splitter.place(at)));
        }
        // Nearly all entries are ASCII, which is checked many bytes at a time.
        if !text.is_ascii()
            && let Err(error) = std::str::from_utf8(text)
        {
            let at = error.valid_up_to();
            return Err(Flaw {
                place: splitter.place(at),
                message: format!("expected UTF-8, found the byte 0x{:02X}", text[at]),
                hint: Some("the file may be Latin-1: use --encoding latin-1, or convert it".into()),
            });
        }
        let read = match item.kind {
            Kind::String => self.entry.read_string(text, item),
            _ => self.entry.read(text, item),
        };
        read.map_err(|SyntaxError { at, message, hint }| Flaw {
            place: splitter.place(at),
            message,
            hint: hint.map(str::to_owned),
        })
    }

    fn check_key(&mut self, text: &[u8], splitter: &Splitter) -> Result<(), Flaw> {
        let place = splitter.place(self.entry.key.start);
        let key = &text[self.entry.key.clone()];
        let Some(first) = self.keys.add(key, place.line) else {
            return Ok(());
        };
        Err(Flaw {
            place,
            message: format!(
                "expected every key once in a file, found `{}` again; it is first used at line \
                 {first}",
                String::from_utf8_lossy(key)
            ),
            hint: Some("rename one of the two entries, or remove one".into()),
        })
    }

    fn repeated_field(&self, text: &[u8], splitter: &Splitter) -> Option<Flaw> {
        let again = first_repeated(text, &self.entry.fields)?;
        Some(Flaw {
            place: splitter.place(again.start),
            message: format!(
                "the field `{}` occurs twice in `{}`; the first counts, as in BibTeX",
                String::from_utf8_lossy(&text[again]),
                String::from_utf8_lossy(&text[self.entry.key.clone()]),
            ),
            hint: None,
        })
    }
}

/// The name of the first field that repeats an earlier one.
fn first_repeated(text: &[u8], fields: &[Field]) -> Option<Range<usize>> {
    if fields.len() > MANY_FIELDS {
        let mut seen = HashSet::with_capacity(fields.len());
        let again =
            fields.iter().find(|field| !seen.insert(text[field.name.clone()].to_ascii_lowercase()));
        return again.map(|field| field.name.clone());
    }
    let name = |field: &Field| &text[field.name.clone()];
    // Most entries have no two fields with the same length, first and last letter: one bit for each shows that.
    let mut seen = 0_u64;
    for (at, field) in fields.iter().enumerate() {
        let bytes = name(field);
        let (first, last) = (bytes[0] | 0x20, bytes[bytes.len() - 1] | 0x20);
        let bit = 1 << ((bytes.len() * 7 + usize::from(first) * 5 + usize::from(last)) % 64);
        if seen & bit != 0
            && fields[..at].iter().any(|before| name(before).eq_ignore_ascii_case(bytes))
        {
            return Some(field.name.clone());
        }
        seen |= bit;
    }
    None
}

/// A field whose value cannot be represented.
pub(crate) struct Odd {
    /// Offset of the field's name from the `@`.
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Shorter texts of `pages` cannot hold a number that is too large.
const LONG_PAGES: usize = "2147483648".len();

pub(crate) fn odd_values(written: Written<'_>, scratch: &mut Vec<u8>) -> Vec<Odd> {
    let fields = Fields::of(written);
    let mut odd = Vec::new();
    for (column, name) in [(AUTHOR, "author"), (EDITOR, "editor")] {
        if let Some(field) = fields.field(column)
            && let Some(text) = fields.joined(column, &mut Vec::new())
            && has_empty_name(text, scratch)
        {
            odd.push(Odd {
                at: field.name.start,
                message: format!(
                    "the field `{name}` of `{}` has an empty name next to an `and`; it is not counted",
                    key(written)
                ),
            });
        }
    }
    if let Some(field) = fields.field(PAGES)
        && field.value.len() >= LONG_PAGES
        && fields.page_count(scratch) == Err(NoCount::TooLarge)
    {
        odd.push(Odd {
            at: field.name.start,
            message: format!(
                "the field `pages` of `{}` has more pages than {}; its page count is NULL",
                key(written),
                i32::MAX
            ),
        });
    }
    odd
}

fn key(written: Written<'_>) -> String {
    String::from_utf8_lossy(&written.text[written.entry.key.clone()]).into_owned()
}
