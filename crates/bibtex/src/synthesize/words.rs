//! Takes random numbers; returns invented words, titles and names.

use assay_values::Random;

use crate::chance::{Purpose, chance, length_between, letter, pick, stream};

const ONSETS: [&str; 24] = [
    "b", "br", "c", "ch", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s",
    "st", "t", "tr", "v", "w", "z",
];
const VOWELS: [&str; 9] = ["a", "e", "i", "o", "u", "ai", "ea", "io", "ou"];
const ENDINGS: [&str; 12] = ["", "", "n", "r", "s", "l", "t", "nd", "rm", "x", "m", "st"];
const SMALL_WORDS: [&str; 10] = [
    "the", "of", "and", "in", "for", "with", "a", "on", "to", "from",
];
const ACCENTED: [&str; 8] = [
    "{\\'e}", "{\\\"o}", "{\\\"u}", "{\\`a}", "{\\v{s}}", "{\\o}", "{\\ss}", "{\\c{c}}",
];
const MARKED: [&str; 6] = [
    "{\\TeX}",
    "{\\LaTeX}",
    "\\pkg{tabula}",
    "{\\em forma}",
    "{SQL}",
    "\\&",
];

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
