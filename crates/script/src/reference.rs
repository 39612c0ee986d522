//! Takes the tables of meta commands, functions, error classes and opcodes; returns the reference of
//! the language in Markdown, generated so that it always matches the program.

use crate::commands::forms::FORMS;
use crate::expression::function::FUNCTIONS;
use crate::expression::function::arguments::LARGEST_BYTES;
use crate::lexer::KINDS;
use crate::program::opcode::OPCODES;
use crate::reply::STATEMENT_CLASSES;
use crate::run::registers::MOST_TURNS;
use assay_values::Distribution;

/// The reference of the script language.
pub fn reference() -> String {
    let commands = FORMS.iter().map(|form| {
        let usage = format!("\\{} {}", form.name, form.arguments);
        row(&[&code(usage.trim_end()), form.synopsis, origin(form.is_of_pgbench)])
    });
    let classes: Vec<String> = STATEMENT_CLASSES.iter().map(|class| code(class)).collect();
    let forms = Distribution::FORMS
        .split(", ")
        .flat_map(|form| form.split(" or "));
    let forms: Vec<String> = forms.map(code).collect();
    let functions = FUNCTIONS.iter().map(|function| {
        let usage = format!("{}({})", function.name, function.parameters);
        row(&[&code(&usage), function.synopsis, origin(function.is_of_pgbench)])
    });
    let kinds = (KINDS.iter()).map(|(_, word, statements)| row(&[&code(word), statements]));
    let opcodes = OPCODES
        .iter()
        .map(|opcode| row(&[&code(opcode.name), &opcode.operands.join(", "), opcode.synopsis]));
    [
        LANGUAGE
            .replace("KINDS\n", &table(&["kind", "statements"], kinds))
            .replace("LARGEST_BYTES", &LARGEST_BYTES.to_string())
            .replace("MOST_TURNS", &MOST_TURNS.to_string()),
        table(&["command", "meaning", "origin"], commands),
        ANSWERS
            .replace("CLASSES", &classes.join(", "))
            .replace("DISTRIBUTIONS", &forms.join(", ")),
        EXPRESSIONS.to_owned(),
        table(&["function", "value", "origin"], functions),
        INSTRUCTIONS.to_owned(),
        table(&["opcode", "operands", "meaning"], opcodes),
    ]
    .join("\n")
}

fn origin(is_of_pgbench: bool) -> &'static str {
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

A script is one transaction type: statements, and meta commands that control which statements are sent,
how often and with which values. The language is that of [pgbench][]: on pgbench's own system
a pgbench script runs unchanged, on other systems as far as they support its statements (`END` is written `COMMIT`). Additions
to pgbench's language are marked as such. Scripts are compiled before Assay connects to a server, and errors are reported
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

A statement ends with `;` outside parentheses, with a meta command after it, or with the file. `;` does not end
a statement within `'...'`, `E'...'`, `\"...\"`, `` `...` ``, `$tag$...$tag$` and comments, or between `BEGIN` and
`END` of `CREATE FUNCTION`, `CREATE PROCEDURE` and `CREATE TRIGGER`, or of a statement `BEGIN NOT ATOMIC`. Within a
literal a quote is doubled; a backslash escapes only in `E'...'`, and in every literal where the system reads them so.

`--` begins a comment up to the end of the line, `/*` a comment up to its `*/`. Comments nest where the
system reads them so, and they are not sent. Hints, `/*+ ... */` and `/*! ... */`, are sent. Where a backslash escapes
in every literal, `#` begins a comment too, `--` only before white space. In CQL `//` begins a comment too. `[...]` is
a name where the system quotes names so.

`:name` is the value of a variable; `::`, `:=` and `12:30` are left unchanged. How values are sent is chosen
with `--protocol` (`-M`), by pgbench's names:

