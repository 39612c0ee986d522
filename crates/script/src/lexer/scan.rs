//! Takes the text of a script in a query language; returns its parts: statements, and meta commands with
//! their arguments.

use crate::lexer::TextStyle;
use crate::lexer::kind::{is_open_batch, is_open_body};
use crate::lexer::language::{Lexer, Passage};
use crate::place::{Defect, Lines, text_start};
use crate::{ScriptError, Source};
use std::ops::Range;

/// One part of a script, as offsets into its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Begins with its first character; may end in white space and comments.
    Statement {
        range: Range<usize>,
        /// It ends with `\\;`: the next statement is sent together with it.
        is_joined: bool,
    },
    /// The name without the backslash, and the rest of the line.
    Command {
        name: Range<usize>,
        arguments: Range<usize>,
    },
}

/// Statements end with `;` outside parentheses, with the backslash of a meta command (as in pgbench, so
/// that `SELECT … \gset` needs no `;`), or with the text; `\;` ends a statement that is combined with
/// the next. Meta commands end with their line, unless a backslash at its end joins the next line.
pub(super) fn parts(text: &str, lexer: Lexer) -> Result<Vec<Part>, Defect> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut open) = (text_start(text), None);
    let mut parentheses = Vec::new();
    while at < bytes.len() {
        let passage = lexer.passage(text, at)?;
        let end = passage.map_or(at + 1, Passage::end);
        match passage {
            Some(Passage::Comment { .. }) => {}
            Some(_) => _ = open.get_or_insert(at),
            None => match bytes[at] {
                b';' if parentheses.is_empty()
                    && !is_within_batch(lexer, open.map_or("", |start| &text[start..at])) =>
                {
                    match statement(&mut open, at, false) {
                        Some(statement) => found.push(statement),
                        // `\\; ;`: nothing more is combined with the statements before.
                        None => {
                            if let Some(Part::Statement { is_joined, .. }) = found.last_mut() {
                                *is_joined = false;
                            }
                        }
                    }
                }
                b'\\' => {
                    all_closed(&parentheses)?;
                    let is_joined = bytes.get(at + 1) == Some(&b';');
                    found.extend(statement(&mut open, at, is_joined));
                    if is_joined {
                        at += 2;
                        continue;
                    }
                    let command = command(text, at);
                    at = command_end(&command);
                    found.push(command);
                    continue;
                }
                0 => return Err(Defect::new(at, "found a NUL character, expected text")),
                byte if byte.is_ascii_whitespace() => {}
                byte => {
                    if open.is_none() && is_document(&text[at..]) {
                        return Err(document(at, lexer));
                    }
                    open.get_or_insert(at);
                    match byte {
                        b'(' => parentheses.push(at),
                        b')' => _ = parentheses.pop(),
                        _ => {}
                    }
                }
            },
        }
        at = end;
    }
    all_closed(&parentheses)?;
    found.extend(statement(&mut open, bytes.len(), false));
    Ok(found)
}

/// Whether a batch of statements, or the body of a function, has begun and not ended: within it `;`
/// separates statements.
fn is_within_batch(lexer: Lexer, begun: &str) -> bool {
    match lexer {
        Lexer::Sql(style) => is_open_body(begun, style),
        Lexer::Cql => is_open_batch(begun),
        Lexer::Json => false,
    }
}

/// Whether the text begins with a JSON document, which no statement of a query language does.
fn is_document(text: &str) -> bool {
    let within = text.strip_prefix('{').map(str::trim_start);
    within.is_some_and(|within| within.starts_with(['"', '}']))
}

fn document(at: usize, lexer: Lexer) -> Defect {
    let taken = if lexer == Lexer::Cql { "CQL" } else { "SQL" };
    Defect::new(at, format!("found a JSON document, expected {taken}")).hint(format!(
        "this system takes statements in {taken}; documents are for systems with collections"
    ))
}

fn statement(open: &mut Option<usize>, end: usize, is_joined: bool) -> Option<Part> {
    let range = open.take()?..end;
    Some(Part::Statement { range, is_joined })
}

