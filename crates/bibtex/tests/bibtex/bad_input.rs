//! Invalid input of every kind, with the place and the message that are reported.

use std::ops::ControlFlow;

use assay_bibtex::{
    BibSource, Encoding, MAX_ENTRY_BYTES, Problem, Problems, Scan, ScanOptions, Severity,
    SourceOptions, scan,
};
use assay_values::SourceError;

use crate::reading::{Folder, cell, error, keys, rows_from, rows_kept_going, rows_of};

/// A valid entry before the bad entry, so that no place is line 1 by chance.
const GOOD: &str = "% a comment\n@Misc{good, note = {x}}\n";

fn check(bad: &str, line: u64, column: u64, words: &str) {
    let found = error(format!("{GOOD}{bad}").as_bytes());
    assert_eq!((found.line, found.column), (line, column), "{bad}\n{found}");
    assert_eq!(found.file, "test.bib");
    let reported = format!("{} / {}", found.message, found.hint.unwrap_or_default());
    assert!(
        reported.contains(words),
        "{bad}\n{reported}\nexpected: {words}"
    );
}

fn scanned(files: Vec<String>, keep_going: bool) -> Result<Scan, SourceError> {
    let options = ScanOptions {
        files,
        keep_going,
        ..ScanOptions::default()
    };
    scan(&options, &mut |_, _| ControlFlow::Continue(()))
}

/// The only problem that was kept.
fn only(problems: &Problems) -> &Problem {
    match problems.kept.as_slice() {
        [problem] => problem,
        _ => panic!("{problems:?}"),
    }
}

#[test]
fn a_syntax_error_is_reported_at_its_place() {
    #[rustfmt::skip]
    let cases = [
        ("@Misc{\n title = {x}}", 4, 2, "expected a citation key, found none"),
        ("@Misc{, title = {x}}", 3, 7, "expected a citation key, found none"),
        ("@Misc{}", 3, 7, "expected a citation key, found none"),
        ("@Misc{title = {x}}", 3, 7, "expected a citation key, found none"),
        ("@Misc{k title = {x}}", 3, 9, "expected `,` after the citation key, found `t`"),
        ("@Misc{k,\n title {x}}", 4, 8, "expected `=` after the name of a field, found `{`"),
        ("@Misc{k,\n title = ,}", 4, 10, "expected a value, found `,`"),
        ("@Misc{k,\n title = }", 4, 10, "expected a value, found the end of the entry"),
        ("@Misc{k,\n a = {x}\n b = {y}}", 5, 2, "expected `,` or the end of the entry"),
        ("@Misc{k,\n a = {x},, b = {y}}", 4, 10, "remove the second comma"),
        ("@Misc{k,\n a = 12x}", 4, 8, "found `x`"),
        ("@Misc{k,\n a = \"x # {y}}", 4, 6, "expected a second `\"`"),
        ("@Misc{k,\n a = x # # y}", 4, 10, "expected a value, found `#`"),
        ("@Misc(k, a = {x}})", 3, 17, "expected `,` or the end of the entry"),
        ("@String{a {b}}", 3, 11, "expected `=`"),
        ("@String{}", 3, 9, "expected the name of a macro"),
        ("@String{a = b, c = d}", 3, 16, "expected the end of the definition"),
        ("@Misc k, a = {x}}", 3, 7, "expected `{` or `(` after `@Misc`, found `k`"),
        ("  @ {x}", 3, 5, "expected the type of an entry"),
    ];
    for (bad, line, column, words) in cases {
        check(bad, line, column, words);
    }
}

#[test]
fn an_unclosed_brace_is_reported_with_its_entry() {
    let bad = "@Misc{k,\n  title = {An {open brace},\n  year = 1999,\n}\n";
    let next = format!("{bad}\n@Misc{{next, note = {{y}}}}\n");
    for (bad, words) in [
        (
            bad,
            "the entry `@Misc{k,` never ends: the `{` at line 4, column 11",
        ),
        (bad, "before the end of the file"),
        (&next, "close it before line 8, where the next entry begins"),
        (
            "@Misc(k, a = \"x\"",
            "the `(` at line 3, column 6 is never closed",
        ),
    ] {
        check(bad, 3, 1, words);
    }
}

