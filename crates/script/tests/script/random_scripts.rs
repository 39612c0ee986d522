//! For any text, the compiler returns a program or an error with its place, and never panics.

#[path = "../../../../fuzz/src/language.rs"]
mod language;

use assay_values::Random;
use language::{expression, script};

/// Pieces of which random scripts are made: valid ones and invalid ones.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "\\set x ", "\\set i 1 + :x", "\\if ", "\\elif ", "\\else", "\\endif", "\\for i in 1..3",
    "\\endfor", "\\gset ", "\\gset p_", "\\sleep 1 us", "\\expect rows ", "\\expect value ",
    "\\expect error data", "\\abort", "\\startpipeline", "\\syncpipeline", "\\endpipeline",
    "\\aset ", "\\aset p_", "\\begin ", "serializable", "\\think exponential:1us", "\\keying 1 us",
    "\\;", "\\; ", ":{table}", ":{column}", "\\set table ", "FROM ", "hash(", "permute(7, 9)",
    "text(1, 3)", "digits(", "format('%d', ", "nurand(255, 0, 9)", "numeral(7, 3, '01')",
    "hash_text(", "lastname(", "pick(1, 'a', NULL)", "timestamp(", "concat(", "substr('abc', 2, 1)",
    "\\", ":x", ":i", ":client_id", ":row", ":name", ":scale", "::int", ":=", ":{t}", "?", "?|",
    ";", "\n", "\n", "\n", " ", "SELECT ", "'a''b'", "'", "\"", "`", "$$", "$t$", "$1", "--", "/*",
    "*/", "/*+", "E'\\'", "1", "0", "9223372036854775808", "1.5", "1..2", "1e9", "+", "-", "*", "/",
    "%", "(", ")", ",", "<", "<=", "<>", "=", "|", "#", "&", "~", "<<", "AND ", "OR ", "NOT ",
    "IS ", "NULL ", "TRUE ", "CASE ", "WHEN ", "THEN ", "ELSE ", "END ", "abs(", "random(1, 9)",
    "least(", "//", "BEGIN BATCH ", "APPLY BATCH", "{\"find\": ",
    "{\"insert\": \"t\", \"documents\": [", "{\"é\": :x, \"é\": ", "]}", "}", "é", "größe",
    "\u{feff}", "\0", "\r\n", "日本",
];

fn index(random: &mut Random, length: usize) -> usize {
    let last = i64::try_from(length - 1).expect("short lists");
    usize::try_from(random.between(0, last)).expect("not negative")
}

#[test]
fn random_scripts_never_panic() {
    let mut random = Random::stream(20_110_901, 0);
    let mut compiled = 0;
    for _ in 0..15_000 {
        let length = 1 + index(&mut random, 14);
        let piece = |_| PIECES[index(&mut random, PIECES.len())];
        let text: String = (0..length).map(piece).collect();
        compiled += usize::from(script(&text));
    }
    // Otherwise only error paths would have been tested.
    assert!(compiled > 1000, "{compiled} scripts compiled");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::stream(20_110_902, 0);
    for _ in 0..8_000 {
        let length = index(&mut random, 40);
        let bytes: Vec<u8> = (0..length)
            .map(|_| u8::try_from(random.between(0, 255)).expect("a byte"))
            .collect();
        script(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_valid_script_with_one_letter_changed_never_panics() {
    let good = [
        "\\set a random(1, 9)\nSELECT 'x', $$y$$, :a::int /* c */ \\gset p_\n\\if :p_x IS NULL AND :a > 2\n\
        \\for i in 1..:a\nUPDATE t SET a = :i; -- é\n\\expect rows 1\n\\endfor\n\\else\n\\abort\n\\endif\n\\sleep 1 us\n",
        "\\set table hash(permute(3, 10), 2) % 3\n\\begin serializable\nSELECT a FROM :{table} \\; SELECT (:table) \\aset\n\
        \\startpipeline\nINSERT INTO :{table} VALUES (1);\n\\syncpipeline\nEND;\n\\endpipeline\n\\think exponential:1us,2us\n\
        \\set c format('%05d-%s', :table, pick(text(1, 2), lastname(7)))\n\\keying uniform(1, 2) us\n",
        // CQL, and documents.
        "SELECT größe FROM :{table} WHERE id = :x; // größe\nBEGIN BATCH INSERT INTO t (ü) VALUES (1); APPLY BATCH;\n",
        "{\"find\": :{table}, \"filter\": {\"größe\": :x, \"日本\": [1.5, null, \"ü\\\"\"]}} \\gset\n-- é\n\
        {\"insert\": \"t\", \"documents\": [{\"_id\": :i}]};\n",
    ];
    for script in good {
        let begins = "\\set x 1\n\\set i 2\n\\set table 1\n";
        mutate_script(&format!("{begins}{script}"));
    }
}

fn mutate_script(good: &str) {
    mutate(good, script);
}

fn mutate(good: &str, read: fn(&str) -> bool) {
    assert!(read(good), "{good}");
    let mut random = Random::stream(20_110_903, 0);
    let letters: Vec<char> = "\\:;'\"$/*-?(){}.,=<>0aé \n\t\0".chars().collect();
    for _ in 0..7_000 {
        let mut text: Vec<char> = good.chars().collect();
        let at = index(&mut random, text.len());
        match index(&mut random, 3) {
            0 => _ = text.remove(at),
            1 => text.insert(at, letters[index(&mut random, letters.len())]),
            _ => text[at] = letters[index(&mut random, letters.len())],
        }
        read(&text.into_iter().collect::<String>());
    }
}

#[test]
fn a_valid_expression_with_one_letter_changed_never_panics() {
    for good in [
        "CASE WHEN :row % 10 = 0 AND NOT :name ISNULL THEN format('%05d|%-3s|%.2f', :row, 'x', 1.5) ELSE NULL END",
        "-9223372036854775808 + hash(:row, 1) # ~permute(:row, 7) << 2 | random_zipfian(1, 9, 1.5) & abs(-1)",
        "concat(substr('äbc', 2, :row % 3), lastname(371), text(1, 3), digits(2), timestamp(1e9), pick(:name, 2.5))",
    ] {
        mutate(good, expression);
    }
}

#[test]
fn random_expressions_never_panic() {
    let mut random = Random::stream(20_110_904, 0);
    let mut compiled = 0;
    for _ in 0..40_000 {
        let length = 1 + index(&mut random, 9);
        let piece = |_| PIECES[index(&mut random, PIECES.len())];
        let text: String = (0..length).map(piece).collect();
        compiled += usize::from(expression(&text));
    }
    assert!(compiled > 200, "{compiled} expressions compiled");
}
