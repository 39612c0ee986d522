//! Takes a random stream; returns random choices: booleans, elements, numbers, letters.

use assay_values::Random;

/// True with probability `per_million` / 1,000,000.
pub(crate) fn chance(random: &mut Random, per_million: u32) -> bool {
    random.between(1, 1_000_000) <= i64::from(per_million)
}

/// An element of `from`, all equally likely.
pub(crate) fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[length_between(random, 0, from.len() - 1)]
}

/// A length from `low` to `high`, both included.
pub(crate) fn length_between(random: &mut Random, low: usize, high: usize) -> usize {
    let whole = |length| i64::try_from(length).expect("lengths are below 2^63");
    usize::try_from(random.between(whole(low), whole(high))).expect("between two lengths")
}

/// A number from 0 to `count` - 1.
pub(crate) fn number_below(random: &mut Random, count: u64) -> u64 {
    let last = i64::try_from(count - 1).expect("counts are below 2^63");
    u64::try_from(random.between(0, last)).expect("not below zero")
}

/// One of the 26 letters from `first` on.
pub(crate) fn letter(random: &mut Random, first: u8) -> char {
    char::from(first + u8::try_from(random.between(0, 25)).expect("one of 26"))
}

/// What random numbers are drawn for: every purpose has its own streams.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Content,
    Sharing,
    Identity,
    Person,
    Journal,
    Publisher,
}

/// The random stream for item `number`, a function of the seed, the purpose and the number.
pub(super) fn stream(seed: u64, purpose: Purpose, number: u64) -> Random {
    Random::stream(seed, (number << 3) | purpose as u64)
}
