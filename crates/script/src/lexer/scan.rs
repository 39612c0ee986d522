//! Takes the text of a script in a query language; returns its parts: statements, and meta commands with
//! their arguments.

use crate::lexer::kind::{is_open_batch, is_open_body};
use crate::lexer::language::Lexer;
use crate::lexer::passage::Passage;
use crate::place::{Defect, text_start};
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
