//! Takes one meta command with its arguments; gives what it asks for. One table names the commands
//! for the parser and the reference.

use crate::class::{self, STATEMENT_CLASSES};
use crate::expression::Expression;
use crate::nearest::nearest;
use crate::operand::Unit;
use crate::place::Defect;
use crate::reader::Reader;
use crate::statement::Name;
use crate::token::{Placed, Token};

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
    ExpectRows(Expression<'a>),
    ExpectValue(Expression<'a>),
    ExpectError(&'static str),
    Sleep {
        duration: Expression<'a>,
        unit: Unit,
    },
    Abort,
}

impl Command<'_> {
    /// Whether it speaks of the answer to the statement before it.
    pub fn follows_statement(&self) -> bool {
        use Command::{ExpectError, ExpectRows, ExpectValue, Gset};
        matches!(
            self,
            Gset { .. } | ExpectRows(_) | ExpectValue(_) | ExpectError(_)
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
    parse: for<'a> fn(&mut Reader<'a>) -> Result<Command<'a>, Defect>,
}

#[rustfmt::skip]
pub(crate) static FORMS: &[Form] = &[
    Form { name: "abort", arguments: "", is_of_pgbench: false, parse: |_| Ok(Command::Abort),
        synopsis: "ends the transaction as the workload asks: it is rolled back and counted `aborted`" },
    Form { name: "elif", arguments: "condition", is_of_pgbench: true,
        parse: |reader| Ok(Command::Elif(reader.expression()?)),
        synopsis: "what follows is done where no condition before was true and this one is" },
    Form { name: "else", arguments: "", is_of_pgbench: true, parse: |_| Ok(Command::Else),
        synopsis: "what follows is done where no condition before was true" },
    Form { name: "endfor", arguments: "", is_of_pgbench: false, parse: |_| Ok(Command::Endfor),
        synopsis: "ends `\\for`" },
    Form { name: "endif", arguments: "", is_of_pgbench: true, parse: |_| Ok(Command::Endif),
        synopsis: "ends `\\if`" },
    Form { name: "expect", arguments: "rows n | value v | error class", is_of_pgbench: false, parse: expect,
        synopsis: "after a statement: what its answer must be, or else the transaction has `failed`; \
                   n and v are expressions, and NULL expects nothing" },
    Form { name: "for", arguments: "name in from..to", is_of_pgbench: false, parse: for_loop,
        synopsis: "does what follows once for every integer from `from` to `to`, both included" },
    Form { name: "gset", arguments: "[prefix]", is_of_pgbench: true, parse: gset,
        synopsis: "after a statement, or in place of its `;`: the answer must be one row; its columns \
                   are put into the variables called prefix and column" },
    Form { name: "if", arguments: "condition", is_of_pgbench: true,
        parse: |reader| Ok(Command::If(reader.expression()?)),
        synopsis: "what follows, up to `\\elif`, `\\else` or `\\endif`, is done where the condition is true" },
    Form { name: "set", arguments: "name expression", is_of_pgbench: true, parse: set,
        synopsis: "puts a value into a variable; variables keep it from transaction to transaction" },
    Form { name: "sleep", arguments: "duration [us | ms | s]", is_of_pgbench: true, parse: sleep,
        synopsis: "waits, within the response time; without a unit the duration is in seconds" },
];

/// What this version does not have yet, and whose it is.
const NOT_YET: &[(&str, &str)] = &[
    ("aset", "pgbench's"),
    ("endpipeline", "pgbench's"),
    ("keying", "our own"),
    ("setshell", "pgbench's"),
    ("shell", "pgbench's"),
    ("startpipeline", "pgbench's"),
    ("syncpipeline", "pgbench's"),
    ("think", "our own"),
];

/// Reads one command; `at` is the place of its backslash.
pub(crate) fn command<'a>(
    at: usize,
    name: &str,
    tokens: impl FnOnce() -> Result<Vec<Placed<'a>>, Defect>,
) -> Result<Command<'a>, Defect> {
    let known = FORMS
        .iter()
        .find(|form| name.eq_ignore_ascii_case(form.name));
    let form = known.ok_or_else(|| unknown(at, name))?;
    let mut reader = Reader::new(tokens()?);
    let usage = || {
        format!("\\{} {}", form.name, form.arguments)
            .trim_end()
            .to_owned()
    };
    let command = (form.parse)(&mut reader).map_err(|defect| defect.or_hint(usage()))?;
    reader.end().map_err(|defect| defect.or_hint(usage()))?;
    Ok(command)
}

fn unknown(at: usize, name: &str) -> Defect {
    if name.is_empty() {
        return Defect::new(at, "expected the name of a meta command after \\")
            .hint("a backslash stands only within literals and before a meta command");
    }
    if let Some((_, whose)) = NOT_YET
        .iter()
        .find(|(later, _)| name.eq_ignore_ascii_case(later))
    {
        return Defect::new(
            at,
            format!("{whose} meta command \\{name} is not known yet"),
        );
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

fn gset<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let prefix = match reader.peek().token {
        Token::End => "",
        _ => name(reader)?.name,
    };
    Ok(Command::Gset { prefix })
}

fn sleep<'a>(reader: &mut Reader<'a>) -> Result<Command<'a>, Defect> {
    let duration = reader.expression()?;
    let unit = Unit::ALL
        .into_iter()
        .find(|unit| reader.takes_word(unit.symbol()));
    match (unit, &reader.peek().token) {
        (Some(unit), _) => Ok(Command::Sleep { duration, unit }),
        (None, Token::End) => Ok(Command::Sleep {
            duration,
            unit: Unit::Seconds,
        }),
        (None, _) => Err(reader.expected("us, ms or s")),
    }
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
    let mut words = Vec::new();
    while let Token::Word(word) = reader.peek().token {
        words.push(word);
        reader.take();
    }
    let found = words.join(" ");
    class::named(&found)
        .map(Command::ExpectError)
        .map_err(|meant| {
            let found = if found.is_empty() { "none" } else { &found };
            Defect::new(at, format!("expected a class of errors, found {found}"))
                .hint(format!("the classes are {}", STATEMENT_CLASSES.join(", ")))
                .perhaps(meant.map(str::to_owned))
        })
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