#[test]
fn a_key_may_be_used_once_in_a_file() {
    let words = "found `good` again; it is first used at line 2";
    check("@Book{good,\n note = {y}}", 3, 7, words);
    let folder = Folder::new("keys");
    let files = vec![
        folder.file("a.bib", b"@Misc{k, note = {x}}"),
        folder.file("b.bib", b"@Misc{k, note = {y}}"),
    ];
    let found = scanned(files, false).expect("two files may share");
    assert_eq!(found.entries, 2);
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let latin1 = b"@Misc{k,\n note = {Caf\xE9 \xFC},\n bad\n}";
    let found = error(latin1);
    assert_eq!((found.line, found.column), (2, 13));
    let hint = found.hint.unwrap_or_default();
    assert!(hint.contains("--encoding latin-1"), "{hint}");

    let found = error(b"@Misc{k, note = {x}}\n\n ab\0c");
    assert_eq!((found.line, found.column), (3, 4));
    assert!(found.message.contains("NUL"), "{found}");
}

#[test]
fn latin_1_is_decoded_and_its_columns_are_those_of_the_file() {
    let options = SourceOptions {
        encoding: Encoding::Latin1,
        ..SourceOptions::default()
    };
    let read = |text: &'static [u8]| rows_of(&options, Box::new(text));
    let (rows, _) = read(b"@Misc{k,\n note = {Caf\xE9 \xFC}}").expect("it is Latin-1");
    assert!(rows[0].1.contains(&Some("Caf\u{e9} \u{fc}".to_owned())));
    let found = read(b"@Misc{k,\n note = {Caf\xE9 \xFC} x}").expect_err("it is bad");
    assert_eq!((found.line, found.column), (2, 18));
}

#[test]
fn an_entry_has_a_maximum_length() {
    let long = |bytes: usize| {
        let frame = "@Misc{k, note = {}}".len();
        format!("\n@Misc{{k, note = {{{}}}}}", "x".repeat(bytes - frame)).into_bytes()
    };
    assert_eq!(keys(&rows_kept_going(&long(MAX_ENTRY_BYTES)).0), ["k"]);
    let found = error(&long(MAX_ENTRY_BYTES + 1));
    assert_eq!((found.line, found.column), (2, 1));
    assert!(found.message.contains("at most 8388608 bytes"), "{found}");
}

#[test]
fn files_without_entries_and_paths_that_are_not_files_are_refused() {
    let folder = Folder::new("files");
    let inside = folder.0.join("folder");
    std::fs::create_dir_all(&inside).expect("the temporary folder can be written");
    let good = folder.file("good.bib", b"@Misc{k, note = {x}}");
    #[rustfmt::skip]
    let table = [
        (folder.file("empty.bib", b""), "found an empty file"),
        (folder.file("junk.bib", b"no entries, joe@example.org (home)\n"), "bytes of other text"),
        (inside.to_string_lossy().into_owned(), "found a folder"),
        (folder.0.join("none.bib").to_string_lossy().into_owned(), "found none of this name"),
        (format!("{good}/x.bib"), "cannot be read"),
    ];
    for (path, words) in table {
        let files = vec![good.clone(), path.clone()];
        let found = scanned(files.clone(), false).expect_err("it is bad");
        assert_eq!((found.file.as_str(), found.line), (path.as_str(), 0));
        assert!(found.message.contains(words), "{found}");
        let found = scanned(files, true).expect("one file is valid");
        assert_eq!((found.entries, found.problems.errors), (1, 1));
        let found = scanned(vec![path.clone()], true).expect_err("no entries");
        let hint = found.hint.expect("the first error");
        let begin = format!("the first error: {path}: ");
        assert!(hint.starts_with(&begin), "{hint}");
    }
    let strings = folder.file("strings.bib", b"@String{a = {b}}");
    let found = scanned(vec![strings], false).expect_err("no entries");
    assert!(found.message.contains("found none in 1 file"), "{found}");
    let found = scanned(Vec::new(), false).expect_err("no files");
    let words = "at least one BibTeX file";
    assert!(found.message.contains(words), "{found}");
}

#[test]
fn keep_going_returns_the_valid_entries_and_lists_the_bad_entries() {
    let text = b"@Misc{a, note = {1}}
@Misc{b, note = {2}
@Misc{c, note = {3}}
@Misc{d note = {4}}
   @Misc{e, note = {5}}
@Misc{a, note = {6}}
@Misc{f, note = {\xE9}}
@Misc g
@Misc{h, note = \"7}
@Misc{i, note = {8}}
";
    let (rows, problems) = rows_kept_going(text);
    assert_eq!(keys(&rows), ["a", "c", "e", "i"]);
    let lines: Vec<u64> = problems.kept.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 4, 6, 7, 8, 9]);
    assert_eq!((problems.errors, problems.warnings), (6, 0));
    assert_eq!(problems.skipped_entries, 6);
}

