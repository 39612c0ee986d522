//! Takes one meta command with its arguments; gives what it asks for. One table names the commands
//! for the parser and the reference.

use crate::class::{self, STATEMENT_CLASSES};
use crate::document_path::{self, Step};
use crate::nearest::nearest;
use crate::operand::Unit;
use crate::place::Defect;
use crate::reader::Reader;
use crate::shell::Words;
use crate::statement::Name;
use crate::token::{Token, tokens};
use crate::tree::Expression;
use assay_values::Distribution;
use std::ops::Range;

#[derive(Debug)]
pub(crate) enum Command<'a> {
    Set {
        name: Name<'a>,
        value: Expression<'a>,
    },
    If(Expression<'a>),
    Elif(Expression<'a>),
    Else,
    Endif,
    For {
        name: Name<'a>,
        from: Expression<'a>,
        to: Expression<'a>,
    },
    Endfor,
    Gset {
        prefix: &'a str,
    },
    GsetPath {
        name: Name<'a>,
        spelled: &'a str,
        steps: Vec<Step>,
    },
    ExpectRows(Expression<'a>),
    ExpectValue(Expression<'a>),
    ExpectError(&'static str),
    Aset {
        prefix: &'a str,
    },
    Pause {
        duration: Duration<'a>,
        is_part_of_latency: bool,
    },
    Begin {
        level: String,
    },
    Commit,
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    Shell(Words<'a>),
    Abort,
}

/// How long a pause is.
#[derive(Debug)]
pub(crate) enum Duration<'a> {
    Computed(Expression<'a>, Unit),
    /// As it is spelled, and as it is.
    Drawn(&'a str, Distribution),
}

impl Command<'_> {
    /// Whether it speaks of the answer to the statement before it.
    pub fn follows_statement(&self) -> bool {
        use Command::{Aset, ExpectError, ExpectRows, ExpectValue, Gset, GsetPath};
        matches!(
            self,
            Gset { .. }
                | GsetPath { .. }
                | Aset { .. }
                | ExpectRows(_)
                | ExpectValue(_)
                | ExpectError(_)
        )
    }
}

/// A meta command, as the reference shows it.
pub(crate) struct Form {
    pub name: &'static str,
    pub arguments: &'static str,
    pub synopsis: &'static str,
    /// Whether pgbench has it too.
    pub is_of_pgbench: bool,
    parse: Parse,
}

enum Parse {
    /// Its arguments are words and expressions.
    Tokens(for<'a> fn(&mut Reader<'a>) -> Result<Command<'a>, Defect>),
    Pause {
        is_part_of_latency: bool,
    },
    Shell {
        takes_answer: bool,
    },
    /// A prefix, or a path and a name.
    Gset,
}

use Parse::Tokens;

#[rustfmt::skip]
pub(crate) static FORMS: &[Form] = &[
    Form { name: "abort", arguments: "", is_of_pgbench: false, parse: Tokens(|_| Ok(Command::Abort)),
        synopsis: "ends the transaction as the workload asks: it is rolled back and counted `aborted`" },
    Form { name: "aset", arguments: "[prefix]", is_of_pgbench: true,
        parse: Tokens(|reader| Ok(Command::Aset { prefix: prefix(reader)? })),
        synopsis: "after a statement or several combined ones, or in place of their `;`: the columns of the \
                   last row of each answer are put into the variables called prefix and column; an answer \
                   without a row leaves them as they are" },
    Form { name: "begin", arguments: "[isolation level]", is_of_pgbench: false, parse: Tokens(begin),
        synopsis: "begins a transaction of the system, at this level if one is named, as the system spells it: \
                   `read uncommitted`, `read committed`, `repeatable read`, `serializable`" },
    Form { name: "commit", arguments: "", is_of_pgbench: false, parse: Tokens(|_| Ok(Command::Commit)),
        synopsis: "commits the transaction, as the system does it" },
    Form { name: "elif", arguments: "condition", is_of_pgbench: true,
        parse: Tokens(|reader| Ok(Command::Elif(reader.expression()?))),
        synopsis: "what follows is done where no condition before was true and this one is" },
    Form { name: "else", arguments: "", is_of_pgbench: true, parse: Tokens(|_| Ok(Command::Else)),
        synopsis: "what follows is done where no condition before was true" },
    Form { name: "endfor", arguments: "", is_of_pgbench: false, parse: Tokens(|_| Ok(Command::Endfor)),
        synopsis: "ends `\\for`" },
    Form { name: "endif", arguments: "", is_of_pgbench: true, parse: Tokens(|_| Ok(Command::Endif)),
        synopsis: "ends `\\if`" },
    Form { name: "endpipeline", arguments: "", is_of_pgbench: true,
        parse: Tokens(|_| Ok(Command::EndPipeline)),
        synopsis: "ends `\\startpipeline`: the statements since then are sent together and all answers awaited" },
    Form { name: "expect", arguments: "rows n | value v | error class", is_of_pgbench: false,
        parse: Tokens(expect),
        synopsis: "after a statement: what its answer must be, or else the transaction has `failed`; \
                   n and v are expressions, and NULL expects nothing" },
    Form { name: "for", arguments: "name in from..to", is_of_pgbench: false, parse: Tokens(for_loop),
        synopsis: "does what follows once for every integer from `from` to `to`, both included" },
    Form { name: "gset", arguments: "[prefix]", is_of_pgbench: true, parse: Parse::Gset,
        synopsis: "after a statement, or in place of its `;`: the answer must be one row; its columns \
                   are put into the variables called prefix and column; of combined statements it \
                   speaks of the last. An addition: `\\gset path $.key[0].\"any key\" name` puts what stands at that \
                   path of a JSON document, the first column, into the variable `name`; NULL where nothing does" },
    Form { name: "if", arguments: "condition", is_of_pgbench: true,
        parse: Tokens(|reader| Ok(Command::If(reader.expression()?))),
        synopsis: "what follows, up to `\\elif`, `\\else` or `\\endif`, is done where the condition is true" },
    Form { name: "keying", arguments: "duration [us | ms | s]", is_of_pgbench: false,
        parse: Parse::Pause { is_part_of_latency: false },
        synopsis: "waits as a user does who types: the wait is no part of the latency" },
    Form { name: "set", arguments: "name expression", is_of_pgbench: true, parse: Tokens(set),
        synopsis: "puts a value into a variable; variables keep it from transaction to transaction" },
    Form { name: "setshell", arguments: "name command [argument ...]", is_of_pgbench: true,
        parse: Parse::Shell { takes_answer: true },
        synopsis: "puts the integer that a command of this machine prints into a variable" },
    Form { name: "shell", arguments: "command [argument ...]", is_of_pgbench: true,
        parse: Parse::Shell { takes_answer: false },
        synopsis: "runs a command of this machine; a status other than 0 makes the transaction `failed`" },
    Form { name: "sleep", arguments: "duration [us | ms | s]", is_of_pgbench: true,
        parse: Parse::Pause { is_part_of_latency: true },
        synopsis: "waits, within the latency; without a unit the duration is in seconds" },
    Form { name: "startpipeline", arguments: "", is_of_pgbench: true,
        parse: Tokens(|_| Ok(Command::StartPipeline)),
        synopsis: "the statements up to `\\endpipeline` are not answered one by one" },
    Form { name: "syncpipeline", arguments: "", is_of_pgbench: true,
        parse: Tokens(|_| Ok(Command::SyncPipeline)),
        synopsis: "within a pipeline: sends what has gathered and awaits the answers" },
    Form { name: "think", arguments: "duration [us | ms | s]", is_of_pgbench: false,
        parse: Parse::Pause { is_part_of_latency: false },
        synopsis: "waits as a user does who reads: the wait is no part of the latency" },
];

/// Reads one command of `text`; `at` is the place of its backslash.
pub(crate) fn command<'a>(
    at: usize,
    name: &str,
    text: &'a str,
    arguments: Range<usize>,
) -> Result<Command<'a>, Defect> {
    let known = FORMS
        .iter()
        .find(|form| name.eq_ignore_ascii_case(form.name));
    let form = known.ok_or_else(|| unknown(at, name))?;
    let usage = || {
        format!("\\{} {}", form.name, form.arguments)
            .trim_end()
            .to_owned()
    };
    read(form, text, arguments).map_err(|defect| defect.or_hint(usage()))
}

fn read<'a>(form: &Form, text: &'a str, arguments: Range<usize>) -> Result<Command<'a>, Defect> {
    if let Parse::Shell { takes_answer } = form.parse {
        return Words::read(text, arguments, takes_answer).map(Command::Shell);
    }
    if let Parse::Pause { is_part_of_latency } = form.parse
        && let Some(duration) = drawn(text, arguments.clone())?
    {
        return Ok(Command::Pause {
            duration,
            is_part_of_latency,
        });
    }
    if let Parse::Gset = form.parse
        && let Some(command) = gset_path(text, arguments.clone())?
    {
        return Ok(command);
    }
    let mut reader = Reader::new(tokens(text, arguments)?);
    let command = match form.parse {
        Parse::Gset => Command::Gset {
            prefix: prefix(&mut reader)?,
        },
        Tokens(parse) => parse(&mut reader)?,
        Parse::Pause { is_part_of_latency } => Command::Pause {
            duration: computed(&mut reader)?,
            is_part_of_latency,
        },
        Parse::Shell { .. } => unreachable!("dealt with above"),
    };
    reader.end()?;
    Ok(command)
}

fn unknown(at: usize, name: &str) -> Defect {
    if name.is_empty() {
        return Defect::new(at, "expected the name of a meta command after \\")
            .hint("a backslash stands only within literals and before a meta command");
    }
    let names: Vec<String> = FORMS
        .iter()
        .map(|form| format!("\\{}", form.name))
        .collect();
    let meant = nearest(name, FORMS.iter().map(|form| form.name));
    Defect::new(at, format!("expected a meta command, found \\{name}"))
        .hint(format!("the meta commands are {}", names.join(", ")))
        .perhaps(meant.map(|meant| format!("\\{meant}")))
}

fn set<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let name = name(reader)?;
    Ok(Command::Set {
        name,
        value: reader.expression()?,
    })
}

