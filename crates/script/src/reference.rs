//! Takes the tables of meta commands, functions, error classes and opcodes; gives the reference of
//! the language in Markdown, so that it cannot fall behind the program.

use crate::class::STATEMENT_CLASSES;
use crate::command_forms::FORMS;
use crate::function::FUNCTIONS;
use crate::lexer::KINDS;
use crate::opcode::OPCODES;
use assay_values::Distribution;

/// The reference of the script language.
#[must_use]
pub fn reference() -> String {
    let commands = FORMS.iter().map(|form| {
        let usage = format!("\\{} {}", form.name, form.arguments);
        row(&[
            &code(usage.trim_end()),
            form.synopsis,
            whose(form.is_of_pgbench),
        ])
    });
    let classes: Vec<String> = STATEMENT_CLASSES.iter().map(|class| code(class)).collect();
    let forms = Distribution::FORMS
        .split(", ")
        .flat_map(|form| form.split(" or "));
    let forms: Vec<String> = forms.map(code).collect();
    let functions = FUNCTIONS.iter().map(|function| {
        let usage = format!("{}({})", function.name, function.parameters);
        row(&[
            &code(&usage),
            function.synopsis,
            whose(function.is_of_pgbench),
        ])
    });
    let kinds = (KINDS.iter()).map(|(_, word, statements)| row(&[&code(word), statements]));
    let opcodes = OPCODES.iter().map(|opcode| {
        row(&[
            &code(opcode.name),
            &opcode.operands.join(", "),
            opcode.synopsis,
        ])
    });
    [
        LANGUAGE.replace("KINDS\n", &table(&["kind", "what has it"], kinds)),
        table(&["command", "meaning", "whose"], commands),
        ANSWERS
            .replace("CLASSES", &classes.join(", "))
            .replace("DISTRIBUTIONS", &forms.join(", ")),
        EXPRESSIONS.to_owned(),
        table(&["function", "value", "whose"], functions),
        INSTRUCTIONS.to_owned(),
        table(&["opcode", "operands", "meaning"], opcodes),
    ]
    .join("\n")
}

fn whose(is_of_pgbench: bool) -> &'static str {
    if is_of_pgbench { "pgbench" } else { "addition" }
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
how often and with which values. The language is that of [pgbench][]: on its own system a
script of pgbench runs unchanged, elsewhere as far as the system knows its statements (`END` is written `COMMIT`). What is
added to the language is marked as an addition. Everything is settled before a server is touched, and what is wrong is reported
with path, line and column.

[pgbench]: https://www.postgresql.org/docs/current/pgbench.html

```sql
\\set aid random(1, 100000 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
\\expect rows 1
SELECT abalance FROM pgbench_accounts WHERE aid = :aid \\gset
\\if :abalance < 0
\\abort
\\endif
END;
```

## Statements

A statement ends with `;` outside parentheses, with a meta command behind it, or with the file. `;` means
nothing within `'...'`, `E'...'`, `\"...\"`, `` `...` ``, `$tag$...$tag$` and comments. Within a
literal the quote is written twice; a backslash escapes only in `E'...'`.

`--` begins a comment up to the end of the line, `/*` one up to its `*/`; comments nest, and they are not
sent. Hints, `/*+ ... */` and `/*! ... */`, are.

`:name` is the value of a variable; `::`, `:=` and `12:30` are left alone. How it gets to the system is chosen
with `--protocol` (`-M`), by pgbench's names:

| protocol | a statement is | a value is | whose default |
| --- | --- | --- | --- |
| `simple` | sent as text | put into the text, wherever its name stands: also within quotes (`':c_last'`), in names (`t_:client_id`), in `SET` and in DDL | scripts named by their files |
| `extended` | compiled, bound and executed each time | bound | |
| `prepared` | compiled once for each client where it has values or is of the kind `rows`; the others go as text | bound | |

In `simple` a value is pasted raw, without quotes: doubles have 15 digits, truth values are `true` and
`false`, `\\set x NULL` is `NULL`, and a NULL that `\\gset` found is nothing at all. A name within quotes that is no
variable stays as it is, and so does a bound of a slice (`a[1:n]`). In the other two a value can be bound only where
the system takes one: within quotes `:name` is text, which is a warning with its place; for a table, or glued
to a part of a name, it is refused. A workload's own test takes `simple` only where its scripts have no values.

In `prepared` a server gives each parameter a type by its place; where it cannot (`-:x`, `:x < :y`), or the
place is of another type (`count < :x` with 1.5), a number counts as the literal that it would be in the text. A
text there needs a cast: `:x::int`, `CAST(:x AS int)`. In `extended` every value is sent as a text without a type,
as pgbench does: where the server cannot tell the type, cast. A protocol that compiles and executes in two
requests takes two round trips for each `extended` statement, and a third message closes it.

`:{name}` (an addition) becomes an identifier, a table's name say, chosen at run time: the integer variable
`:name` counts, from 0, into the list that the workload declares under `[identifiers]`. Each choice is a statement
of its own, in `prepared` prepared once for each client.

Statements combined by `\\;` are sent together: in `simple` as one text, otherwise as a pipeline; one round trip
and, where the system has such, one implicit transaction. A system whose protocol has neither is asked one by one.

