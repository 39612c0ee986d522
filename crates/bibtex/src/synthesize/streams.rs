//! Takes a seed, a purpose and a number; returns an independent random stream.

use assay_values::Random;

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