fn for_loop<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let name = name(reader)?;
    reader.word("in")?;
    let from = reader.expression()?;
    reader.symbol("..")?;
    Ok(Command::For {
        name,
        from,
        to: reader.expression()?,
    })
}

fn prefix<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Defect> {
    Ok(match reader.peek().token {
        Token::End => "",
        _ => name(reader)?.name,
    })
}

/// `path $.a.b name`; `None` where the arguments do not begin so.
fn gset_path(text: &str, arguments: Range<usize>) -> Result<Option<Command<'_>>, Defect> {
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
    Ok(Some(Command::GsetPath {
        name,
        spelled: &text[begin..end],
        steps,
    }))
}

/// A level is one word or several; the whole rest of the line names it.
fn begin<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let level = words(reader).join(" ").to_lowercase();
    Ok(Command::Begin { level })
}

/// `exponential:1s` and its like; `None` where the arguments do not begin so.
fn drawn(text: &str, arguments: Range<usize>) -> Result<Option<Duration<'_>>, Defect> {
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

fn computed<'a>(reader: &mut Reader<'a>) -> Result<Duration<'a>, Defect> {
    let duration = reader.expression()?;
    let unit = Unit::ALL
        .into_iter()
        .find(|unit| reader.takes_word(unit.symbol()));
    let unit = match (unit, &reader.peek().token) {
        (Some(unit), _) => unit,
        (None, Token::End) => Unit::Seconds,
        (None, _) => return Err(reader.expected("us, ms or s")),
    };
    Ok(Duration::Computed(duration, unit))
}

fn expect<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
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

/// Classes are one word or two; the whole rest of the line names one.
fn error_class<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let at = reader.peek().range.start;
    let found = words(reader).join(" ");
    class::named(&found)
        .map(Command::ExpectError)
        .map_err(|meant| {
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
