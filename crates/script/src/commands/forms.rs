//! Takes one meta command with its arguments; returns the parsed command. One table lists the commands
//! for the parser and the reference.

use crate::commands::Command;
use crate::commands::arguments::{
    acknowledged, begin, computed, defer, drawn, expect, for_loop, gset_path, next, prefix, set,
};
use crate::expression::grammar::Reader;
use crate::expression::token::tokens;
use crate::nearest::nearest;
use crate::place::Defect;
use crate::program::shell::Words;
use Parse::Tokens;
use std::ops::Range;

/// A meta command, as the reference shows it.
pub(crate) struct Form {
    pub name: &'static str,
    pub arguments: &'static str,
    pub synopsis: &'static str,
    /// Whether pgbench has this command.
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
    /// A condition, whose text is shown where it does not hold.
    Assert,
    /// The name of a script, which may have other letters than a variable's, and names of variables.
    Defer,
}

#[rustfmt::skip]
pub(crate) static FORMS: &[Form] = &[
    Form { name: "abort", arguments: "", is_of_pgbench: false, parse: Tokens(|_| Ok(Command::Abort)),
        synopsis: "ends the transaction: it is rolled back and counted as `aborted`; of what follows, only the pauses at the end of the script (`\\think`, `\\keying`) are made" },
    Form { name: "acknowledged", arguments: "name number", is_of_pgbench: false, parse: Tokens(acknowledged),
        synopsis: "sets a variable to how many numbers of `\\next number` are acknowledged: all below it are of transactions that ended `ok`" },
    Form { name: "aset", arguments: "[prefix]", is_of_pgbench: true,
        parse: Tokens(|reader| Ok(Command::Aset { prefix: prefix(reader)? })),
        synopsis: "after one statement or several combined statements, or in place of their `;`: stores the columns \
        of the last row of each answer in variables named by the prefix and the column; an answer \
        without rows leaves the variables unchanged" },
    Form { name: "assert", arguments: "condition", is_of_pgbench: false, parse: Parse::Assert,
        synopsis: "makes the transaction `failed`, class `expectation`, unless the condition is true" },
    Form { name: "atomic", arguments: "", is_of_pgbench: false, parse: Tokens(|_| Ok(Command::Atomic)),
        synopsis: "after `CALL`, `DO` or another statement that may commit: it is one transaction, so that nothing of it stays \
                   where it fails, and it can be retried" },
    Form { name: "begin", arguments: "[isolation level]", is_of_pgbench: false, parse: Tokens(begin),
        synopsis: "begins a transaction, at this isolation level if one is given: \
                   `read uncommitted`, `read committed`, `repeatable read`, `serializable`; a system without it takes \
                   the next stronger one that it has" },
    Form { name: "commit", arguments: "", is_of_pgbench: false, parse: Tokens(|_| Ok(Command::Commit)),
        synopsis: "commits the transaction" },
    Form { name: "defer", arguments: "script [variable ...]", is_of_pgbench: false, parse: Parse::Defer,
        synopsis: "queues a script for clients of its own, which run it as soon as one of them is free, with the values that \
                   these variables have now" },
    Form { name: "elif", arguments: "condition", is_of_pgbench: true,
        parse: Tokens(|reader| Ok(Command::Elif(reader.expression()?))),
        synopsis: "runs what follows if no earlier condition was true and this one is" },
    Form { name: "else", arguments: "", is_of_pgbench: true, parse: Tokens(|_| Ok(Command::Else)),
        synopsis: "runs what follows if no earlier condition was true" },
    Form { name: "endfor", arguments: "", is_of_pgbench: false, parse: Tokens(|_| Ok(Command::Endfor)),
        synopsis: "ends `\\for`" },
    Form { name: "endif", arguments: "", is_of_pgbench: true, parse: Tokens(|_| Ok(Command::Endif)),
        synopsis: "ends `\\if`" },
    Form { name: "endpipeline", arguments: "", is_of_pgbench: true,
        parse: Tokens(|_| Ok(Command::EndPipeline)),
        synopsis: "ends the pipeline: sends its statements together and waits for all answers" },
    Form { name: "expect", arguments: "rows n | value v | error class", is_of_pgbench: false,
        parse: Tokens(expect),
        synopsis: "after a statement: the answer that is expected; any other answer makes the transaction `failed`; \
        n and v are expressions, and NULL accepts any answer" },
    Form { name: "for", arguments: "name in from..to", is_of_pgbench: false, parse: Tokens(for_loop),
        synopsis: "runs what follows once for every integer from `from` to `to`, both included" },
    Form { name: "gset", arguments: "[prefix]", is_of_pgbench: true, parse: Parse::Gset,
        synopsis: "after a statement, or in place of its `;`: the answer must be one row; stores its columns \
        in variables named by the prefix and the column; after combined statements it applies \
        to the last. An addition: `\\gset path $.key[0].\"any key\" name` reads the first column as a \
        JSON document and stores the value at that path in the variable `name`; NULL if the path does not exist" },
    Form { name: "if", arguments: "condition", is_of_pgbench: true,
        parse: Tokens(|reader| Ok(Command::If(reader.expression()?))),
        synopsis: "runs what follows, up to `\\elif`, `\\else` or `\\endif`, if the condition is true" },
    Form { name: "keying", arguments: "duration [us | ms | s]", is_of_pgbench: false,
        parse: Parse::Pause { is_part_of_latency: false },
        synopsis: "keying time: a wait that is not part of the latency" },
    Form { name: "next", arguments: "name", is_of_pgbench: false, parse: Tokens(next),
        synopsis: "sets a variable to the next of the numbers 0, 1, 2 … that all clients share under this name" },
    Form { name: "set", arguments: "name expression", is_of_pgbench: true, parse: Tokens(set),
        synopsis: "sets a variable; it keeps its value from transaction to transaction" },
    Form { name: "setshell", arguments: "name command [argument ...]", is_of_pgbench: true,
        parse: Parse::Shell { takes_answer: true },
        synopsis: "runs a shell command on the client machine and stores the integer that it prints in a variable" },
    Form { name: "shell", arguments: "command [argument ...]", is_of_pgbench: true,
        parse: Parse::Shell { takes_answer: false },
        synopsis: "runs a shell command on the client machine; an exit status other than 0 makes the transaction `failed`" },
    Form { name: "sleep", arguments: "duration [us | ms | s]", is_of_pgbench: true,
        parse: Parse::Pause { is_part_of_latency: true },
        synopsis: "a wait that is part of the latency; without a unit the duration is in seconds" },
    Form { name: "startpipeline", arguments: "", is_of_pgbench: true,
        parse: Tokens(|_| Ok(Command::StartPipeline)),
        synopsis: "begins a pipeline: the statements up to `\\endpipeline` are sent together" },
    Form { name: "syncpipeline", arguments: "", is_of_pgbench: true,
        parse: Tokens(|_| Ok(Command::SyncPipeline)),
        synopsis: "within a pipeline: sends the statements queued so far and waits for their answers" },
    Form { name: "think", arguments: "duration [us | ms | s]", is_of_pgbench: false,
        parse: Parse::Pause { is_part_of_latency: false },
        synopsis: "think time: a wait that is not part of the latency" },
];