| protocol | a statement is | a value is | default for |
| --- | --- | --- | --- |
| `simple` | sent as text | substituted into the text, wherever its name occurs: also within quotes (`':c_last'`), in names (`t_:client_id`), in `SET` and in DDL | script files on the command line |
| `extended` | compiled, bound and executed each time | bound | |
| `prepared` | compiled once for each client if it has values or is of the kind `rows`; other statements are sent as text. All are compiled before the run: a script that creates its own tables needs `extended` | bound | |

In `simple` a value is substituted without quotes: doubles have 15 digits, booleans are `true` and
`false`, `\\set x NULL` is `NULL`, and a NULL stored by `\\gset` is an empty text. A name within quotes that is not a
variable stays unchanged, and so does a bound of a slice (`a[1:n]`). In the other two protocols a value can be bound
only where the system accepts a parameter: within quotes `:name` is text, which is reported as a warning; as the name
of a table, or as part of a name, it is an error. A test of a workload uses `simple` only if its
scripts have no values but parameters that no script sets: these are written into the text as literals.

In `prepared` the server infers the type of each parameter from its context; if it cannot (`-:x`, `:x < :y`), or
infers another type (`count < :x` with 1.5), a number has the type of the same literal in the text. A
text needs a cast there: `:x::int`, `CAST(:x AS int)`. In `extended` every value is sent as a text without a type,
as pgbench does: if the server cannot infer the type, add a cast. A protocol that compiles and executes in two
requests needs two round trips for each `extended` statement, and a third message closes it.

`:{name}` (an addition) is replaced by an identifier chosen at run time, for example a table name: the integer
variable `:name` is the index, from 0, into the list that the workload declares under `[identifiers]`. Each choice is a
separate statement; in `prepared` each is prepared once for each client.

Statements combined by `\\;` are sent together: in `simple` as one text, otherwise as a pipeline; they take one round
trip and, on systems that have implicit transactions, run in one. If the protocol supports neither, they are sent one
after the other.

Each statement has a kind, determined by its first words. The kind decides which statements are prepared, and the
outcome if the connection is lost before the answer: an unanswered `commit` or `other` may have committed, and the
outcome is `unknown`; `rows` in an open transaction are rolled back with it.

KINDS

A statement that fails outside a transaction leaves no change, unless it may commit itself: `CALL`, `DO`, `EXECUTE`, `DECLARE`. Where such a statement fails, a part of its changes may stay: the outcome is `unknown`, and the
transaction is not retried. If the procedure is one transaction, say so with `\\atomic` after the call: then it is `failed`, and
can be retried. Assay does not check it; the report names such scripts (warning `declared-atomic`).

`INSERT OR FAIL` keeps the rows before the one that failed; there, too, the outcome is `unknown`. Tables of a storage engine without
transactions keep such rows, and what a rollback should undo. Where the database has such tables, a statement that fails
outside a transaction is `unknown`. So is a transaction, aborted ones too, where the server warns of them in its answer to the rollback.

A transaction that a script begins must end in the same script. A transaction still open at the end on every branch is
an error, on some branches a warning. At run time the system reports whether a transaction is open when the script has
ended or failed: if it is, or may be, it is rolled back, and a script that left it open has `failed`. A script's own
`BEGIN`, `COMMIT` and `ROLLBACK` are sent as written.

If a system takes JSON documents, each statement is one document. `:name` may replace any JSON value, outside strings:
`{\"find\": :{table}, \"id\": :id}`. `:{name}` becomes a JSON string, also as a key: `{:{field}: :value}`.

## Variables

