//! Reading takes linear time, not quadratic time, for input of any structure.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::reading::{keys, rows_kept_going};

/// Far more than any of these inputs takes, and far less than quadratic time would.
const HANG: Duration = Duration::from_secs(30);

fn check(what: &str, text: &str, entries: usize, errors: u64) {
    let started = Instant::now();
    let (rows, problems) = rows_kept_going(text.as_bytes());
    assert_eq!(keys(&rows).len(), entries, "{what}");
    assert_eq!(problems.errors, errors, "{what}");
    assert!(started.elapsed() < HANG, "{what}: {:?}", started.elapsed());
}

fn repeated(count: usize, mut append: impl FnMut(&mut String, usize)) -> String {
    let mut text = String::new();
    for number in 0..count {
        append(&mut text, number);
    }
    text
}

#[test]
fn large_input_is_read_in_linear_time() {
    const MANY: usize = 100_000;
    let good = "@Misc{good,}\n";
    let fields = repeated(MANY, |text, number| {
        write!(text, ",\n  field{number} = 1").expect("memory");
    });
    check("fields", &format!("@Misc{{k{fields}}}\n"), 1, 0);
    let same = repeated(MANY, |text, _| text.push_str("@Misc{same, note = {x}}\n"));
    check("entries of one key", &same, 1, MANY as u64 - 1);
    let nested = format!(
        "@Misc{{k, note = {}{}}}",
        "{".repeat(MANY),
        "}".repeat(MANY)
    );
    check("nested braces", &nested, 1, 0);
    let joined = format!("@Misc{{k, note = a{}}}", " # a".repeat(MANY));
    check("joined pieces", &joined, 1, 0);
    let names = format!("@Misc{{k, author = {{A{}}}}}", " and A".repeat(MANY));
    check("authors", &names, 1, 0);
    let pages = format!("@Misc{{k, pages = {{1{}}}}}", ", 1".repeat(MANY));
    check("pages", &pages, 1, 0);
    let macros = repeated(MANY, |text, number| {
        writeln!(text, "@String{{m{number} = m{}}}", number + 1).expect("memory");
    });
    check("macros", &format!("{macros}{good}"), 1, 0);
    let groups = format!(
        "@Misc{{k, title = {{{}}}}}",
        "\\noopsort{x\\verb|".repeat(MANY / 2) + &"}".repeat(MANY / 2)
    );
    check("commands", &groups, 1, 0);
    let signs = format!("@Misc{{k, note = {{{}}}}}", "@".repeat(5_000_000));
    check("at signs in a value", &signs, 1, 0);
    let signs = format!("@Misc{{k, note = {{{}\n{good}", "x@y{ ".repeat(1_000_000));
    check("at signs in a value that is not closed", &signs, 1, 1);
    let long = format!("@Misc{{k, note = {{{}}}}}\n{good}", "x".repeat(50_000_000));
    check("a long field", &long, 1, 1);
}

#[test]
fn many_bad_entries_are_skipped_in_linear_time() {
    const MANY: usize = 100_000;
    let good = "@Misc{good,}\n";
    for (what, item) in [
        ("unclosed entries", "@Misc{k, note = {x}\n"),
        ("unclosed values", "  @Misc{k, note = {x}\n"),
        ("unclosed quotes", "@Misc(k, note = \"x)\n"),
        ("types alone", "@Misc\n"),
        ("mail addresses", "a@b{ "),
        ("at signs", "\n  @"),
        ("NUL bytes", "@Misc{k, note = {\0}}\n"),
    ] {
        let text = format!("{}\n{good}", item.repeat(MANY));
        let started = Instant::now();
        let (rows, _) = rows_kept_going(text.as_bytes());
        assert_eq!(keys(&rows), ["good"], "{what}");
        assert!(started.elapsed() < HANG, "{what}: {:?}", started.elapsed());
    }
}
