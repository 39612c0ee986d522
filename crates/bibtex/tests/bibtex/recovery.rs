//! After a bad entry, reading continues at the next entry and reports how much it skipped. Damaged files give rows or an
//! error with its place, and input of any structure takes linear time.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use assay_bibtex::{BibSource, Encoding, Problems, SourceOptions};

use crate::reading::{
    Cells, Folder, error, keys, random, rows_from, rows_kept_going, rows_of, sample,
};
use crate::replicas::replicas_of;

/// A change of the text of an entry.
type Damage = Box<dyn Fn(&str) -> Vec<u8>>;

/// A hundred entries, each line indented by `indent`, number 40 changed by `damage`.
fn hundred(indent: &str, damage: impl Fn(&str) -> Vec<u8>) -> (Vec<u8>, usize) {
    let mut text = Vec::new();
    let mut damaged_bytes = 0;
    for number in 0..100 {
        let entry = format!(
            "{indent}@Misc{{k{number},\n{indent}  title = {{A {{B}} c}},\n{indent}  year = 1999,\n{indent}}}\n"
        );
        if number == 40 {
            let damaged = damage(&entry);
            damaged_bytes = damaged.len();
            text.extend_from_slice(&damaged);
        } else {
            text.extend_from_slice(entry.as_bytes());
        }
    }
    (text, damaged_bytes)
}

fn replaced(from: &'static str, to: &'static str) -> impl Fn(&str) -> Vec<u8> {
    move |entry| entry.replacen(from, to, 1).into_bytes()
}

fn check(text: &[u8], rows: &[Cells], problems: &Problems, what: &str) {
    let text = String::from_utf8_lossy(text);
    assert_eq!(rows_of_entries(rows), 99, "{what}\n{problems:?}");
    assert!(!keys(rows).contains(&"k40"), "{what} {text}");
    assert_eq!(problems.errors, 1, "{what}");
    assert_eq!(problems.skipped_entries, 1, "{what}");
}

fn rows_of_entries(rows: &[Cells]) -> usize {
    rows.iter().filter(|(table, _)| *table == 0).count()
}

#[test]
fn one_bad_entry_leaves_out_one_entry() {
    let damages: [(&str, Damage); 8] = [
        ("a NUL byte", Box::new(replaced("B", "\0"))),
        ("an unclosed value", Box::new(replaced("{B}", "{B"))),
        (
            "an entry without an end",
            Box::new(|entry| entry.trim_end().trim_end_matches('}').as_bytes().to_vec()),
        ),
        ("a missing comma", Box::new(replaced("c},", "c}"))),
        ("a missing key", Box::new(replaced("k40", ""))),
        ("a key used before", Box::new(replaced("k40", "k39"))),
        ("a quote alone", Box::new(replaced("1999", "\""))),
        (
            "invalid UTF-8",
            Box::new(|entry| {
                let at = entry.find('B').expect("it is there");
                let mut bytes = entry.as_bytes().to_vec();
                bytes[at] = 0xE9;
                bytes
            }),
        ),
    ];
    for indent in ["", "  ", "\t"] {
        for (what, damage) in &damages {
            let (text, bytes) = hundred(indent, damage);
            let (rows, problems) = rows_kept_going(&text);
            check(&text, &rows, &problems, what);
            let skipped = usize::try_from(problems.skipped_bytes).expect("a few");
            let expected = bytes - 12..=bytes + indent.len();
            assert!(expected.contains(&skipped), "{what}: {skipped} of {bytes}");
        }
    }
}

#[test]
fn a_nul_byte_between_entries_leaves_out_no_entry() {
    let text = b"@Misc{a,}\n text \0 and \0\n% a comment \0 @Misc{no,}\n@Misc{b,}\n\0";
    let (rows, problems) = rows_kept_going(text);
    assert_eq!(keys(&rows), ["a", "b"]);
    assert_eq!((problems.errors, problems.skipped_entries), (2, 0));
    assert_eq!((problems.kept[0].line, problems.kept[0].column), (2, 7));
}

#[test]
fn a_file_in_utf_16_is_one_error() {
    let plain = "@Misc{a, note = {x}}";
    for text in [&format!("\u{feff}{plain}"), plain, "% a comment"] {
        for bytes_of in [u16::to_be_bytes, u16::to_le_bytes] {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(bytes_of).collect();
            let found = error(&bytes);
            assert_eq!((found.line, found.column), (1, 1));
            assert!(found.message.contains("UTF-16"), "{found}");
        }
    }
}

#[test]
fn entries_on_the_same_line_are_found_after_a_bad_entry_that_ends() {
    let text = b"@Misc{a,} @Misc{b note} @Misc{c,} @Misc{d, x = {1} y = {see @misc{z}}} @Misc{e,}";
    let (rows, problems) = rows_kept_going(text);
    assert_eq!(keys(&rows), ["a", "c", "e"]);
    assert_eq!((problems.errors, problems.skipped_entries), (2, 2));
}

#[test]
fn skipped_text_is_counted_independently_of_window_boundaries() {
    // Nothing after the first brace can be distinguished from the contents of its entry.
    let mut text = b"@Misc{bad, note = {{".to_vec();
    for number in 0..40_000 {
        text.extend_from_slice(format!(" @Misc{{k{number}, note = {{x}}}}").as_bytes());
    }
    text.extend_from_slice(b"\n@Misc{good,}");
    let (rows, problems) = rows_kept_going(&text);
    assert_eq!(keys(&rows), ["good"]);
    assert_eq!((problems.errors, problems.skipped_entries), (1, 40_001));
    let bad_bytes = text.len() - b"@Misc{good,}".len();
    assert_eq!(problems.skipped_bytes, bad_bytes as u64);
}

