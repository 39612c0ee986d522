//! The output of `explain`, and the contents of the reference.

use crate::support::compiled;
use assay_script::{STATEMENT_CLASSES, reference};
use assay_values::ErrorClass;
use std::collections::BTreeSet;

#[test]
fn explain_shows_every_instruction_and_every_statement_as_it_is_sent() {
    let text = "\
\\set aid random(1, 100 * 10)
SELECT balance -- the account's
  FROM accounts WHERE aid = :aid \\gset
\\expect rows 1
\\if :balance < 0 OR :aid = 1
\\abort
\\endif
\\for i in 1..3
INSERT INTO history VALUES (:aid, :i);
\\expect error constraint
\\endfor
\\sleep 5 ms
";
    let expected = "\
script test (test.sql)
   0  1:17  Constant     1                   pushes a constant
   1  1:24  Constant     1000                pushes a constant
   2  1:10  Call         random (2)          replaces the arguments by the result of a function
   3  1:1   Store        :aid                pops a value and stores it in a variable
   4  2:1   Execute      #0 (:aid)           binds the variables and stops for the engine to execute a statement
   5  3:34  Gather       :aid, :balance, :i  stores the columns of a one-row answer in variables
   6  4:14  Constant     1                   pushes a constant
   7  4:1   ExpectRows                       pops a value and fails unless the answer has that number of rows
   8  2:1   Settle                           releases the answer
   9  5:5   Load         :balance            pushes the value of a variable
  10  5:16  Constant     0                   pushes a constant
  11  5:14  Binary       <                   replaces the two topmost values by the result of the operator
  12  5:18  Decide       OR -> 17            jumps to the target with the result if the topmost value decides it, otherwise pops that value
  13  5:21  Load         :aid                pushes the value of a variable
  14  5:28  Constant     1                   pushes a constant
  15  5:26  Binary       =                   replaces the two topmost values by the result of the operator
  16  5:18  Truth                            fails unless the topmost value is TRUE, FALSE or NULL
  17  5:1   JumpUnless   -> 19               pops a value and jumps to the target unless it is true
  18  6:1   Abort        -> 28               ends the transaction as aborted, then jumps to the pauses that end the script
  19  8:11  Constant     1                   pushes a constant
  20  8:14  Constant     3                   pushes a constant
  21  8:1   LoopEnter    :i -> 26            pops two bounds and begins a loop, or jumps to the target if the range is empty
  22  9:1   Execute      #1 (:aid, :i)       binds the variables and stops for the engine to execute a statement
  23  10:1  ExpectError  constraint          fails unless the answer is an error of this class
  24  9:1   Settle                           releases the answer
  25  11:1  LoopNext     :i -> 22            jumps to the target with the next integer, or ends the loop
  26  12:8  Constant     5                   pushes a constant
  27  12:1  Sleep        ms                  pops a duration and stops for the engine to wait
  28  12:1  End                              ends the transaction
statement #0 at 2:1, parameters 1, its cells wanted
      SELECT balance
        FROM accounts WHERE aid = :aid
statement #1 at 9:1, parameters 2
      INSERT INTO history VALUES (:aid, :i)
";
    let found = compiled(text).explain();
    assert_eq!(found, expected, "\n{found}");
}

#[test]
fn explain_shows_what_is_queued_chosen_drawn_and_run() {
    let text = "\
\\set table 1
SELECT 1 AS table \\; SELECT :table FROM :{table} \\aset
\\startpipeline
\\begin serializable
DELETE FROM :{table};
\\endpipeline
\\think exponential:12s,120s
\\setshell n expr :table + 1
\\set x debug(:n)
\\abort
";
    let expected = "\
script test (test.sql)
   0  1:12  Constant  1                     pushes a constant
   1  1:1   Store     :table                pops a value and stores it in a variable
   2  2:1   Queue     #0 ()                 binds the variables and stops for the engine to put a statement into the pipeline
   3  2:22  Choose    :table of 3           selects the statement of the next instruction by the values of these variables
   4  2:22  Queue     #1 (:table)           binds the variables and stops for the engine to put a statement into the pipeline
   5  2:1   Sync                            stops for the engine to send the pipeline and to return all its answers
   6  4:1   BeginAt   serializable          notes that a transaction is begun here at the isolation level that the script names
   7  4:1   Queue     #4 ()                 binds the variables and stops for the engine to put a statement into the pipeline
   8  4:1   Queue     #5 ()                 binds the variables and stops for the engine to put a statement into the pipeline
   9  5:1   Choose    :table of 3           selects the statement of the next instruction by the values of these variables
  10  5:1   Queue     #6 ()                 binds the variables and stops for the engine to put a statement into the pipeline
  11  6:1   Sync                            stops for the engine to send the pipeline and to return all its answers
  12  7:1   Draw      exponential:12s,120s  draws a duration in seconds and pushes it
  13  7:1   Rest      s                     the same, with a wait that is not part of the latency
  14  8:1   Shell     :n = expr :table + 1  runs a shell command on the client machine
  15  9:14  Load      :n                    pushes the value of a variable
  16  9:8   Debug                           prints the topmost value
  17  9:1   Store     :x                    pops a value and stores it in a variable
  18  10:1  Abort     -> 19                 ends the transaction as aborted, then jumps to the pauses that end the script
  19  10:1  End                             ends the transaction
";
    let found = compiled(text).explain();
    assert!(found.starts_with(expected), "\n{found}");
}

