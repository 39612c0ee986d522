//! Rows and synthetic entries, compared byte for byte with reviewed output.

use std::ops::ControlFlow;

use assay_bibtex::{ScanOptions, SourceOptions, SqlOptions, scan, synthesize, write_sql};

use crate::reading::{Folder, sample};

/// To accept a change, replace the file by the new text and review the difference.
#[test]
fn the_sample_gives_the_expected_script() {
    let source = SourceOptions {
        files: vec![sample("sample.bib")],
        ..SourceOptions::default()
    };
    let mut script = Vec::new();
    write_sql(
        &SqlOptions {
            source,
            ..SqlOptions::default()
        },
        &mut script,
    )
    .expect("the files are valid");
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
        let found =
            scan(&options, &mut |_, _| ControlFlow::Continue(())).expect("the files are valid");
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
