//! Takes one source; gives its statements and meta commands, read but not yet resolved.

use crate::Source;
use crate::command::{Command, command};
use crate::literal::LiteralStyle;
use crate::place::Defect;
use crate::scan::{Part, parts};
use crate::statement::{Bound, bind};
use crate::token::tokens;

/// One statement or meta command, and where it begins.
#[derive(Debug)]
pub(crate) struct Item<'a> {
    pub at: usize,
    pub content: Content<'a>,
}

#[derive(Debug)]
pub(crate) enum Content<'a> {
    Statement(Bound<'a>),
    Command(Command<'a>),
}

/// Larger texts are data, and data are loaded, not run as a script.
const MOST_BYTES: usize = 16 << 20;

pub(crate) fn items<'a>(source: &Source<'a>) -> Result<Vec<Item<'a>>, Defect> {
    let text = source.text;
    if text.len() > MOST_BYTES {
        return Err(
            Defect::new(0, format!("found {} bytes of script", text.len())).hint(format!(
                "a script has at most {MOST_BYTES} bytes; data are loaded, not run"
            )),
        );
    }
    if source.is_plain {
        let text = text.to_owned();
        let names = Vec::new();
        return Ok(vec![Item {
            at: 0,
            content: Content::Statement(Bound { text, names }),
        }]);
    }
    let style = LiteralStyle::default();
    let mut found = Vec::new();
    for part in parts(text, style)? {
        found.push(match part {
            Part::Statement(range) => Item {
                at: range.start,
                content: Content::Statement(bind(text, range, style)?),
            },
            Part::Command { name, arguments } => {
                let at = name.start - 1;
                let read = command(at, &text[name], || tokens(text, arguments))?;
                Item {
                    at,
                    content: Content::Command(read),
                }
            }
        });
    }
    if found.is_empty() {
        return Err(Defect::new(
            0,
            "found no statement and no meta command in this script",
        ));
    }
    Ok(found)
}
