//! Takes a seed and what random numbers are for; gives a stream of its own.

use assay_values::Random;

/// What random numbers are drawn for: every use has streams of its own.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Content,
    Sharing,
    Identity,
    Person,
    Journal,
    Publisher,
}

/// The stream of one thing, which is a function of the seed, the purpose and the thing's number.
pub(super) fn stream(seed: u64, purpose: Purpose, number: u64) -> Random {
    Random::stream(seed, (number << 3) | purpose as u64)
}