Each statement has a kind, by its first words. It decides what is prepared, and what it means where the session
is lost before the answer: an unanswered `commit` or `other` may have committed, and the outcome is `unknown`; `rows` in
an open transaction are undone with it.

KINDS
A transaction that a script begins must end in it. One that is open at the end on every branch is refused with its
place, one that is open on some is a warning. Whether one is open when the script has ended, or has failed, the system
itself reports: where it is, or may be, it is rolled back, and a script that left it open has `failed`. A script's own
`BEGIN`, `COMMIT` and `ROLLBACK` are sent as they are written.

Where a system takes JSON documents, each statement is one document. `:name` stands in it where a JSON value may stand,
outside strings, and becomes one: `{\"find\": :{table}, \"id\": :id}`. `:{name}` becomes a string.

## Variables

A name has letters, digits and underscores and does not begin with a digit. Values are integers of 64
bits, doubles, texts, TRUE, FALSE and NULL; additions are bytes, exact decimals, dates, times, timestamps (without a zone),
lists and JSON documents, which functions make (`date`, `decimal`, `list` ...) and `\\gset` finds in columns of such
types. As numbers dates count days since 1970, times and timestamps seconds. They are bound as the system's own types;
where it has none, as their text: a list is an array or its JSON text. Variables are the client's own and keep their values from
transaction to transaction; in an open loop, and where clients share a list of transactions, each transaction begins with
the values that are given, so that it is the same whichever client runs it. Some are always there: `:client_id`, `:random_seed` (the seed of the run),
`:default_seed` (the seed of hashes and permutations, made from it and the same for all clients) and, an addition,
`:transaction_number` (how many transactions the client began before this one, those of the warm-up
included; in an open loop and in a shared list, the transaction's number; a retry is the same one again). A workload and `--set` give others. `:scale` is 1 for a script that is named
by its file, unless `--scale` (`-s`) or `--set scale=N` says otherwise. One that is given and that no script sets is a constant.

## Meta commands

A meta command ends with its line; a backslash at the end of the line joins the next one to it.
";

const ANSWERS: &str = "\
### What a statement must answer

`\\gset`, `\\aset` and `\\expect` stand behind the statement of which they speak. `\\expect rows` counts the
rows that came back or, where none did, those that were changed. `\\expect value` looks at the first cell
of the first row; numbers are compared as numbers. An expectation of NULL expects nothing: it
stands for what is not known for these data. What is not met makes the transaction `failed`, of the
class `expectation`.

A statement's error ends the transaction as `failed`, unless `\\expect error` asks for its class.
The classes are CLASSES.

### Pipelines

What stands between `\\startpipeline` and `\\endpipeline` is sent when the pipeline ends, or at `\\syncpipeline`,
and then all answers are awaited; the first error ends the transaction. As in pgbench, the protocol `simple` has no
pipelines. A pipeline ends in the block
(`\\if`, `\\for`) in which it began. `\\gset`, `\\aset` and `\\expect` have no answer to speak of within one.
A system whose protocol has no pipelines is asked one by one, in the same order.

### Pauses

`\\sleep` is a part of the transaction; `\\keying` and `\\think` are the user's time, and no part of the
latency. Besides an expression with a unit, all three take a distribution (an addition), from which each pause is
drawn: DISTRIBUTIONS. The second time of `exponential` is the most it may be; `lognormal` has its median and the
deviation of its logarithm.

### Commands of this machine

`\\shell` and `\\setshell` run whatever the script says, and the client waits for it; they need `--allow-shell`. The line
is divided at white space, put together again with the values of its `:name`s, and given to `/bin/sh`. `::name` is the
text `:name`. What `\\shell` prints goes to standard error, so that standard output holds nothing but the report (pgbench
lets it into its own standard output, among its results). A command has nothing to read; when the run is interrupted, or
has waited for it as long as `--drain` says, it is ended together with all that it has started.
";

const EXPRESSIONS: &str = "\
## Expressions

From tightest to loosest: the signs `-` `+`; `*` `/` `%`; `+` `-`; `|` `#` `&` `<<` `>>` `~`; `=` `<>` `!=` `<` `<=` `>` `>=`;
`IS [NOT] NULL`, `IS [NOT] TRUE`, `IS [NOT] FALSE`, `ISNULL`, `NOTNULL`; `NOT`; `AND`; `OR`. A condition is
false where it is FALSE, zero or NULL. `CASE WHEN condition THEN value [...] [ELSE value] END` chooses.

Integers divide into integers; division by zero and a result beyond 64 bits make the transaction
`failed`, of the class `script`. Where one side is a double, both are. NULL on either side gives NULL. A double
becomes an integer, where one is needed, by rounding, halves to the even one.

Additions to pgbench's expressions: texts, `'...'`, of which one that spells a number or a truth value
stands for it; truth values may be compared. Differences: a shift by fewer than 0 or more than 63 places, and
`abs` of a truth value, are failures here and accidents there; `permute` is another permutation of the same
numbers; random numbers come from another generator, so that the same seed draws others.

Generators of data use the same expressions. There `:default_seed` is 0 unless it is given, `now()` is unknown, and
each row has a random stream of its own.
";

const INSTRUCTIONS: &str = "\
## Instructions

What a script comes to, as `assay explain` prints it. Values are on a stack.
";