#[test]
fn a_hundred_problems_are_kept_and_all_are_counted() {
    let mut text = String::from("@Misc{k, note = {x}}\n");
    for _ in 0..250 {
        text.push_str("@Misc{k, note = {again}}\n");
    }
    let (rows, problems) = rows_kept_going(text.as_bytes());
    assert_eq!(keys(&rows), ["k"]);
    assert_eq!((problems.kept.len(), problems.errors), (100, 250));
}

#[test]
fn a_macro_that_no_file_defines_is_a_warning_or_an_error() {
    let text =
        b"@String{known = {x} # other}\n@Misc{k, note = Known # Later, x = OTHER, month = jan}
@String{later = {y}}";
    let mut options = SourceOptions::default();
    let (rows, problems) = rows_of(&options, Box::new(&text[..])).expect("only a warning");
    assert_eq!(keys(&rows), ["k"]);
    let problem = only(&problems);
    assert_eq!(problem.severity, Severity::Warning);
    assert_eq!(problem.line, 1);
    assert_eq!(problem.column, 23);
    let words = "`other` is not defined in any of the files; it is used 2 times";
    assert!(problem.message.contains(words), "{problem:?}");
    options.strict = true;
    let found = rows_of(&options, Box::new(&text[..])).expect_err("strict");
    assert_eq!((found.line, found.column), (1, 23));
}

#[test]
fn a_field_given_twice_is_a_warning() {
    let (_, problems) = rows_kept_going(b"@Misc{k,\n note = {one},\n Note = {two}}");
    let problem = only(&problems);
    assert_eq!(problem.severity, Severity::Warning);
    assert_eq!(problem.line, 3);
    assert_eq!(problem.column, 2);
}

#[test]
fn two_files_of_one_name_are_a_warning() {
    let folder = Folder::new("names");
    std::fs::create_dir_all(folder.0.join("b")).expect("the temporary folder can be written");
    let files = vec![
        folder.file("x.bib", b"@Misc{k, note = {x}}"),
        folder.file("b/x.bib", b"@Misc{k, note = {y}}"),
    ];
    let found = scanned(files, false).expect("only a warning");
    assert_eq!((found.problems.errors, found.problems.warnings), (0, 1));
}

#[test]
fn text_that_only_resembles_entries_is_text() {
    let text = "mail joe@example.org{x} or @ noon, 5 @home\n%@Misc{commented, note = {x}}\n\
        @Comment{@Misc{real, note = {y}}} @comment more\n@Preamble{\"{}\" # {x}} @Misc{last,}";
    let (rows, problems) = rows_kept_going(text.as_bytes());
    assert_eq!(keys(&rows), ["real", "last"]);
    assert_eq!(problems.errors, 0);
    assert_eq!(cell("\u{feff}@Misc{k,}", "label").as_deref(), Some("k"));
}

#[test]
fn a_file_given_twice_and_two_files_of_one_name_are_distinguished() {
    let folder = Folder::new("equal-names");
    std::fs::create_dir_all(folder.0.join("other")).expect("a folder");
    let first = folder.file("x.bib", b"@Misc{key, title = {T}}\n");
    let second = folder.file("other/x.bib", b"@Misc{key, title = {T}}\n");
    let warnings = |files: &[&String]| -> Vec<String> {
        let options = SourceOptions {
            files: files.iter().map(|file| (*file).clone()).collect(),
            ..SourceOptions::default()
        };
        let source = BibSource::new(&options).expect("files that are there");
        let problems = rows_from(source).expect("good files").1.kept.into_iter();
        problems.map(|problem| problem.message).collect()
    };
    let twice = "is given twice; every entry is loaded twice";
    assert_eq!(warnings(&[&first, &first]), [twice]);
    let other_spelling = first.replace("/x.bib", "/./x.bib");
    assert_eq!(warnings(&[&first, &other_spelling]), [twice]);
    let both = warnings(&[&first, &second]);
    assert_eq!(both.len(), 1);
    assert!(both[0].starts_with("has the same name as "), "{}", both[0]);
}