fn all_closed(parentheses: &[usize]) -> Result<(), Defect> {
    match parentheses.first() {
        None => Ok(()),
        Some(&open) => Err(
            Defect::new(open, "this parenthesis is not closed: expected )")
                .hint("within parentheses ; does not end a statement"),
        ),
    }
}

/// The meta command whose backslash is at `backslash`.
pub(super) fn command(text: &str, backslash: usize) -> Part {
    let line = &text[backslash..logical_line_end(text.as_bytes(), backslash)];
    let word = &line[1..];
    let length = word.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name_end = backslash + 1 + length.unwrap_or(word.len());
    Part::Command {
        name: backslash + 1..name_end,
        arguments: name_end..backslash + line.len(),
    }
}

pub(super) fn command_end(command: &Part) -> usize {
    match command {
        Part::Command { arguments, .. } => arguments.end,
        Part::Statement { range, .. } => range.end,
    }
}

/// The end of the line, or of the last line that backslashes join to it.
fn logical_line_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() {
        if bytes[at] == b'\n' {
            let before = bytes[start + 1..at]
                .strip_suffix(b"\r")
                .unwrap_or(&bytes[start + 1..at]);
            if !before.ends_with(b"\\") {
                return at;
            }
        }
        at += 1;
    }
    bytes.len()
}

// Takes a plain file of statements; returns the statements, split as an interactive client would.

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
    style: TextStyle,
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

fn ranges(text: &str, style: TextStyle) -> Result<Vec<(usize, usize)>, Defect> {
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

// Takes the text of a script; returns it cut before and after each name in double quotes of its statements.

/// The text in pieces, which joined are the text: those with an odd index are names with their quotes, as
/// `"year"`. Literals, comments and the lines of meta commands hold none. A text that does not compile may
/// be one piece: the compiler says why.
pub fn cut_at_names(text: &str, style: TextStyle) -> Vec<&str> {
    pieces(text, Lexer::Sql(style)).unwrap_or_else(|_| vec![text])
}

fn pieces(text: &str, lexer: Lexer) -> Result<Vec<&str>, Defect> {
    let (mut found, mut copied) = (Vec::new(), 0);
    for part in lexer.parts(text)? {
        let Part::Statement { range, .. } = part else {
            continue;
        };
        let mut at = range.start;
        while at < range.end {
            let end = lexer.passage(text, at)?.map_or(at + 1, Passage::end);
            if text.as_bytes()[at] == b'"' {
                found.extend([&text[copied..at], &text[at..end]]);
                copied = end;
            }
            at = end;
        }
    }
    found.push(&text[copied..]);
    Ok(found)
}

#[cfg(test)]
mod tests {

    use super::*;

    fn names(text: &str, style: TextStyle) -> Vec<&str> {
        let pieces = cut_at_names(text, style);
        assert_eq!(pieces.concat(), text);
        pieces.into_iter().skip(1).step_by(2).collect()
    }

    #[test]
    fn names_are_not_sought_in_literals_comments_and_commands() {
        let text = "-- \"no\"\n\\set x 'a \"no\"'\nselect \"a b\".\"c\"\"d\", '\"no\"', $$\"no\"$$ /* \"no\" */\n\
                    from \"é\" where x = 'it''s \"no\"' \\gset path $.k.\"no\" name\nselect \"last\"";
        assert_eq!(
            names(text, TextStyle::STANDARD),
            ["\"a b\"", "\"c\"\"d\"", "\"é\"", "\"last\""]
        );
    }

    #[test]
    fn a_backslash_escapes_where_the_system_reads_it_so() {
        let text = "select 'it\\'s \"no\"', \"yes\" # \"no\"";
        assert_eq!(names(text, TextStyle::BACKSLASH), ["\"yes\""]);
    }

    #[test]
    fn a_text_that_does_not_compile_is_one_piece() {
        for text in ["select \"open", "select (\"a\"", "select 'open \"a\"", ""] {
            assert_eq!(cut_at_names(text, TextStyle::STANDARD), [text]);
        }
    }
}
