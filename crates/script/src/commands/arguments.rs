//! Takes the arguments of one meta command; returns the parsed command.

use crate::commands::{Command, Duration};
use crate::expression::grammar::Reader;
use crate::expression::token::{Token, tokens};
use crate::lexer::statement::Name;
use crate::place::Defect;
use crate::program::document_path;
use crate::program::opcode::Unit;
use crate::reply::{STATEMENT_CLASSES, class_named};
use assay_values::Distribution;
use std::ops::Range;

pub(crate) fn set<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let name = name(reader)?;
    Ok(Command::Set { name, value: reader.expression()? })
}

pub(crate) fn next<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    Ok(Command::Next { name: name(reader)? })
}

pub(crate) fn acknowledged<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    Ok(Command::Acknowledged { name: name(reader)?, of: name(reader)? })
}

/// `script a b`: the script is named as files are, so its name is no token.
pub(crate) fn defer(text: &str, arguments: Range<usize>) -> Result<Command<'_>, Defect> {
    let words = text[arguments.clone()].trim_start();
    let at = arguments.end - words.len();
    let length = words.find(|letter: char| letter.is_ascii_whitespace());
    let script = Name { at, name: &words[..length.unwrap_or(words.len())] };
    if script.name.is_empty() {
        let message = "expected the name of a script, found the end of the line";
        return Err(Defect::new(at, message));
    }
    let mut reader = Reader::new(tokens(text, at + script.name.len()..arguments.end)?);
    let mut variables = Vec::new();
    while reader.peek().token != Token::End {
        variables.push(name(&mut reader)?);
    }
    Ok(Command::Defer { script, variables })
}

pub(crate) fn for_loop<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let name = name(reader)?;
    reader.word("in")?;
    let from = reader.expression()?;
    reader.symbol("..")?;
    Ok(Command::For { name, from, to: reader.expression()? })
}

pub(crate) fn prefix<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Defect> {
    Ok(match reader.peek().token {
        Token::End => "",
        _ => name(reader)?.name,
    })
}

/// `path $.a.b name`; `None` if the arguments do not begin with a path.
pub(crate) fn gset_path(
    text: &str,
    arguments: Range<usize>,
) -> Result<Option<Command<'_>>, Defect> {
    let all = &text[arguments.clone()];
    let words = all.trim_start();
    let Some(rest) = words.strip_prefix("path") else {
        return Ok(None);
    };
    let path = rest.trim_start();
    if path.len() == rest.len() || !path.starts_with('$') {
        return Ok(None);
    }
    let begin = arguments.end - path.len();
    let (steps, end) = document_path::steps(text, begin..arguments.end)?;
    let mut reader = Reader::new(tokens(text, end..arguments.end)?);
    let name = name(&mut reader)?;
    reader.end()?;
    Ok(Some(Command::GsetPath { name, spelled: &text[begin..end], steps }))
}

/// An isolation level is one word or several; the rest of the line names it.
pub(crate) fn begin<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let level = words(reader).join(" ").to_lowercase();
    Ok(Command::Begin { level })
}

/// A distribution such as `exponential:1s`; `None` if the arguments do not begin with one.
pub(crate) fn drawn(text: &str, arguments: Range<usize>) -> Result<Option<Duration<'_>>, Defect> {
    let spelled = text[arguments.clone()].trim();
    let kind = spelled.split(|letter: char| !letter.is_ascii_alphabetic());
    let kind = kind.into_iter().next().unwrap_or_default();
    if kind.is_empty() || !spelled[kind.len()..].starts_with(':') {
        return Ok(None);
    }
    let at = arguments.start + text[arguments.clone()].find(spelled).unwrap_or(0);
    let drawn = Distribution::parse(spelled).ok_or_else(|| {
        Defect::new(at, format!("expected a distribution, found {spelled}"))
            .hint(format!("as in {}", Distribution::FORMS))
    })?;
    Ok(Some(Duration::Drawn(spelled, drawn)))
}

pub(crate) fn computed<'a>(reader: &mut Reader<'a>) -> Result<Duration<'a>, Defect> {
    let duration = reader.expression()?;
    let unit = Unit::ALL.into_iter().find(|unit| reader.takes_word(unit.symbol()));
    let unit = match (unit, &reader.peek().token) {
        (Some(unit), _) => unit,
        (None, Token::End) => Unit::Seconds,
        (None, _) => return Err(reader.expected("us, ms or s")),
    };
    Ok(Duration::Computed(duration, unit))
}

pub(crate) fn expect<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    if reader.takes_word("rows") {
        Ok(Command::ExpectRows(reader.expression()?))
    } else if reader.takes_word("value") {
        Ok(Command::ExpectValue(reader.expression()?))
    } else if reader.takes_word("error") {
        error_class(reader)
    } else {
        Err(reader.expected("rows, value or error"))
    }
}

/// A class is one word or two; the rest of the line names it.
fn error_class<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let at = reader.peek().range.start;
    let found = words(reader).join(" ");
    class_named(&found).map(Command::ExpectError).map_err(|meant| {
        let found = if found.is_empty() { "none" } else { &found };
        Defect::new(at, format!("expected a class of errors, found {found}"))
            .hint(format!("the classes are {}", STATEMENT_CLASSES.join(", ")))
            .perhaps(meant.map(str::to_owned))
    })
}

fn words<'a>(reader: &mut Reader<'a>) -> Vec<&'a str> {
    let mut words = Vec::new();
    while let Token::Word(word) = reader.peek().token {
        words.push(word);
        reader.take();
    }
    words
}

fn name<'a>(reader: &mut Reader<'a>) -> Result<Name<'a>, Defect> {
    let placed = reader.take();
    let at = placed.range.start;
    match placed.token {
        Token::Word(name) => Ok(Name { at, name }),
        Token::Variable(name) => Err(placed
            .instead_of("the name of a variable")
            .hint(format!("here it is written {name}"))),
        _ => Err(placed.instead_of("the name of a variable")),
    }
}
