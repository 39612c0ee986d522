//! Takes one source; returns its statements and meta commands, parsed, with names not yet resolved.

use crate::Source;
use crate::commands::Command;
use crate::commands::forms::command;
use crate::lexer::language::Values;
use crate::lexer::statement::Written;
use crate::lexer::{Lexer, Part};
use crate::place::Defect;

/// One statement or meta command, and where it begins.
#[derive(Debug)]
pub(crate) struct Item<'a> {
    pub at: usize,
    pub content: Content<'a>,
}

#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// Several if they are combined by `\\;`.
    Statement(Vec<Written<'a>>),
    Command(Command<'a>),
}

/// Larger texts are data: data are loaded, not run as a script.
const MOST_BYTES: usize = 16 << 20;

pub(crate) fn items<'a>(
    source: &Source<'a>,
    lexer: Lexer,
    values: Values,
) -> Result<Vec<Item<'a>>, Defect> {
    let text = source.text;
    if text.len() > MOST_BYTES {
        return Err(
            Defect::new(0, format!("found {} bytes of script", text.len())).hint(format!(
                "a script has at most {MOST_BYTES} bytes; data are loaded, not run"
            )),
        );
    }
    if source.is_plain {
        let written = Written::plain(text);
        return Ok(vec![Item {
            at: 0,
            content: Content::Statement(vec![written]),
        }]);
    }
    let mut found = Vec::new();
    let mut combined = Vec::new();
    for part in lexer.parts(text)? {
        match part {
            Part::Statement { range, is_joined } => {
                combined.push(lexer.cut(text, range, values)?);
                if !is_joined {
                    found.extend(statement(&mut combined));
                }
            }
            Part::Command { name, arguments } => {
                found.extend(statement(&mut combined));
                let at = name.start - 1;
                let read = command(at, &text[name], text, arguments)?;
                let content = Content::Command(read);
                found.push(Item { at, content });
            }
        }
    }
    found.extend(statement(&mut combined));
    if found.is_empty() {
        return Err(Defect::new(
            0,
            "found no statement and no meta command in this script",
        ));
    }
    Ok(found)
}

fn statement<'a>(combined: &mut Vec<Written<'a>>) -> Option<Item<'a>> {
    let at = combined.first()?.at;
    let content = Content::Statement(std::mem::take(combined));
    Some(Item { at, content })
}
