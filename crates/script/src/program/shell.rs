//! Takes a command of `\shell` or `\setshell` and the values of its variables; runs it on the client machine, which the
//! engine does where it keeps no other client waiting.

use crate::expression::number::Fault;
use crate::lexer::statement::Name;
use crate::place::{Defect, name_end};
use crate::program::opcode::Slot;
use crate::shared::Children;
use assay_values::Value;
use std::io;
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

/// A command of one client, with the values of its variables.
#[derive(Debug, PartialEq, Eq)]
pub struct ShellCommand {
    pub(crate) line: String,
    pub(crate) into: Option<Slot>,
}

/// How a command has ended, and for `\setshell` the integer that it has printed.
#[derive(Debug)]
pub struct ShellResult(pub(crate) Result<Option<(Slot, Value)>, Fault>);

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

impl ShellCommand {
    /// Runs it to its end.
    pub fn run(&self, children: &Children) -> ShellResult {
        match children.run(&self.line, self.into.is_some()) {
            Ok((status, _)) if !status.success() => ShellResult(Err(Fault::of(format!(
                "the command {} failed: {status}",
                self.line
            )))),
            Ok((_, printed)) => ShellResult(self.stored(printed.as_deref())),
            Err(error) => self.not_started(&error),
        }
    }

    /// It could not be started.
    pub fn not_started(&self, error: &io::Error) -> ShellResult {
        let message = format!("cannot run {}: {error}", self.line);
        ShellResult(Err(Fault::of(message)))
    }

    fn stored(&self, printed: Option<&str>) -> Result<Option<(Slot, Value)>, Fault> {
        let (Some(slot), Some(printed)) = (self.into, printed) else {
            return Ok(None);
        };
        match printed.parse() {
            Ok(number) => Ok(Some((slot, Value::Int(number)))),
            Err(_) => Err(Fault::of(format!(
                "expected the command {} to print an integer, found '{printed}'",
                self.line
            ))),
        }
    }
}
