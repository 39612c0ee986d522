//! Takes random numbers; returns the defects of an entry, which the sanity checks find.
//!
//! A kind of defect that the model lacks is given to one entry in some thousands, so that every check finds some.

use assay_values::Random;

use crate::chance::chance;

/// The defects of one entry. Their numbers are those of the checks S01 to S28 of workload `bibsql`.
#[derive(Clone, Copy, Default)]
pub(super) struct Defects {
    bits: u32,
}

/// Check number, and how many per million entries that can have the defect have it.
const RATES: [(u32, u32); 26] = [
    (1, 96_000),
    (2, 2_000),
    (3, 3_000),
    (4, 9_100),
    (5, 2_600),
    (6, 600),
    (7, 2_000),
    (8, 1_000),
    (9, 2_000),
    (10, 300),
    (11, 3_000),
    (12, 500),
    (13, 300),
    (14, 300),
    (15, 10_000),
    (17, 300),
    (18, 5_400),
    (19, 9_000),
    (20, 300),
    (21, 300),
    (22, 13_000),
    (23, 10_000),
    (24, 40_000),
    (25, 4_000),
    (26, 300),
    (28, 1_100),
];

impl Defects {
    pub(super) fn draw(random: &mut Random) -> Self {
        let mut bits = 0;
        for (check, per_million) in RATES {
            if chance(random, per_million) {
                bits |= 1 << check;
            }
        }
        Self { bits }
    }

    pub(super) fn has(self, check: u32) -> bool {
        self.bits & (1 << check) != 0
    }
}