A name has letters, digits and underscores and does not begin with a digit. Values are integers of 64
bits, doubles, texts, TRUE, FALSE and NULL; additions are bytes, exact decimals, dates, times, timestamps (without a zone),
lists and JSON documents, which functions return (`date`, `decimal`, `list` ...) and `\\gset` stores from columns of such
types. Used as numbers, dates are days since 1970, timestamps seconds since 1970, times seconds since midnight. They are
bound as the system's own types if it has them, otherwise as text: a list is an array or its JSON text. Each client has its
own variables, which keep their values from transaction to transaction; in an open loop, and when clients share a list of
transactions, each transaction begins with the initial values, so that it is the same whichever client runs it. Built-in
variables are `:client_id`, `:random_seed` (the seed of the run),
`:default_seed` (the seed of hashes and permutations, derived from it and the same for all clients) and, an addition,
`:transaction_number` (how many transactions the client began before this one, including the warm-up;
in an open loop and in a shared list, the transaction's number; a retry has the same number; in a test that drives clients
several times on the same data, the count goes on from one step to the next, until data are loaded again). An addition too is
`:rows_changed`: how many rows the last `INSERT`, `UPDATE`, `DELETE`, `MERGE` or `REPLACE` has changed, as the system counts
them (some count what an `UPDATE` finds); NULL before the first, and not available in CQL, whose systems do not count them:
`\\if :rows_changed = 0`. A workload and `--set`
define others. Variables of `\\next` and `\\acknowledged` are the only ones that depend on other clients ([below](#numbers-that-clients-share)). `:scale` is 1 for script files on the command line,
unless `--scale` (`-s`) or `--set scale=N` sets it. A variable that is defined there and that no script sets is a constant.

A value that a function makes has at most LARGEST_BYTES bytes (16 MiB); a larger one ends the transaction as `failed`, class
`script`, with the place, the size and the limit. At most 100 lists may be inside each other. A loop may repeat MOST_TURNS times without a statement or pause between;
the end of the run, its drain time and Ctrl-C end such a loop earlier.

## Meta commands

A meta command ends with its line; a backslash at the end of the line joins the next line to it.
";

const ANSWERS: &str = "\
### Expected answers

`\\gset`, `\\aset` and `\\expect` follow the statement to whose answer they apply. `\\expect rows` checks the number of
rows returned or, if none were returned, of rows changed. `\\expect value` checks the first cell
of the first row; numbers are compared as numbers. NULL accepts any answer: use it
if the expected answer is not known for this data set. An expectation that is not met makes the transaction `failed`, with
the error class `expectation`.

A statement's error makes the transaction `failed`, unless `\\expect error` names its class.
The classes are CLASSES.

`\\assert` (an addition) compares what a script has stored: `\\assert :balance >= 0`. Where the condition is not true (NULL is not), the transaction
has `failed`, class `expectation`, with the condition and the values of its variables. In a check of a workload, rows that the script itself stores or
compares are not counted as wrong: what breaks a rule is said with `\\assert`.

### Numbers that clients share

`\\next` (an addition) takes the next number of 0, 1, 2 … for new keys: `\\next order` stores it in `:order`, and no two transactions of the run have the
same. A retry keeps its number. If the transaction is undone in the end (`failed`, `aborted`), another transaction takes its number, so that no
number is missing; if its outcome is `unknown`, or a part of it was
committed before, the number is not used again. `\\acknowledged orders order` stores in `:orders` how many numbers of `\\next order` are acknowledged
without a gap: every number below it belongs to a transaction that has ended `ok`, so that what it wrote must be there. A number of
unknown outcome stops this count. Both go on from one step of a test to the next until data are loaded again. Which client gets which number
depends on their speed, not on the seed. Where a driver spreads clients over processes, those of a script with `\\next` stay in one.

### Deferred scripts

`\\defer` (an addition) puts a script into a queue, and goes on at once: `\\defer deliver w carrier` queues the script `deliver` with the values that
`:w` and `:carrier` have now. A script that is queued belongs to the workload's test: `deferred = { scripts = [\"deliver.sql\"], clients = 2 }` under
`[tests.NAME]`. So many clients, beside those of the run, do nothing else; one that is free takes the script that has waited longest. It begins with the
initial values of all variables but those that it was given; its random values follow from its number in the queue. Its latency is from `\\defer` to its
end, of which its schedule lag is the wait in the queue. With `latency_limit_s` it is `late` beyond that, and runs all the same. What is queued when the
measurement ends is still run, until `--drain`; what was not begun then is `skipped`. Within a transaction `\\defer` is an error, since it does not wait for
the commit. Where a driver spreads clients over processes, those of a test with deferred scripts stay in one.

### Pipelines

The statements between `\\startpipeline` and `\\endpipeline` are sent when the pipeline ends, or at `\\syncpipeline`,
and then all answers are awaited; the first error ends the transaction. As in pgbench, the protocol `simple` has no
pipelines. A pipeline must end in the block
(`\\if`, `\\for`) in which it began. `\\gset`, `\\aset` and `\\expect` are not allowed within a pipeline.
If the system's protocol has no pipelines, the statements are sent one after the other, in the same order.

### Pauses

`\\sleep` is part of the transaction's latency; `\\keying` (keying time) and `\\think` (think time) are not.
After `\\abort` the transaction is rolled back, which is part of its latency; then the pauses that end the script are made, so that a
terminal thinks after a transaction that was rolled back too.
Besides an expression with a unit, all three accept a distribution (an addition), from which each pause is
drawn: DISTRIBUTIONS. The second time of `exponential` is its maximum; the parameters of `lognormal` are its median and
the standard deviation of its logarithm.

### Shell commands

`\\shell` and `\\setshell` run any command on the client machine, and the client waits for it; they need
`--allow-shell`. The line is split at white space, joined again with the values of its `:name`s, and passed to `/bin/sh`.
`::name` is the text `:name`. The output of `\\shell` goes to standard error, so that standard output contains only the
report (pgbench mixes it with its results). Standard input is empty. The time of the command counts in the latency of its
transaction, and in no statement's service time; other clients go on meanwhile. When the run is interrupted, or the time limit of
`--drain` has passed, the command and all processes that it started are ended.
";

const EXPRESSIONS: &str = "\
## Expressions

From tightest to loosest: `->` `->>`; the signs `-` `+`; `*` `/` `%`; `+` `-`; `|` `#` `&` `<<` `>>` `~`; `=` `<>` `!=` `<` `<=` `>` `>=`;
`IS [NOT] NULL`, `IS [NOT] TRUE`, `IS [NOT] FALSE`, `ISNULL`, `NOTNULL`; `NOT`; `AND`; `OR`. FALSE, zero and NULL
are false as a condition. `CASE WHEN condition THEN value [...] [ELSE value] END` returns the value of the first true
condition.

Integer division truncates; division by zero and integer overflow (64 bits) make the transaction
`failed`, with the error class `script`. Of an integer and a double, the integer is converted to a double. A NULL operand
gives NULL. If an integer is needed, a double or a decimal is rounded, halves to even.

Decimals of up to 38 digits are exact: `+`, `-`, `*`, `=`, `<` and the other comparisons of decimals, and of a decimal with an
integer, lose no digit. Decimals are columns of numbers with a point (`NUMERIC`, and floating-point columns in the digits that the
system writes), texts such as `'0.30'`, `decimal(x)`, and numbers with a point that have more digits than a double keeps. Other
numbers with a point (`0.30`) are doubles, as in pgbench. Added to a decimal, subtracted or multiplied, a double counts with the
digits in which it is written: `:balance + 0.10` is exact. The result is a double for two doubles, for an integer and a double, for
`/`, and where the exact result has more than 38 digits. A decimal divided by zero fails as an integer does.

`document -> 'key'` and `list -> 0` (an addition) are the value of that member, NULL where there is none; a negative index counts from
the end. `->>` is its text. Before them a text is read as JSON.

Additions to pgbench's expressions: texts, `'...'`, which are converted if they contain a number or a boolean;
comparison of booleans. Differences: a shift by less than 0 or more than 63 bits, and
`abs` of a boolean, are errors here and undefined in pgbench; `permute` is a different permutation of the same
numbers; the random number generator is different, so the same seed draws other numbers.

Data generators use the same expressions. There `:default_seed` is 0 unless it is set, `now()` is not available, and
each row has its own random stream.
";

const INSTRUCTIONS: &str = "\
## Instructions

The compiled form of a script, as `assay check --explain` prints it. Values are on a stack.
";
