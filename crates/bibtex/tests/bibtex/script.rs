//! The SQL script: the order of its parts, its literals, and its end after an error; scripts and synthetic entries, byte
//! for byte as reviewed.

use std::io;
use std::io::{Cursor, ErrorKind, Write};
use std::ops::ControlFlow;

use assay_bibtex::{
    LiteralStyle, ScanOptions, SourceOptions, SqlOptions, TableName, WriteError, WriteSqlReport,
    scan, synthesize, write_sql, write_sql_from,
};

use crate::reading::{Folder, sample};

const TEXT: &str = r#"@String{s = "it's"}
@Misc{k, author = {O'Neil}, note = "'); drop table bibtab; --", URL = {C:\new\'}}
"#;

fn options() -> SqlOptions {
    SqlOptions {
        header: vec!["-- made by a test".to_owned()],
        create: vec!["DROP;".to_owned(), "CREATE;".to_owned()],
        prologue: vec!["SET;".to_owned()],
        begin: "BEGIN;".to_owned(),
        commit: "COMMIT;".to_owned(),
        rollback: "ROLLBACK;".to_owned(),
        ..SqlOptions::default()
    }
}

fn script(options: &SqlOptions, text: &str) -> (Result<WriteSqlReport, WriteError>, String) {
    let mut out = Vec::new();
    let stream = Box::new(Cursor::new(text.to_owned().into_bytes()));
    let report = write_sql_from(options, "(standard input)", stream, &mut out);
    (report, String::from_utf8(out).expect("a script is UTF-8"))
}

#[test]
fn the_script_has_its_parts_in_order() {
    let (report, script) = script(&options(), TEXT);
    let report = report.expect("the text is valid");
    assert_eq!((report.entries, report.strings, report.names), (1, 1, 1));
    assert_eq!(report.bytes_read, TEXT.len() as u64);
    assert_eq!(report.bytes_written, script.len() as u64);
    let starts = script.lines().map(|line| &line[..line.len().min(18)]);
    #[rustfmt::skip]
    let expected = [
        "-- made by a test", "DROP;", "CREATE;", "SET;", "BEGIN;", "INSERT INTO bibtab",
        "@Misc{k, author = ", "INSERT INTO strtab", "@String{s = \"it''s", "INSERT INTO namtab",
        "COMMIT;",
    ];
    assert_eq!(starts.collect::<Vec<_>>(), expected);
    assert!(script.contains("VALUES (1, NULL, NULL, 'misc', '(standard input)', 'k', 'O''Neil',"));
    assert!(script.ends_with("INSERT INTO namtab (name, count) VALUES ('O''Neil', 1);\nCOMMIT;\n"));
}

#[test]
fn no_text_of_an_entry_ends_its_literal() {
    use LiteralStyle::{Backslash, Doubled};
    #[rustfmt::skip]
    let cases = [
        (Doubled, "'''); drop table bibtab; --'", r"'C:\new\'''"),
        (Backslash, r"'\'); drop table bibtab; --'", r"'C:\\new\\\''"),
    ];
    for (literal_style, note, url) in cases {
        let options = SqlOptions {
            literal_style,
            ..options()
        };
        let (_, script) = script(&options, TEXT);
        assert!(script.contains(note), "{script}");
        assert!(script.contains(url), "{script}");
    }
}

#[test]
fn tables_and_columns_have_the_given_names() {
    let table = |table: &str, columns: &[&str]| TableName {
        table: table.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
    };
    let tables = Some([
        table("db.bibtab", &["a"; 49]),
        table("db.strtab", &["`key`", "value", "entry"]),
        table("db.namtab", &["name", "`count`"]),
    ]);
    let options = SqlOptions {
        tables,
        ..options()
    };
    let (_, script) = script(&options, TEXT);
    assert!(script.contains("INSERT INTO db.strtab (`key`, value, entry) VALUES ('s', "));
    assert!(script.contains("INSERT INTO db.namtab (name, `count`) VALUES ("));
}

#[test]
fn bad_input_is_rolled_back() {
    let (report, script) = script(&options(), &format!("{TEXT}@Misc{{bad, note}}"));
    assert!(matches!(report, Err(WriteError::Source(error)) if error.line == 3));
    assert!(script.contains("BEGIN;\nINSERT INTO bibtab"));
    assert!(script.ends_with("ROLLBACK;\n"));
    assert!(!script.contains("COMMIT"));
}

/// An output that fails after its first piece.
struct Failing(ErrorKind);

impl Write for Failing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_output_is_not_an_error_and_a_full_disk_is() {
    let write = |kind| {
        let stream = Box::new(Cursor::new(TEXT.as_bytes()));
        write_sql_from(&options(), "(standard input)", stream, &mut Failing(kind))
    };
    let closed = write(ErrorKind::BrokenPipe).expect("it is no error");
    assert!(closed.is_broken_pipe);
    let full = write(ErrorKind::StorageFull);
    assert!(matches!(full, Err(WriteError::Output(_))));
}

#[test]
fn options_are_read_from_json_and_an_unknown_option_is_refused() {
    let options: SqlOptions = serde_json::from_str(
        r#"{"source": {"files": ["a.bib"], "encoding": "latin-1", "keep_going": true,
            "replicas": {"count": 3, "variant": "clean", "reported": [["a.bib", "k"], [null, "l"]]}},
            "literal_style": "backslash", "begin": "START TRANSACTION;"}"#,
    )
    .expect("the document is valid");
    assert_eq!(options.literal_style, LiteralStyle::Backslash);
    assert!(serde_json::from_str::<SqlOptions>(r#"{"literal": "doubled"}"#).is_err());
}

/// To accept a change, replace the file by the new text and review the difference.
#[test]
fn the_sample_gives_the_expected_script() {
    let source = SourceOptions {
        files: vec![sample("sample.bib")],
        ..SourceOptions::default()
    };
    let mut script = Vec::new();
    let options = SqlOptions {
        source,
        ..SqlOptions::default()
    };
    write_sql(&options, &mut script).expect("the files are valid");
    let expected = std::fs::read(sample("sample.sql")).expect("the sample is part of the crate");
    assert_eq!(String::from_utf8(script), String::from_utf8(expected));
}

#[test]
fn synthetic_entries_are_reproducible_and_a_larger_number_begins_with_the_same() {
    let folder = Folder::new("invented");
    let scanned = |entries: u64, seed: u64| {
        let made = synthesize(&folder.0, entries, seed).expect("the folder can be written");
        assert_eq!(made.entries, entries);
        let options = ScanOptions {
            files: made.files,
            strict: true,
            ..ScanOptions::default()
        };
        let found = scan(&options, &mut |_, _| ControlFlow::Continue(()));
        let found = found.expect("the files are valid");
        assert_eq!((found.entries, found.bytes), (entries, made.bytes));
        let first = std::fs::read(folder.0.join("journal.bib")).expect("it was written");
        (found.fingerprint, first)
    };
    let (fingerprint, first) = scanned(2000, 1);
    assert_eq!(fingerprint, "e8c891a11d7e34e5615672ed256e7762");
    assert_ne!(scanned(2000, 2).0, fingerprint);
    let (_, longer) = scanned(4000, 1);
    assert_eq!(longer[..first.len()], first);
}
