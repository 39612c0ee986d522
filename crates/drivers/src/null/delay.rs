//! How long a statement takes, and waiting for just so long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::random::Random;
use super::trigger::duration;

/// A distribution of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Delay {
    None,
    Constant(Duration),
    Uniform(Duration, Duration),
    /// By the mean.
    Exponential(Duration),
    /// By the median and the standard deviation of the logarithm.
    Lognormal(Duration, f64),
}

impl Delay {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        match kind {
            "constant" => duration(rest).map(Self::Constant),
            "exponential" => duration(rest).map(Self::Exponential),
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

    /// One time; never above an hour, however far the tail of a distribution reaches.
    pub(super) fn draw(self, random: &mut Random) -> Duration {
        const LONGEST_S: f64 = 3600.0;
        let seconds = match self {
            Self::None => return Duration::ZERO,
            Self::Constant(time) => return time,
            Self::Uniform(least, most) => {
                least.as_secs_f64() + random.unit() * (most - least).as_secs_f64()
            }
            Self::Exponential(mean) => -mean.as_secs_f64() * (1.0 - random.unit()).ln(),
            Self::Lognormal(median, deviation) => {
                median.as_secs_f64() * (deviation * random.normal()).exp()
            }
        };
        Duration::from_secs_f64(seconds.clamp(0.0, LONGEST_S))
    }
}

/// Waits until that instant; false if it was cancelled before.
///
/// A sleeping thread is woken some 60 µs late: it sleeps until shortly before, and then asks the clock
/// again and again, letting others run in between.
pub(super) fn wait_until(instant: Instant, is_cancelled: &AtomicBool) -> bool {
    const WOKEN_LATE: Duration = Duration::from_micros(100);
    const LONGEST_SLEEP: Duration = Duration::from_millis(20);
    loop {
        let left = instant.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        if is_cancelled.load(Ordering::Relaxed) {
            return false;
        }
        match left.checked_sub(WOKEN_LATE) {
            Some(asleep) => std::thread::sleep(asleep.min(LONGEST_SLEEP)),
            None => std::thread::yield_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least, the mean, the median and the most of 20,000 draws, in microseconds.
    fn shape(text: &str) -> [f64; 4] {
        let delay = Delay::parse(text).expect(text);
        let mut random = Random::new(1, 1);
        let mut draws: Vec<f64> = (0..20_000)
            .map(|_| delay.draw(&mut random).as_secs_f64() * 1e6)
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
    fn draws_have_the_distribution_that_was_told() {
        assert_eq!(shape("constant:250us"), [250.0; 4]);
        let [least, mean, median, most] = shape("uniform:1ms..3ms");
        assert!(least >= 1000.0 && most <= 3000.0 && near(mean, 2000.0) && near(median, 2000.0));
        let [_, mean, median, most] = shape("exponential:1ms");
        assert!(near(mean, 1000.0) && near(median, 1000.0 * 2_f64.ln()) && most > 8000.0);
        let [_, mean, median, _] = shape("lognormal:1ms,0.5");
        assert!(near(median, 1000.0) && near(mean, 1000.0 * (0.5_f64.powi(2) / 2.0).exp()));
    }
}
