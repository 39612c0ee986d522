//! Takes a seed; returns the journals and publishers that all synthetic entries share.

use std::fmt::Write as _;

use assay_values::Random;

use crate::chance::{Purpose, chance, number_below, stream};
use crate::synthesize::words::{capitalised, word};

const JOURNALS: u64 = 60;
const PUBLISHERS: u64 = 32;

/// A journal, as entries refer to it.
pub(super) struct Journal {
    /// The macro: `j-BRAIN`.
    pub(super) name: String,
    pub(super) full: String,
    pub(super) coden: String,
    pub(super) issn: String,
}

pub(super) fn journal(random: &mut Random, seed: u64) -> Journal {
    // Half of all articles are in the first journal.
    let number = if chance(random, 500_000) {
        0
    } else {
        number_below(random, JOURNALS)
    };
    nth_journal(number, seed)
}

fn nth_journal(number: u64, seed: u64) -> Journal {
    let mut random = stream(seed, Purpose::Journal, number);
    let (first, second) = (
        capitalised(&word(&mut random)),
        capitalised(&word(&mut random)),
    );
    let letters = first.to_ascii_uppercase();
    Journal {
        name: format!("j-{letters}-{number}"),
        full: format!("{first} {second} Journal"),
        coden: format!("{letters:X<4.4}"),
        issn: format!(
            "{:04}-{:04}",
            random.between(100, 2999),
            random.between(0, 9999)
        ),
    }
}

/// The macro of a publisher: `pub-BRAIN`; its address is the same with `:adr`.
pub(super) fn publisher(random: &mut Random, seed: u64) -> String {
    let number = number_below(random, PUBLISHERS);
    nth_publisher(number, seed).0
}

fn nth_publisher(number: u64, seed: u64) -> (String, String, String) {
    let mut random = stream(seed, Purpose::Publisher, number);
    let name = capitalised(&word(&mut random));
    let town = capitalised(&word(&mut random));
    (
        format!("pub-{}-{number}", name.to_ascii_uppercase()),
        name,
        town,
    )
}

/// The text before the entries of every file.
pub(super) fn prologue(seed: u64) -> String {
    let mut text = String::from(
        "%%% -*-BibTeX-*-\n%%% Invented entries for measurements; they describe nothing.\n\n\
         @Preamble{\n    \"\\def \\pkg#1{{\\tt #1}}\"\n}\n\n\
         @String{ack-nobody = \"Nobody at all\"}\n\n",
    );
    for number in 0..JOURNALS {
        let journal = nth_journal(number, seed);
        writeln!(
            text,
            "@String{{{:<24} = \"{}\"}}",
            journal.name, journal.full
        )
        .expect("writing to memory is infallible");
    }
    text.push('\n');
    for number in 0..PUBLISHERS {
        let (key, name, town) = nth_publisher(number, seed);
        writeln!(
            text,
            "@String{{{key:<24} = \"{name} Press\"}}\n@String{{{:<24} = \"{town}\"}}",
            format!("{key}:adr")
        )
        .expect("writing to memory is infallible");
    }
    text.push('\n');
    text
}
