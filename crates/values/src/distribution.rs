//! Takes a distribution of durations as documents and scripts spell it; returns random durations; and numbers of other
//! distributions, drawn from the same stream.
//!
//! | form | what is drawn |
//! |---|---|
//! | `constant:1ms` | always the same |
//! | `uniform:1ms..3ms` | all between the two equally likely |
//! | `exponential:1ms` | exponential with this mean |
//! | `exponential:12s,120s` | exponential with this mean and maximum; longer durations are cut to the maximum
//! |
//! | `lognormal:1ms,0.5` | lognormal with this median and standard deviation of the logarithm |

use std::time::Duration;

use crate::Random;

/// A distribution of durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(Duration),
    /// Evenly spread between the least and the greatest.
    Uniform(Duration, Duration),
    /// Mean and maximum.
    Exponential(Duration, Duration),
    /// Median and standard deviation of the logarithm.
    Lognormal(Duration, f64),
}

/// The maximum of any drawn duration.
const LONGEST: Duration = Duration::from_secs(3600);

impl Distribution {
    /// Always zero.
    pub const ZERO: Self = Self::Constant(Duration::ZERO);

    /// The forms that [`Distribution::parse`] accepts, for messages.
    pub const FORMS: &str = "constant:1ms, uniform:1ms..3ms, exponential:1ms, exponential:12s,120s or lognormal:1ms,0.5";

    /// Parses a distribution.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.trim().split_once(':')?;
        match kind.trim() {
            "constant" => duration(rest).map(Self::Constant),
            "exponential" => match rest.split_once(',') {
                None => Some(Self::Exponential(duration(rest)?, LONGEST)),
                Some((mean, most)) => Some(Self::Exponential(duration(mean)?, duration(most)?)),
            },
            "uniform" => {
                let (least, most) = rest.split_once("..")?;
                let (least, most) = (duration(least)?, duration(most)?);
                (least <= most).then_some(Self::Uniform(least, most))
            }
            "lognormal" => {
                let (median, deviation) = rest.split_once(',')?;
                let deviation: f64 = deviation.trim().parse().ok()?;
                let is_possible = (0.0..=10.0).contains(&deviation);
                is_possible.then_some(Self::Lognormal(duration(median)?, deviation))
            }
            _ => None,
        }
    }

    /// Draws a duration, at most an hour.
    pub fn draw(self, random: &mut Random) -> Duration {
        let seconds = match self {
            Self::Constant(duration) => return duration,
            Self::Uniform(least, most) => {
                least.as_secs_f64() + random.unit() * (most - least).as_secs_f64()
            }
            Self::Exponential(mean, most) => {
                (mean.as_secs_f64() * random.exponential()).min(most.as_secs_f64())
            }
            Self::Lognormal(median, deviation) => {
                median.as_secs_f64() * (deviation * random.normal()).exp()
            }
        };
        Duration::from_secs_f64(seconds.clamp(0.0, LONGEST.as_secs_f64()))
    }
}

/// The longest duration that is accepted, so that it can be added to any instant.
const LONGEST_SPELLED_S: f64 = 365.0 * 86_400.0;

/// Parses a duration: a number with its unit (`500ms`, `2min`), a year at most; all units that the options take.
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit_at = text.find(char::is_alphabetic)?;
    let number: f64 = text[..unit_at].trim_end().parse().ok()?;
    let unit_s = match &text[unit_at..] {
        "h" => 3600.0,
        "min" | "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    };
    let seconds = number * unit_s;
    let is_possible = (0.0..=LONGEST_SPELLED_S).contains(&seconds);
    is_possible.then(|| Duration::from_secs_f64(seconds))
}

impl Random {
    /// At least 0, below 1; uses all 53 bits of a double.
    #[expect(clippy::cast_precision_loss, reason = "a double has 53 bits")]
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Above 0, at most 1: for logarithms.
    fn unit_above_zero(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// A number from the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.unit_above_zero().ln()
    }

    /// A number from the standard normal distribution (Box and Muller, Annals of Mathematical Statistics 29,
    /// 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit_above_zero().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// An integer of `lowest..=highest`, lower ones more likely: over the range the density falls by a factor
    /// of e to the power `parameter`. (pgbench's `random_exponential`.)
    ///
    /// # Panics
    /// If the range is empty, or `parameter` is not above 0.
    pub fn exponential_between(&mut self, lowest: i64, highest: i64, parameter: f64) -> i64 {
        assert!(
            lowest <= highest && parameter > 0.0,
            "callers check the arguments"
        );
        let cut = (-parameter).exp();
        let share = -(cut + (1.0 - cut) * self.unit_above_zero()).ln() / parameter;
        share_of(lowest, highest, share)
    }