/// Parses one command of `text`; `at` is the offset of its backslash.
pub(crate) fn command<'a>(
    at: usize,
    name: &str,
    text: &'a str,
    arguments: Range<usize>,
) -> Result<Command<'a>, Defect> {
    let known = FORMS.iter().find(|form| name.eq_ignore_ascii_case(form.name));
    let form = known.ok_or_else(|| unknown(at, name))?;
    let usage = || format!("\\{} {}", form.name, form.arguments).trim_end().to_owned();
    read(form, text, arguments).map_err(|defect| defect.or_hint(usage()))
}

fn read<'a>(form: &Form, text: &'a str, arguments: Range<usize>) -> Result<Command<'a>, Defect> {
    if let Parse::Shell { takes_answer } = form.parse {
        return Words::read(text, arguments, takes_answer).map(Command::Shell);
    }
    if let Parse::Pause { is_part_of_latency } = form.parse
        && let Some(duration) = drawn(text, arguments.clone())?
    {
        return Ok(Command::Pause { duration, is_part_of_latency });
    }
    if let Parse::Defer = form.parse {
        return defer(text, arguments);
    }
    if let Parse::Gset = form.parse
        && let Some(command) = gset_path(text, arguments.clone())?
    {
        return Ok(command);
    }
    let mut reader = Reader::new(tokens(text, arguments.clone())?);
    let command = match form.parse {
        Parse::Gset => Command::Gset { prefix: prefix(&mut reader)? },
        Tokens(parse) => parse(&mut reader)?,
        Parse::Assert => {
            let spelled = text[arguments].trim();
            Command::Assert(spelled, reader.expression()?)
        }
        Parse::Pause { is_part_of_latency } => {
            Command::Pause { duration: computed(&mut reader)?, is_part_of_latency }
        }
        Parse::Shell { .. } | Parse::Defer => unreachable!("handled above"),
    };
    reader.end()?;
    Ok(command)
}

/// Commands of other tools, by which their scripts are known, and what to write here.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "setrandom",
        "\\setrandom NAME FIRST LAST, of pgbench before 9.6, is \\set NAME random(FIRST, LAST)",
    ),
    (
        "timing",
        "\\timing is a command of an interactive client: leave it out, --per-statement shows the time of each statement",
    ),
    ("echo", "\\echo is a command of an interactive client: leave it out, scripts print nothing"),
];

fn unknown(at: usize, name: &str) -> Defect {
    if name.is_empty() {
        return Defect::new(at, "expected the name of a meta command after \\")
            .hint(
            "a backslash is allowed only within literals and before a meta command; rows after COPY ... FROM STDIN \
             cannot stand in a script: write INSERT statements, or load them before the run",
        );
    }
    if let Some((_, instead)) = ELSEWHERE.iter().find(|(word, _)| *word == name) {
        return Defect::new(at, format!("expected a meta command, found \\{name}")).hint(*instead);
    }
    let names: Vec<String> = FORMS.iter().map(|form| format!("\\{}", form.name)).collect();
    let meant = nearest(name, FORMS.iter().map(|form| form.name));
    Defect::new(at, format!("expected a meta command, found \\{name}"))
        .hint(format!("the meta commands are {}", names.join(", ")))
        .perhaps(meant.map(|meant| format!("\\{meant}")))
}