#[test]
fn the_reference_lists_the_whole_language() {
    let reference = reference();
    let row = |name: &str| {
        let begin = format!("| `{name}");
        let rest = |line: &str| line.strip_prefix(&begin)?.chars().next();
        let is_of = |line: &&str| matches!(rest(line), Some('`' | ' ' | '('));
        let found = reference.lines().find(is_of);
        let found = found.unwrap_or_else(|| panic!("{name} is missing"));
        // No cell is empty, and a bar within a cell does not split it.
        let cells = found.replace("\\|", "").matches('|').count();
        assert!(found.len() > name.len() + 20, "{found}");
        assert!((3..=4).contains(&cells), "{found}");
    };
    let commands = "abort aset begin elif else endfor endif endpipeline expect for gset if keying set \
        setshell shell sleep startpipeline syncpipeline think";
    for command in commands.split_whitespace() {
        row(&format!("\\{command}"));
    }
    let functions = "abs concat constant date debug digits double exp exponential format greatest hash \
        hash_fnv1a hash_murmur2 hash_text hash_consistent int is_sealed lastname least ln \
        lower mod normal_quantile now numeral nurand permute pi pick pow power random \
        random_exponential random_gaussian random_zipfian sealed sqrt substr text timestamp \
        uniform upper";
    for function in functions.split_whitespace() {
        row(function);
    }
    let text = "\\set x debug(1)\nA :x;\n\\expect rows 1\n\\for i in 1..2\n\\sleep :i\n\\endfor\n\\shell date";
    let explained = compiled(text).explain();
    let names = explained.lines().filter(|line| line.starts_with("   "));
    for name in names.filter_map(|line| line.split_whitespace().nth(2)) {
        row(name);
    }
    for class in STATEMENT_CLASSES {
        assert!(reference.contains(&format!("`{class}`")), "{class}");
    }
}

/// Compiles every command and function of the reference.
#[test]
fn the_compiler_knows_every_row_of_the_reference() {
    let reference = reference();
    let usages = reference
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut tried = 0;
    for usage in usages {
        let text = match usage.split_once('(') {
            Some((function, _)) => format!("\\set x {function}(1, 2, 3, 4, 5, 6, 7)"),
            None if usage.starts_with('\\') => usage.to_owned(),
            None => continue,
        };
        tried += 1;
        let error = crate::support::try_compile(&text).err();
        let message = error.map(|error| error.message);
        let is_unknown = |message: String| {
            message.contains("expected a function") || message.contains("expected a meta command")
        };
        assert!(!message.is_some_and(is_unknown), "{usage}");
    }
    assert!(tried >= 24, "{tried}");
}

#[test]
fn only_classes_of_statement_errors_may_be_expected() {
    // What another client's statement does is nothing that a script expects.
    use ErrorClass::{Expectation, Script, WrongStatement};
    let own = [Expectation, Script, WrongStatement];
    let is_of_statement = |class: &ErrorClass| !class.ends_the_session() && !own.contains(class);
    let expected = ErrorClass::ALL.into_iter().filter(is_of_statement);
    let expected: BTreeSet<&str> = expected.map(ErrorClass::word).collect();
    let found: BTreeSet<&str> = STATEMENT_CLASSES.iter().copied().collect();
    assert_eq!(found, expected);
}
