//! For damaged files, the reader returns rows or an error with its place, and never panics.

use assay_bibtex::{BibSource, Encoding, Replicas, SourceOptions};

use crate::reading::{Folder, rows_from, rows_of, sample};

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
    let mut state = 1_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
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
                assert!(
                    problems
                        .kept
                        .iter()
                        .any(|problem| problem.message == error.message)
                );
                assert!(error.line > 0 && error.column > 0, "{error}");
                assert!(
                    rows.iter()
                        .all(|(_, cells)| cells.iter().any(Option::is_some))
                );
            }
            (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => {
                panic!("skipping bad entries failed where reading succeeded: {error}")
            }
        }
        // Replicas are edits of the text and must be readable.
        if turn % 20 == 0 {
            let files = vec![folder.file("x.bib", &bytes)];
            let replicas = Some(Replicas {
                count: 2,
                ..Replicas::default()
            });
            let _ = rows_from(
                BibSource::new(&SourceOptions {
                    files,
                    replicas,
                    ..options
                })
                .expect("good options"),
            );
        }
    }
    assert!(
        with_errors > 1000,
        "too few files were damaged: {with_errors}"
    );
}