    /// An integer of `lowest..=highest`, middle ones more likely: a normal distribution whose range is
    /// `parameter` standard deviations to either side; numbers outside are drawn again. (pgbench's
    /// `random_gaussian`.)
    ///
    /// # Panics
    /// If the range is empty, or `parameter` is below 2, since most numbers would be drawn again.
    pub fn gaussian_between(&mut self, lowest: i64, highest: i64, parameter: f64) -> i64 {
        assert!(
            lowest <= highest && parameter >= 2.0,
            "callers check the arguments"
        );
        let deviations = loop {
            let drawn = self.normal();
            if (-parameter..parameter).contains(&drawn) {
                break drawn;
            }
        };
        share_of(lowest, highest, (deviations / parameter + 1.0) / 2.0)
    }

    /// An integer of `lowest..=highest`, lower ones more likely: the k-th in proportion to 1 / k to the power
    /// `parameter`. Drawn by rejection, which needs no table of the range and no sum over it, so that the range may grow
    /// (Hörmann and Derflinger, “Rejection-Inversion to Generate Variates from Monotone Discrete Distributions”, ACM
    /// TOMACS 6, 1996). For every parameter above 0; [`Random::zipfian_between`] is pgbench's, for those above 1.
    ///
    /// # Panics
    /// If the range is empty, or `parameter` is not above 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the drawn number is compared with the range first"
    )]
    pub fn harmonic_between(&mut self, lowest: i64, highest: i64, parameter: f64) -> i64 {
        assert!(
            lowest <= highest && parameter > 0.0,
            "callers check the arguments"
        );
        let count = (i128::from(highest) - i128::from(lowest) + 1) as f64;
        let weight = |x: f64| x.powf(-parameter);
        // The area under the weights up to x, and the x of an area.
        let area = |x: f64| over_x((1.0 - parameter) * x.ln(), f64::exp_m1) * x.ln();
        let of_area = |area: f64| {
            let scaled = (area * (1.0 - parameter)).max(-1.0);
            (over_x(scaled, f64::ln_1p) * area).exp()
        };
        let (first, last) = (area(1.5) - 1.0, area(count + 0.5));
        let surely_kept = 2.0 - of_area(area(2.5) - weight(2.0));
        let rank = loop {
            let drawn = last + self.unit() * (first - last);
            let at = of_area(drawn);
            let rank = (at + 0.5).floor().clamp(1.0, count);
            if rank - at <= surely_kept || drawn >= area(rank + 0.5) - weight(rank) {
                break rank;
            }
        };
        lowest.saturating_add((rank - 1.0) as i64).min(highest)
    }

    /// An integer of `lowest..=highest`, lower ones more likely: the k-th in proportion to 1 / k to the power
    /// `parameter`. Drawn by rejection, which needs no table of the range (Devroye, “Non-Uniform Random
    /// Variate Generation”, 1986, X.6.1). (pgbench's `random_zipfian`.)
    ///
    /// # Panics
    /// If the range is empty, or `parameter` is not above 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the drawn number is compared with the range first"
    )]
    pub fn zipfian_between(&mut self, lowest: i64, highest: i64, parameter: f64) -> i64 {
        assert!(
            lowest <= highest && parameter > 1.0,
            "callers check the arguments"
        );
        let count = (i128::from(highest) - i128::from(lowest) + 1) as f64;
        let bound = 2.0_f64.powf(parameter - 1.0);
        let rank = loop {
            let (first, second) = (self.unit_above_zero(), self.unit());
            let rank = first.powf(-1.0 / (parameter - 1.0)).floor();
            let ratio = (1.0 + 1.0 / rank).powf(parameter - 1.0);
            let is_kept = second * rank * (ratio - 1.0) / (bound - 1.0) <= ratio / bound;
            if is_kept && rank <= count {
                break rank;
            }
        };
        lowest.saturating_add((rank - 1.0) as i64).min(highest)
    }
}

/// A function that is x at 0 to the first order, divided by x.
fn over_x(x: f64, function: fn(f64) -> f64) -> f64 {
    match x.abs() < 1e-12 {
        true => 1.0,
        false => function(x) / x,
    }
}

