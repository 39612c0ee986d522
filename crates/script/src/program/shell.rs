//! Takes a command of `\shell` or `\setshell` and the values of its variables; runs it on the client machine.

use crate::expression::number::Fault;
use crate::lexer::statement::Name;
use crate::place::{Defect, name_end};
use crate::program::operand::Slot;
use crate::shared::children::Children;
use assay_values::Value;
use std::ops::Range;

/// A command as written in the script.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    /// The variable that receives the command's output.
    pub into: Option<Name<'a>>,
    pub words: Vec<Word<'a>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Word<'a> {
    Text(&'a str),
    Variable(Name<'a>),
}

/// A command whose variables are resolved.
#[derive(Clone, Debug)]
pub(crate) struct Shell {
    pub into: Option<Slot>,
    pub words: Vec<Result<String, Slot>>,
}

impl<'a> Words<'a> {
    /// Words are separated by white space; the word `:name` is that variable, and `::name` is the text
    /// `:name` (as in pgbench).
    pub fn read(text: &'a str, range: Range<usize>, takes_answer: bool) -> Result<Self, Defect> {
        let mut into = None;
        let mut words = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let rest = &text[at..range.end];
            let is_joint = rest.starts_with("\\\n") || rest.starts_with("\\\r\n");
            if is_joint || rest.starts_with(|letter: char| letter.is_ascii_whitespace()) {
                at += 1;
                continue;
            }
            let length = rest.find(|letter: char| letter.is_ascii_whitespace());
            let word = &rest[..length.unwrap_or(rest.len())];
            let end = at + word.len();
            if takes_answer && into.is_none() {
                if name_end(word, 0) != Some(word.len()) {
                    let message = format!("expected the name of a variable, found {word}");
                    return Err(Defect::new(at, message));
                }
                into = Some(Name { at, name: word });
            } else {
                words.push(match word.strip_prefix(':') {
                    Some(colon) if colon.starts_with(':') => Word::Text(colon),
                    Some(name) if name_end(name, 0) == Some(name.len()) => {
                        Word::Variable(Name { at, name })
                    }
                    _ => Word::Text(word),
                });
            }
            at = end;
        }
        let missing = match (takes_answer && into.is_none(), words.is_empty()) {
            (true, _) => "the name of a variable",
            (false, true) => "a command",
            (false, false) => return Ok(Self { into, words }),
        };
        let message = format!("expected {missing}, found the end of the line");
        Err(Defect::new(range.end, message))
    }
}

impl Shell {
    /// Runs the command line; for `\setshell` returns the integer that it prints.
    pub fn run(&self, line: &str, children: &Children) -> Result<Option<Value>, Fault> {
        let (status, printed) = children
            .run(line, self.into.is_some())
            .map_err(|error| Fault::of(format!("cannot run {line}: {error}")))?;
        if !status.success() {
            return Err(Fault::of(format!("the command {line} failed: {status}")));
        }
        let Some(printed) = printed else {
            return Ok(None);
        };
        match printed.parse() {
            Ok(number) => Ok(Some(Value::Int(number))),
            Err(_) => Err(Fault::of(format!(
                "expected the command {line} to print an integer, found '{printed}'"
            ))),
        }
    }
}
