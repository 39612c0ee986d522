//! Rows and invented entries, byte for byte as they were when someone looked at them.

use std::ops::ControlFlow;

use assay_bibtex::{ScanOptions, SourceOptions, SqlOptions, scan, synthesize, write_sql};

use crate::reading::{Folder, sample};

/// To accept a change, write the new text over the file and read the difference.
#[test]
fn the_sample_becomes_the_script_beside_it() {
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
    .expect("it is good");
    let expected = std::fs::read(sample("sample.sql")).expect("the sample is part of the crate");
    assert_eq!(String::from_utf8(script), String::from_utf8(expected));
}

#[test]
fn invented_entries_are_the_same_everywhere_and_a_beginning_of_more() {
    let folder = Folder::new("invented");
    let scanned = |entries: u64, seed: u64| {
        let made = synthesize(&folder.0, entries, seed).expect("the folder can be written");
        assert_eq!(made.entries, entries);
        let options = ScanOptions {
            files: made.files,
            strict: true,
            ..ScanOptions::default()
        };
        let found = scan(&options, &mut |_, _| ControlFlow::Continue(())).expect("it is good");
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