/// The integer at this fraction (at least 0, below 1) of the range.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a part of a 64-bit range fits into 64 bits"
)]
fn share_of(lowest: i64, highest: i64, share: f64) -> i64 {
    let count = (i128::from(highest) - i128::from(lowest) + 1) as f64;
    let offset = (count * share.max(0.0)) as u64;
    // Rounding may exceed the end of the range by one.
    lowest
        .wrapping_add(offset.cast_signed())
        .clamp(lowest, highest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// The minimum, mean, median and maximum of 20,000 draws, in microseconds.
    fn shape(text: &str) -> [f64; 4] {
        let distribution = Distribution::parse(text).expect(text);
        let mut random = Random::stream(1, 1);
        let mut draws: Vec<f64> = (0..20_000)
            .map(|_| distribution.draw(&mut random).as_secs_f64() * 1e6)
            .collect();
        draws.sort_by(f64::total_cmp);
        [draws[0], draws.iter().sum::<f64>() / 20_000.0, draws[10_000], draws[19_999]]
    }

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.03
    }

    #[test]
    fn draws_have_the_given_distribution() {
        assert_eq!(shape("constant:250us"), [250.0; 4]);
        assert_eq!(shape("constant:0.01min"), shape("constant: 600 ms"));
        assert_eq!(shape("constant:250µs"), shape("constant:.00025s"));
        let [least, mean, median, most] = shape("uniform:1ms..3ms");
        assert!(least >= 1000.0 && most <= 3000.0 && near(mean, 2000.0) && near(median, 2000.0));
        let [_, mean, median, most] = shape("exponential:1ms");
        assert!(near(mean, 1000.0) && near(median, 1000.0 * 2_f64.ln()) && most > 8000.0);
        let [_, mean, median, most] = shape("exponential:1ms, 3ms");
        assert!(near(median, 1000.0 * 2_f64.ln()) && most == 3000.0);
        assert!(near(mean, 1000.0 * (1.0 - (-3.0_f64).exp())));
        let [_, mean, median, _] = shape("lognormal:1ms,0.5");
        assert!(near(median, 1000.0) && near(mean, 1000.0 * (0.5_f64.powi(2) / 2.0).exp()));
    }

    #[test]
    fn an_invalid_distribution_is_rejected() {
        #[rustfmt::skip]
        let cases = [
            "constant:31536001s", "constant:1000000000000000000s", "", "1ms", "constant:1",
            "constant:-1ms", "constant:1d", "uniform:3ms..1ms", "uniform:1ms", "exponential:",
            "exponential:1s,2", "lognormal:1ms", "lognormal:1ms,-1", "normal:1ms",
        ];
        for text in cases {
            assert_eq!(Distribution::parse(text), None, "{text}");
        }
    }

    /// How often each of the ten integers from −3 to 6 is drawn in 100,000.
    fn counts(draw: impl Fn(&mut Random) -> i64) -> [f64; 10] {
        let mut random = Random::stream(7, 0);
        let mut counts = [0.0; 10];
        for _ in 0..100_000 {
            let drawn = draw(&mut random);
            assert!((-3..=6).contains(&drawn), "{drawn}");
            counts[usize::try_from(drawn + 3).expect("the range was tested")] += 1.0;
        }
        counts
    }

    /// Whether Pearson's statistic is below the bound that is exceeded by chance once in a million (9 degrees
    /// of freedom).
    fn is_like(counts: &[f64; 10], weights: [f64; 10]) -> bool {
        let sum: f64 = weights.iter().sum();
        let statistic: f64 = counts
            .iter()
            .zip(weights)
            .map(|(count, weight)| {
                let expected = 100_000.0 * weight / sum;
                (count - expected).powi(2) / expected
            })
            .sum();
        statistic < 45.0
    }

    fn ranks(weight: impl Fn(f64) -> f64) -> [f64; 10] {
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0].map(weight)
    }

    #[test]
    fn exponential_numbers_fall_by_the_same_ratio_at_every_step() {
        for parameter in [0.1, 2.5, 10.0] {
            let found = counts(|random| random.exponential_between(-3, 6, parameter));
            let expected = ranks(|rank| (-parameter * rank / 10.0).exp());
            assert!(is_like(&found, expected), "{parameter}: {found:?}");
        }
    }

    #[test]
    fn gaussian_numbers_follow_the_areas_under_the_bell_curve() {
        // Areas of the standard normal distribution between −2.5 and 2.5 in ten equal steps.
        let half = [0.016_54, 0.044_06, 0.091_85, 0.149_88, 0.191_46];
        let weights = std::array::from_fn(|rank| half[rank.min(9 - rank)]);
        let found = counts(|random| random.gaussian_between(-3, 6, 2.5));
        assert!(is_like(&found, weights), "{found:?}");
    }

    #[test]
    fn zipfian_numbers_fall_with_the_power_of_the_rank() {
        for parameter in [1.05, 1.5, 3.0] {
            let found = counts(|random| random.zipfian_between(-3, 6, parameter));
            let expected = ranks(|rank| (rank + 1.0).powf(-parameter));
            assert!(is_like(&found, expected), "{parameter}: {found:?}");
        }
    }

    #[test]
    fn harmonic_numbers_fall_with_every_power_of_the_rank() {
        for parameter in [0.2, 0.99, 1.0, 1.5] {
            let found = counts(|random| random.harmonic_between(-3, 6, parameter));
            let expected = ranks(|rank| (rank + 1.0).powf(-parameter));
            assert!(is_like(&found, expected), "{parameter}: {found:?}");
        }
    }

    #[test]
    fn the_smallest_and_the_largest_range_are_accepted() {
        let mut random = Random::stream(1, 1);
        for (lowest, highest) in [(5, 5), (i64::MIN, i64::MAX), (i64::MAX - 1, i64::MAX)] {
            for _ in 0..1000 {
                let range = lowest..=highest;
                assert!(range.contains(&random.exponential_between(lowest, highest, 1.0)));
                assert!(range.contains(&random.gaussian_between(lowest, highest, 3.0)));
                assert!(range.contains(&random.zipfian_between(lowest, highest, 1.1)));
                assert!(range.contains(&random.harmonic_between(lowest, highest, 0.99)));
            }
        }
    }
}
