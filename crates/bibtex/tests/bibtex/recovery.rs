//! After a bad entry, reading continues at the next entry and reports how much it skipped.

use assay_bibtex::Problems;

use crate::reading::{Cells, error, keys, rows_kept_going};

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
    assert_eq!(
        (problems.errors, problems.skipped_entries),
        (1, 1),
        "{what}"
    );
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
            assert!(
                (bytes - 12..=bytes + indent.len()).contains(&skipped),
                "{what}: {skipped} of {bytes}"
            );
        }
    }
}

#[test]
fn a_nul_byte_between_entries_leaves_out_no_entry() {
    let (rows, problems) =
        rows_kept_going(b"@Misc{a,}\n text \0 and \0\n% a comment \0 @Misc{no,}\n@Misc{b,}\n\0");
    assert_eq!(keys(&rows), ["a", "b"]);
    assert_eq!((problems.errors, problems.skipped_entries), (2, 0));
    assert_eq!((problems.kept[0].line, problems.kept[0].column), (2, 7));
}

#[test]
fn a_file_in_utf_16_is_one_error() {
    for text in [
        "\u{feff}@Misc{a, note = {x}}",
        "@Misc{a, note = {x}}",
        "% a comment",
    ] {
        for swap in [false, true] {
            let bytes: Vec<u8> = text
                .encode_utf16()
                .flat_map(|unit| {
                    if swap {
                        unit.to_be_bytes()
                    } else {
                        unit.to_le_bytes()
                    }
                })
                .collect();
            let found = error(&bytes);
            assert_eq!((found.line, found.column), (1, 1));
            assert!(found.message.contains("UTF-16"), "{found}");
        }
    }
}

#[test]
fn entries_on_the_same_line_are_found_after_a_bad_entry_that_ends() {
    let (rows, problems) = rows_kept_going(
        b"@Misc{a,} @Misc{b note} @Misc{c,} @Misc{d, x = {1} y = {see @misc{z}}} @Misc{e,}",
    );
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
    assert_eq!(
        problems.skipped_bytes,
        (text.len() - b"@Misc{good,}".len()) as u64
    );
}

#[test]
fn an_entry_may_quote_other_entries() {
    let quoted: String = (0..60)
        .map(|at| format!("\n  @Misc{{q{at}, x = {{{}}}}}", "y".repeat(500)))
        .collect();
    let text = format!("@Misc{{a, note = {{{quoted}}}}}\n@Misc{{b,}}");
    let (rows, problems) = rows_kept_going(text.as_bytes());
    assert_eq!(keys(&rows), ["a", "b"]);
    assert_eq!(problems.errors, 0);
}
