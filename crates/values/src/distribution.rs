//! Takes a distribution of durations as documents and scripts spell it; returns random durations.
//!
//! | form | what is drawn |
//! |---|---|
//! | `constant:1ms` | always the same |
//! | `uniform:1ms..3ms` | all between the two equally likely |
//! | `exponential:1ms` | exponential with this mean |
//! | `exponential:12s,120s` | exponential with this mean and maximum; longer durations are cut to the maximum
//! |
//! | `lognormal:1ms,0.5` | lognormal with this median and standard deviation of the logarithm |

use crate::Random;
use std::time::Duration;

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
    #[must_use]
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

/// Parses a duration: a number with `s`, `ms`, `us` or `ns`, a year at most.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit_at = text.find(|character: char| character.is_ascii_alphabetic())?;
    let number: f64 = text[..unit_at].trim_end().parse().ok()?;
    let unit_s = match &text[unit_at..] {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    };
    let seconds = number * unit_s;
    let is_possible = (0.0..=LONGEST_SPELLED_S).contains(&seconds);
    is_possible.then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The minimum, mean, median and maximum of 20,000 draws, in microseconds.
    fn shape(text: &str) -> [f64; 4] {
        let distribution = Distribution::parse(text).expect(text);
        let mut random = Random::stream(1, 1);
        let mut draws: Vec<f64> = (0..20_000)
            .map(|_| distribution.draw(&mut random).as_secs_f64() * 1e6)
            .collect();
        draws.sort_by(f64::total_cmp);
        [
            draws[0],
            draws.iter().sum::<f64>() / 20_000.0,
            draws[10_000],
            draws[19_999],
        ]
    }

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.03
    }

    #[test]
    fn draws_have_the_given_distribution() {
        assert_eq!(shape("constant:250us"), [250.0; 4]);
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
        for text in [
            "constant:31536001s",
            "constant:1000000000000000000s",
            "",
            "1ms",
            "constant:1",
            "constant:-1ms",
            "constant:1 min",
            "uniform:3ms..1ms",
            "uniform:1ms",
            "exponential:",
            "exponential:1s,2",
            "lognormal:1ms",
            "lognormal:1ms,-1",
            "normal:1ms",
        ] {
            assert_eq!(Distribution::parse(text), None, "{text}");
        }
    }
}
