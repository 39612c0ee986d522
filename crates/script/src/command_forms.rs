//! Takes one meta command with its arguments; finds its form, and reads it. One table names the commands
//! for the parser and the reference.

use crate::command::Command;
use crate::command_arguments::{begin, computed, drawn, expect, for_loop, gset_path, prefix, set};
use crate::nearest::nearest;
use crate::place::Defect;
use crate::reader::Reader;
use crate::shell::Words;
use crate::token::tokens;
use std::ops::Range;

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
