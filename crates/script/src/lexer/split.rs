//! Takes a plain file of statements; returns the statements, split as an interactive client would.

use crate::lexer::{LiteralStyle, Passage, is_open_body};
use crate::place::{Defect, Lines, text_start};
use crate::{ScriptError, Source};

/// One statement of a file, unchanged, without the closing `;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatement {
    /// The statement, as it is sent.
    pub text: String,
    /// Begins at 1.
    pub line: u32,
    /// Begins at 1; in characters.
    pub column: u32,
}

/// Splits the text of `source` at each `;` outside literals, quoted identifiers, comments, the `BEGIN … END`
/// of a function, procedure or trigger, and `BEGIN NOT ATOMIC … END`. Comments
/// between statements are dropped, those within are kept; empty statements are skipped; the last statement
/// may end without `;`.
///
/// # Errors
/// If a literal, a quoted identifier or a comment is not closed.
pub fn split_statements(
    source: &Source<'_>,
    style: LiteralStyle,
) -> Result<Vec<FileStatement>, ScriptError> {
    let text = source.text;
    let lines = Lines::of(text);
    let ranges = ranges(text, style).map_err(|defect| defect.locate(source.path, &lines))?;
    let statement = |(start, end): (usize, usize)| {
        let place = lines.place(start);
        FileStatement {
            text: text[start..end].to_owned(),
            line: place.line,
            column: place.column,
        }
    };
    Ok(ranges.into_iter().map(statement).collect())
}

fn ranges(text: &str, style: LiteralStyle) -> Result<Vec<(usize, usize)>, Defect> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut open) = (text_start(text), None);
    // The end of the statement's last token: comments and white space after it are not part of it.
    let mut close = 0;
    while at < bytes.len() {
        let passage = style.passage(text, at)?;
        let end = passage.map_or(at + 1, Passage::end);
        let is_content = match passage {
            Some(Passage::Comment { .. }) => false,
            Some(_) => true,
            None if bytes[at] == b';'
                && open.is_none_or(|start| !is_open_body(&text[start..at], style)) =>
            {
                found.extend(open.take().map(|start| (start, close)));
                false
            }
            None => !bytes[at].is_ascii_whitespace(),
        };
        if is_content {
            open.get_or_insert(at);
            close = end;
        }
        at = end;
    }
    found.extend(open.map(|start| (start, close)));
    Ok(found)
}
