//! Takes an entry; returns the fields whose values a number column cannot represent, with a message for each.

use crate::columns::{AUTHOR, EDITOR, PAGES};
use crate::fields::{Fields, Written};
use crate::names::has_empty_name;
use crate::pages::NoCount;

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
