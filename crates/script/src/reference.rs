//! Takes the tables of meta commands, functions, error classes and opcodes; gives the reference of
//! the language in Markdown, so that it cannot fall behind the program.

use crate::class::STATEMENT_CLASSES;
use crate::command::FORMS;
use crate::function::FUNCTIONS;
use crate::opcode::OPCODES;

/// The reference of the script language.
#[must_use]
pub fn reference() -> String {
    let commands = FORMS.iter().map(|form| {
        let whose = if form.is_of_pgbench {
            "pgbench"
        } else {
            "addition"
        };
        let usage = format!("\\{} {}", form.name, form.arguments);
        row(&[&code(usage.trim_end()), form.synopsis, whose])
    });
    let classes: Vec<String> = STATEMENT_CLASSES.iter().map(|class| code(class)).collect();
    let functions = FUNCTIONS.iter().map(|function| {
        let usage = format!("{}({})", function.name, function.parameters);
        row(&[&code(&usage), function.synopsis])
    });
    let opcodes = OPCODES.iter().map(|opcode| {
        row(&[
            &code(opcode.name),
            &opcode.operands.join(", "),
            opcode.synopsis,
        ])
    });
    [
        LANGUAGE.to_owned(),
        table(&["command", "meaning", "whose"], commands),
        ANSWERS.replace("CLASSES", &classes.join(", ")),
        EXPRESSIONS.to_owned(),
        table(&["function", "value"], functions),
        INSTRUCTIONS.to_owned(),
        table(&["opcode", "operands", "meaning"], opcodes),
    ]
    .join("\n")
}

fn table(head: &[&str], rows: impl Iterator<Item = String>) -> String {
    let rule = row(&vec!["---"; head.len()]);
    row(head) + &rule + &rows.collect::<String>()
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

const LANGUAGE: &str = "\
# The script language

A script is one transaction type: statements, and meta commands that say which of them are sent,
how often and with which values. The language is that of [pgbench][] with a few additions, which are
marked. Everything is settled before a server is touched, and what is wrong is told with path, line
and column.

[pgbench]: https://www.postgresql.org/docs/current/pgbench.html

## Statements

A statement ends with `;`, with a meta command behind it, or with the file. `;` and `:name` mean
nothing within `'...'`, `E'...'`, `\"...\"`, `` `...` ``, `$tag$...$tag$` and comments. Within a literal
the quote is written twice; a backslash escapes only in `E'...'`.

`--` begins a comment up to the end of the line, `/*` one up to its `*/`; comments nest, and they are not
sent. Hints, `/*+ ... */` and `/*! ... */`, are.

`:name` becomes a bound parameter; its value is never pasted into the text. `::` and `:=` are left
alone. A lone `?` is refused, because a driver could not tell it from a parameter; the operators `?|`,
`?&` and `@?` are sent as they stand.

## Variables

A name has letters, digits and underscores and does not begin with a digit. Values are integers of 64
bits, doubles, texts, TRUE, FALSE and NULL. Variables are the client's own and keep their values from
transaction to transaction. `:client_id` and `:random_seed` are always there; a workload gives others.

## Meta commands

A meta command ends with its line; a backslash at the end of the line joins the next one to it.
";

const ANSWERS: &str = "\
### What a statement must answer

`\\gset` and `\\expect` stand behind the statement of which they speak. `\\expect rows` counts the rows
that came back or, where none did, those that were changed. `\\expect value` looks at the first cell
of the first row; numbers are compared as numbers. An expectation of NULL expects nothing: it
stands for what is not known for these data. What is not met makes the transaction `failed`, of the
class `expectation`.

A statement's error ends the transaction as `failed`, unless `\\expect error` asks for its class.
The classes are CLASSES.
";

const EXPRESSIONS: &str = "\
## Expressions

From tightest to loosest: the signs `-` `+`; `*` `/` `%`; `+` `-`; `|` `#` `&` `<<` `>>` `~`; `=` `<>` `!=` `<` `<=` `>` `>=`;
`IS [NOT] NULL`, `IS [NOT] TRUE`, `IS [NOT] FALSE`, `ISNULL`, `NOTNULL`; `NOT`; `AND`; `OR`. A condition is
false where it is FALSE, zero or NULL. `CASE WHEN condition THEN value [...] [ELSE value] END` chooses.

Integers divide into integers; division by zero and a result beyond 64 bits make the transaction
`failed`, of the class `script`. Where one side is a double, both are. NULL on either side gives NULL.

Additions to pgbench's expressions: texts, `'...'`, of which one that spells a number or a truth value
stands for it; truth values may be compared. A shift by fewer than 0 or more than 63 places, and `abs` of
a truth value, are failures here and accidents there.
";

const INSTRUCTIONS: &str = "\
## Instructions

What a script comes to, as `assay explain` prints it. Values are on a stack.
";
