//! Takes random numbers; returns invented words, titles and names, and the journals and publishers that all synthetic
//! entries share.

use std::fmt::Write as _;

use assay_values::Random;

use crate::chance::{Purpose, chance, length_between, letter, number_below, pick, stream};

const ONSETS: [&str; 24] = [
    "b", "br", "c", "ch", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s",
    "st", "t", "tr", "v", "w", "z",
];
const VOWELS: [&str; 9] = ["a", "e", "i", "o", "u", "ai", "ea", "io", "ou"];
const ENDINGS: [&str; 12] = ["", "", "n", "r", "s", "l", "t", "nd", "rm", "x", "m", "st"];
const SMALL_WORDS: [&str; 10] = ["the", "of", "and", "in", "for", "with", "a", "on", "to", "from"];
const ACCENTED: [&str; 8] =
    ["{\\'e}", "{\\\"o}", "{\\\"u}", "{\\`a}", "{\\v{s}}", "{\\o}", "{\\ss}", "{\\c{c}}"];
const MARKED: [&str; 6] = ["{\\TeX}", "{\\LaTeX}", "\\pkg{tabula}", "{\\em forma}", "{SQL}", "\\&"];

/// Number of authors and editors; the model has one name for every two entries.
const PEOPLE: i64 = 4600;

/// One word in lower case.
pub(super) fn word(random: &mut Random) -> String {
    let mut word = String::new();
    for _ in 0..random.between(1, 3) {
        word.push_str(pick(random, &ONSETS));
        word.push_str(pick(random, &VOWELS));
    }
    word.push_str(pick(random, &ENDINGS));
    word
}

pub(super) fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Words of about `length` characters in total, some with TeX markup.
pub(super) fn phrase(random: &mut Random, length: usize) -> String {
    let mut phrase = capitalised(&word(random));
    while phrase.len() < length {
        phrase.push(' ');
        if chance(random, 300_000) {
            phrase.push_str(pick(random, &SMALL_WORDS));
        } else if chance(random, 40_000) {
            phrase.push_str(pick(random, &MARKED));
        } else if chance(random, 150_000) {
            phrase.push_str(&capitalised(&word(random)));
        } else {
            phrase.push_str(&word(random));
        }
    }
    phrase
}

/// A length with average `mean`, mostly shorter and sometimes much longer.
pub(super) fn length(random: &mut Random, mean: usize) -> usize {
    let times = if chance(random, 10_000) { 10 } else { 1 };
    let base = length_between(random, 0, mean);
    let shares = length_between(random, 0, 1000) * length_between(random, 0, 1000);
    (base + shares * mean / 600_000) * times
}

/// A person; some appear far more often than others.
pub(super) fn person(random: &mut Random, seed: u64) -> (String, String) {
    if chance(random, 150_000) {
        return ("Anonymous".to_owned(), "Anonymous".to_owned());
    }
    let share = random.between(0, 1000) * random.between(0, 1000);
    let number = u64::try_from(share * PEOPLE / 1_000_001).expect("a product of such");
    let mut theirs = stream(seed, Purpose::Person, number);
    let family = capitalised(&word(&mut theirs));
    let mut written = family.clone();
    if chance(&mut theirs, 80_000) {
        written.push_str(pick(&mut theirs, &ACCENTED));
        written.push_str(pick(&mut theirs, &ONSETS));
    }
    let given = if chance(&mut theirs, 500_000) {
        capitalised(&word(&mut theirs))
    } else {
        format!(
            "{}. {}.",
            letter(&mut theirs, b'A'),
            letter(&mut theirs, b'A')
        )
    };
    (format!("{given} {written}"), family)
}

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
