//! The rows do not depend on how the bytes are split into reads.

use std::io::{self, Read};

use assay_bibtex::{Encoding, SourceOptions};

use crate::reading::{rows_of, sample};

/// Returns its bytes in pieces with the lengths in `lengths`, repeated, with occasional interruptions.
struct PiecewiseReader {
    bytes: Vec<u8>,
    at: usize,
    lengths: Vec<usize>,
    turn: usize,
}

impl Read for PiecewiseReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        if self.turn.is_multiple_of(7) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = self.lengths[self.turn % self.lengths.len()];
        let count = length.min(into.len()).min(self.bytes.len() - self.at);
        into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Pieces of one byte put a boundary at every offset; the others at some offsets.
fn piece_lengths() -> Vec<Vec<usize>> {
    let mut random = 1_u64;
    let mut next = move || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % 300 + 1
    };
    let mut all = vec![vec![1], vec![2, 3], vec![usize::MAX]];
    all.extend((0..40).map(|_| (0..5).map(|_| next()).collect()));
    all
}

fn check(bytes: &[u8], options: &SourceOptions) {
    let read = |lengths: Vec<usize>| {
        let stream = PiecewiseReader {
            bytes: bytes.to_vec(),
            at: 0,
            lengths,
            turn: 0,
        };
        rows_of(options, Box::new(stream))
    };
    let whole = read(vec![usize::MAX]);
    for lengths in piece_lengths() {
        assert_eq!(read(lengths.clone()), whole, "{lengths:?}");
    }
}

#[test]
fn pieces_of_any_length_give_the_same_rows() {
    let bytes = std::fs::read(sample("sample.bib")).expect("the sample is part of the crate");
    check(&bytes, &SourceOptions::default());
    check(
        &bytes,
        &SourceOptions {
            encoding: Encoding::Latin1,
            ..SourceOptions::default()
        },
    );
}

#[test]
fn pieces_of_any_length_give_the_same_errors() {
    let good = std::fs::read(sample("sample.bib")).expect("the sample is part of the crate");
    let ends: [&[u8]; 6] = [
        b"@Misc{open, note = {x}",
        b"@Misc{bad, note = {\xE9}}",
        b"@Misc{k\0}",
        b"@Misc{nul, note = {x}}\0",
        b"@Misc\n",
        b"@Misc{twice, note = {x}}\n@Misc{twice, note = {x}}",
    ];
    for end in ends {
        let bytes = [&good, end].concat();
        for keep_going in [false, true] {
            check(
                &bytes,
                &SourceOptions {
                    keep_going,
                    ..SourceOptions::default()
                },
            );
        }
    }
}

#[test]
fn an_entry_longer_than_many_pieces_is_one_entry() {
    let long = format!(
        "@Misc{{k,\n note = {{{}}}\n}}\n@Misc{{l,}}",
        "word {x} ".repeat(100_000)
    );
    let stream = PiecewiseReader {
        bytes: long.into_bytes(),
        at: 0,
        lengths: vec![4096],
        turn: 0,
    };
    let (rows, _) =
        rows_of(&SourceOptions::default(), Box::new(stream)).expect("the text is valid");
    assert_eq!(rows.len(), 2);
    let entry = rows[0]
        .1
        .last()
        .and_then(Option::as_ref)
        .expect("every row has an entry");
    assert_eq!(entry.len(), 900_022);
}