#[test]
fn an_entry_may_quote_other_entries() {
    let value = "y".repeat(500);
    let quoted = (0..60).map(|at| format!("\n  @Misc{{q{at}, x = {{{value}}}}}"));
    let quoted: String = quoted.collect();
    let text = format!("@Misc{{a, note = {{{quoted}}}}}\n@Misc{{b,}}");
    let (rows, problems) = rows_kept_going(text.as_bytes());
    assert_eq!(keys(&rows), ["a", "b"]);
    assert_eq!(problems.errors, 0);
}

/// Bytes with a meaning in BibTeX, TeX or the encoding.
const MEANINGFUL: &[u8] = b"@{}()\"#,=%\\ \n\r\t~'a1\xC3\xA9\xFF\x01\0";

fn damaged(good: &[u8], random: &mut impl FnMut() -> usize) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..=random() % 6 {
        let at = random() % bytes.len();
        match random() % 4 {
            0 => bytes[at] = MEANINGFUL[random() % MEANINGFUL.len()],
            1 => bytes.insert(at, MEANINGFUL[random() % MEANINGFUL.len()]),
            2 => {
                bytes.remove(at);
            }
            _ => {
                let end = (at + random() % 80).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
    bytes
}

#[test]
fn damaged_files_give_rows_or_errors_with_a_place() {
    let good = std::fs::read(sample("sample.bib")).expect("the sample is part of the crate");
    let mut random = random();
    let folder = Folder::new("damage");
    let mut with_errors = 0;
    for turn in 0..4000 {
        let bytes = damaged(&good, &mut random);
        let mut options = SourceOptions::default();
        if turn % 5 == 0 {
            options.encoding = Encoding::Latin1;
        }
        let outcome = rows_of(&options, Box::new(std::io::Cursor::new(bytes.clone())));
        options.keep_going = true;
        let kept = rows_of(&options, Box::new(std::io::Cursor::new(bytes.clone())));
        match (outcome, kept) {
            (Ok((rows, _)), Ok((again, problems))) => {
                assert_eq!(rows, again);
                assert_eq!(problems.errors, 0);
            }
            (Err(error), Ok((rows, problems))) => {
                with_errors += 1;
                let mut kept = problems.kept.iter();
                assert!(kept.any(|problem| problem.message == error.message));
                assert!(error.line > 0 && error.column > 0, "{error}");
                for (_, cells) in &rows {
                    assert!(cells.iter().any(Option::is_some));
                }
            }
            (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => {
                panic!("skipping bad entries failed where reading succeeded: {error}")
            }
        }
        // Replicas are edits of the text and must be readable.
        if turn % 20 == 0 {
            let files = vec![folder.file("x.bib", &bytes)];
            let replicas = Some(replicas_of(2));
            let enlarged = SourceOptions {
                files,
                replicas,
                ..options
            };
            let _ = rows_from(BibSource::new(&enlarged).expect("good options"));
        }
    }
    assert!(with_errors > 1000, "too few were damaged: {with_errors}");
}

/// Far more than any of these inputs takes, and far less than quadratic time would.
const HANG: Duration = Duration::from_secs(300);

fn check_in_time(what: &str, text: &str, entries: usize, errors: u64) {
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
    check_in_time("fields", &format!("@Misc{{k{fields}}}\n"), 1, 0);
    let same = repeated(MANY, |text, _| text.push_str("@Misc{same, note = {x}}\n"));
    check_in_time("entries of one key", &same, 1, MANY as u64 - 1);
    let (open, close) = ("{".repeat(MANY), "}".repeat(MANY));
    let nested = format!("@Misc{{k, note = {open}{close}}}");
    check_in_time("nested braces", &nested, 1, 0);
    let joined = format!("@Misc{{k, note = a{}}}", " # a".repeat(MANY));
    check_in_time("joined pieces", &joined, 1, 0);
    let names = format!("@Misc{{k, author = {{A{}}}}}", " and A".repeat(MANY));
    check_in_time("authors", &names, 1, 0);
    let pages = format!("@Misc{{k, pages = {{1{}}}}}", ", 1".repeat(MANY));
    check_in_time("pages", &pages, 1, 0);
    let macros = repeated(MANY, |text, number| {
        writeln!(text, "@String{{m{number} = m{}}}", number + 1).expect("memory");
    });
    check_in_time("macros", &format!("{macros}{good}"), 1, 0);
    let open = "\\noopsort{x\\verb|".repeat(MANY / 2);
    let groups = format!("@Misc{{k, title = {{{open}{}}}}}", "}".repeat(MANY / 2));
    check_in_time("commands", &groups, 1, 0);
    let signs = format!("@Misc{{k, note = {{{}}}}}", "@".repeat(5_000_000));
    check_in_time("at signs in a value", &signs, 1, 0);
    let signs = format!("@Misc{{k, note = {{{}\n{good}", "x@y{ ".repeat(1_000_000));
    check_in_time("at signs in a value that is not closed", &signs, 1, 1);
    let long = format!("@Misc{{k, note = {{{}}}}}\n{good}", "x".repeat(50_000_000));
    check_in_time("a long field", &long, 1, 1);
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
