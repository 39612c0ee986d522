//! Takes a random stream; gives choices.

use assay_values::Random;

/// True `per_million` times in a million.
pub(crate) fn chance(random: &mut Random, per_million: u32) -> bool {
    random.between(1, 1_000_000) <= i64::from(per_million)
}

/// One of `from`, each as often as the others.
pub(crate) fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[length_between(random, 0, from.len() - 1)]
}

/// A number of bytes, words or things from `low` up to and with `high`.
pub(crate) fn length_between(random: &mut Random, low: usize, high: usize) -> usize {
    let whole = |length| i64::try_from(length).expect("lengths are below 2^63");
    usize::try_from(random.between(whole(low), whole(high))).expect("between two lengths")
}

/// The number of one of `count` things.
pub(crate) fn number_below(random: &mut Random, count: u64) -> u64 {
    let last = i64::try_from(count - 1).expect("a small number of things");
    u64::try_from(random.between(0, last)).expect("not below zero")
}

/// A letter from `first` on, of 26.
pub(crate) fn letter(random: &mut Random, first: u8) -> char {
    char::from(first + u8::try_from(random.between(0, 25)).expect("one of 26"))
}
