//! Whatever a file holds, reading it ends with a program or with an error that has a place.

mod support;

use assay_datagen::Random;
use assay_script::{LiteralStyle, Machine, Reply, Source, Step, split_statements};
use std::sync::Arc;
use support::try_compile;

/// Pieces from which scripts are thrown together: what the language has, and what breaks it.
const PIECES: &[&str] = &[
    "\\set x ",
    "\\set i 1 + :x",
    "\\if ",
    "\\elif ",
    "\\else",
    "\\endif",
    "\\for i in 1..3",
    "\\endfor",
    "\\gset ",
    "\\gset p_",
    "\\sleep 1 us",
    "\\expect rows ",
    "\\expect value ",
    "\\expect error data",
    "\\abort",
    "\\startpipeline",
    "\\",
    ":x",
    ":i",
    ":client_id",
    "::int",
    ":=",
    ":{t}",
    "?",
    "?|",
    ";",
    "\n",
    "\n",
    "\n",
    " ",
    "SELECT ",
    "'a''b'",
    "'",
    "\"",
    "`",
    "$$",
    "$t$",
    "$1",
    "--",
    "/*",
    "*/",
    "/*+",
    "E'\\'",
    "1",
    "0",
    "9223372036854775808",
    "1.5",
    "1..2",
    "1e9",
    "+",
    "-",
    "*",
    "/",
    "%",
    "(",
    ")",
    ",",
    "<",
    "<=",
    "<>",
    "=",
    "|",
    "#",
    "&",
    "~",
    "<<",
    "AND ",
    "OR ",
    "NOT ",
    "IS ",
    "NULL ",
    "TRUE ",
    "CASE ",
    "WHEN ",
    "THEN ",
    "ELSE ",
    "END ",
    "abs(",
    "random(1, 9)",
    "least(",
    "é",
    "\u{feff}",
    "\0",
    "\r\n",
    "日本",
];

fn check(text: &str) {
    for style in [LiteralStyle::Doubled, LiteralStyle::Backslash] {
        let source = Source {
            name: "random",
            path: "random.sql",
            text,
            is_plain: false,
        };
        if let Err(error) = split_statements(&source, style) {
            assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
        }
    }
    match try_compile(text) {
        Ok(program) => {
            assert!(program.explain().contains("End"));
            run(Machine::new(Arc::new(program), 1, 0));
        }
        Err(error) => {
            let lines = text.split('\n').count();
            assert!(
                (1..=lines).contains(&(error.line as usize)),
                "{error}\n{text}"
            );
            let line = text
                .split('\n')
                .nth(error.line as usize - 1)
                .unwrap_or_default();
            assert!(
                (1..=line.chars().count() + 1).contains(&(error.column as usize)),
                "{error}\n{text}"
            );
            assert!(!error.message.is_empty());
        }
    }
}

/// Two transactions of a script that compiles: they end, whatever the answers are.
fn run(mut machine: Machine) {
    let columns = ["a".to_owned()];
    let cells = [Some(b"1".as_slice().into())];
    for transaction in 0..2 {
        machine.begin(0);
        for step in 0.. {
            assert!(
                step < 10_000,
                "a random script has few statements and short loops"
            );
            match machine.step() {
                Step::Execute { .. } => machine.answered(Reply {
                    rows: 1 + transaction,
                    affected: 0,
                    columns: &columns,
                    first_row: Some(&cells),
                    error: None,
                }),
                Step::Sleep { .. } => {}
                Step::End(_) => break,
            }
        }
    }
}

fn index(random: &mut Random, length: usize) -> usize {
    let last = i64::try_from(length - 1).expect("short lists");
    usize::try_from(random.between(0, last)).expect("not negative")
}

#[test]
fn scripts_thrown_together_never_panic() {
    let mut random = Random::stream(20_110_901, 0);
    let mut compiled = 0;
    for _ in 0..40_000 {
        let length = 1 + index(&mut random, 14);
        let text: String = (0..length)
            .map(|_| PIECES[index(&mut random, PIECES.len())])
            .collect();
        check(&text);
        compiled += usize::from(try_compile(&text).is_ok());
    }
    // Otherwise only the errors would have been tried.
    assert!(compiled > 1000, "{compiled} scripts compiled");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::stream(20_110_902, 0);
    for _ in 0..20_000 {
        let length = index(&mut random, 40);
        let bytes: Vec<u8> = (0..length)
            .map(|_| u8::try_from(random.between(0, 255)).expect("a byte"))
            .collect();
        check(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_good_script_with_one_letter_changed_never_panics() {
    let good = "\\set a random(1, 9)\nSELECT 'x', $$y$$, :a::int /* c */ \\gset p_\n\\if :p_x IS NULL AND :a > 2\n\
        \\for i in 1..:a\nUPDATE t SET a = :i; -- é\n\\expect rows 1\n\\endfor\n\\else\n\\abort\n\\endif\n\\sleep 1 us\n";
    assert!(try_compile(good).is_ok());
    let mut random = Random::stream(20_110_903, 0);
    let letters: Vec<char> = "\\:;'\"$/*-?(){}.,=<>0aé \n\t\0".chars().collect();
    for _ in 0..20_000 {
        let mut text: Vec<char> = good.chars().collect();
        let at = index(&mut random, text.len());
        match index(&mut random, 3) {
            0 => _ = text.remove(at),
            1 => text.insert(at, letters[index(&mut random, letters.len())]),
            _ => text[at] = letters[index(&mut random, letters.len())],
        }
        check(&text.into_iter().collect::<String>());
    }
}
