//! Takes a seed and a stream number; returns that stream of random numbers, the same on every machine.
//!
//! xoshiro256++ (Blackman and Vigna, “Scrambled linear pseudorandom number generators”, ACM TOMS 47, 2021),
//! seeded by SplitMix64 as its authors recommend: 32 bytes of state, under a nanosecond per number, a period
//! of 2^256 − 1.

/// A stream of uniform random numbers; equal seeds and numbers give equal streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// One of the streams of a seed (a client's, for example). All streams of a seed start with different
    /// states: every step before the expansion is a bijection of 64 bits. The chance that two of them overlap
    /// within 2^40 numbers each is below 2^-150.
    #[inline]
    pub fn stream(seed: u64, number: u64) -> Self {
        Self::from_key(Self::derived(seed, number))
    }

    /// A separate seed for each number, for nested streams; no two numbers have the same seed.
    #[inline]
    pub fn derived(seed: u64, number: u64) -> u64 {
        let key = mixed(seed.wrapping_add(GAMMA)).wrapping_add(number.wrapping_mul(GAMMA));
        // Mixed again, because the expansion itself steps by the same gamma.
        mixed(key)
    }

    #[inline]
    fn from_key(key: u64) -> Self {
        let mut at = key;
        let mut word = || {
            at = at.wrapping_add(GAMMA);
            mixed(at)
        };
        // At most one word of four can be zero, so the state is never the all-zero one.
        Self {
            state: [word(), word(), word(), word()],
        }
    }

    /// 64 uniform bits.
    #[expect(
        clippy::should_implement_trait,
        reason = "an endless stream needs no Option"
    )]
    #[inline]
    pub fn next(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.state;
        let drawn = s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0);
        let (s2, s3) = (s2 ^ s0, s3 ^ s1);
        self.state = [s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17), s3.rotate_left(45)];
        drawn
    }

    /// A uniform integer of `lowest..=highest`, without the bias of a remainder (Lemire, “Fast random integer
    /// generation in an interval”, ACM TOMACS 29, 2019).
    ///
    /// # Panics
    /// If the range is empty.
    #[expect(clippy::cast_possible_truncation, reason = "only the low half is used")]
    #[inline]
    pub fn between(&mut self, lowest: i64, highest: i64) -> i64 {
        assert!(lowest <= highest, "callers check the range");
        let span = highest.wrapping_sub(lowest).cast_unsigned().wrapping_add(1);
        if span == 0 {
            return self.next().cast_signed();
        }
        let mut product = u128::from(self.next()) * u128::from(span);
        if (product as u64) < span {
            let unfair = span.wrapping_neg() % span;
            while (product as u64) < unfair {
                product = u128::from(self.next()) * u128::from(span);
            }
        }
        lowest.wrapping_add(((product >> 64) as u64).cast_signed())
    }
}

/// The step of SplitMix64, from the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's output function (Steele, Lea, Flood, “Fast splittable pseudorandom number generators”, OOPSLA
/// 2014; constants of Stafford's variant 13).
#[inline]
const fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::{GAMMA, Random, mixed};

    /// The output of the generator's reference program for the state 1, 2, 3, 4.
    #[test]
    fn the_generator_is_xoshiro256_plus_plus() {
        let mut random = Random {
            state: [1, 2, 3, 4],
        };
        let drawn: Vec<u64> = (0..10).map(|_| random.next()).collect();
        #[rustfmt::skip]
        let expected = [
            41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386,
            9_228_616_714_210_784_205, 9_973_669_472_204_895_162, 14_011_001_112_246_962_877,
            12_406_186_145_184_390_807, 15_849_039_046_786_891_736, 10_450_023_813_501_588_000,
        ];
        assert_eq!(drawn, expected);
    }

    /// The output of the reference program for the seed 1234567.
    #[test]
    fn the_seeding_is_splitmix64() {
        let word = |step: u64| mixed(1_234_567_u64.wrapping_add(GAMMA.wrapping_mul(step)));
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([word(1), word(2), word(3)], expected);
    }

    #[test]
    fn every_number_of_a_range_is_drawn_and_no_other() {
        let mut random = Random::stream(1, 0);
        let mut seen = [0_u32; 6];
        for _ in 0..60_000 {
            let drawn = random.between(-2, 3);
            assert!((-2..=3).contains(&drawn));
            seen[usize::try_from(drawn + 2).expect("the range was tested")] += 1;
        }
        // 10,000 of each are expected with a standard deviation of 91: accept six deviations.
        assert!(
            seen.iter().all(|&count| count.abs_diff(10_000) < 550),
            "{seen:?}"
        );
        assert_eq!(random.between(7, 7), 7);
        let extremes: Vec<i64> = (0..64)
            .map(|_| random.between(i64::MIN, i64::MAX))
            .collect();
        assert!(extremes.iter().any(|&drawn| drawn < 0) && extremes.iter().any(|&drawn| drawn > 0));
    }

    #[test]
    fn numbers_and_seeds_have_different_streams() {
        let first = |seed, number| Random::stream(seed, number).next();
        assert_eq!(first(42, 7), first(42, 7));
        let mut drawn: Vec<u64> = (0..1000).map(|number| first(42, number)).collect();
        drawn.extend(
            (0..1000)
                .map(|seed| first(seed, 7))
                .filter(|&word| word != first(42, 7)),
        );
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 1999);
    }
}
