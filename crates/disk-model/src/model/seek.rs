//! Takes the three seek times of a data sheet; returns the seek time of any distance.
//!
//! A short seek is spent accelerating and braking, so its time grows with the square root of the distance; a
//! long one coasts at constant speed, so its time grows linearly (C. Ruemmler, J. Wilkes, "An introduction to
//! disk drive modeling", IEEE Computer 27(3), 1994). With x the distance as a fraction of the full stroke:
//!
//! ```text
//! seek(x) = minimum + b sqrt(x)       for x <= X
//!         = maximum - e (1 - x)       for x >= X
//! ```
//!
//! `b` and `e` follow from two conditions: the pieces meet at X, and the mean over all pairs of tracks (of
//! which a share of 2(1 - x) dx lies x apart) is the average of the data sheet.

use crate::error::DiskError;

/// Where the two pieces meet. The drives that Ruemmler and Wilkes give have it at 0.2 (HP 97560) and 0.42
/// (HP C2200A) of the stroke.
const MEETS: f64 = 0.3;

/// Seek times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct SeekCurve {
    minimum: f64,
    maximum: f64,
    /// `b` of the module's formula.
    root: f64,
    /// `e` of the module's formula.
    slope: f64,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a seek and numbers of tracks are far below 2^53"
)]
impl SeekCurve {
    /// Fails where no curve of this form has such an average.
    pub fn new(minimum_ns: u64, average_ns: u64, maximum_ns: u64) -> Result<Self, DiskError> {
        let (minimum, average, maximum) = (minimum_ns as f64, average_ns as f64, maximum_ns as f64);
        let curve_of = |root: f64| Self {
            minimum,
            maximum,
            root,
            slope: (maximum - minimum - root * MEETS.sqrt()) / (1.0 - MEETS),
        };
        // The mean grows linearly with b, from b = 0 (flat, then steep) to e = 0 (steep, then flat).
        let steepest = (maximum - minimum) / MEETS.sqrt();
        let (lowest, highest) = (curve_of(0.0).mean(), curve_of(steepest).mean());
        if maximum < minimum || average < lowest || average > highest {
            return Err(DiskError::argument(format!(
                "seek_average: with seek_min={}ms and seek_max={}ms expected {:.2}ms to {:.2}ms, found {}ms",
                minimum / 1e6,
                maximum / 1e6,
                lowest / 1e6,
                highest / 1e6,
                average / 1e6
            )));
        }
        let share = if highest > lowest {
            (average - lowest) / (highest - lowest)
        } else {
            0.0
        };
        Ok(curve_of(share * steepest))
    }

    /// The mean over all pairs of tracks: the integral of seek(x) 2(1 - x) dx from 0 to 1.
    fn mean(&self) -> f64 {
        let short = 2.0 * MEETS - MEETS * MEETS;
        let roots = 2.0 * (2.0 / 3.0 * MEETS.powf(1.5) - 2.0 / 5.0 * MEETS.powf(2.5));
        let ends = 2.0 / 3.0 * (1.0 - MEETS).powi(3);
        self.minimum * short + self.root * roots + self.maximum * (1.0 - short) - self.slope * ends
    }

    /// The time to move by `tracks`, where a full stroke is `full_stroke` tracks.
    pub fn time_ns(&self, tracks: u64, full_stroke: u64) -> u64 {
        if tracks == 0 {
            return 0;
        }
        let x = tracks as f64 / full_stroke.max(1) as f64;
        let time = if x <= MEETS {
            self.minimum + self.root * x.sqrt()
        } else {
            self.maximum - self.slope * (1.0 - x)
        };
        time.round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::SeekCurve;

    #[test]
    fn the_curve_keeps_the_three_times_of_the_data_sheet() {
        let curve = SeekCurve::new(800_000, 8_500_000, 18_000_000).expect("a usual disk");
        let stroke = 100_000;
        assert_eq!(curve.time_ns(0, stroke), 0);
        assert!((800_000..900_000).contains(&curve.time_ns(1, stroke)));
        assert_eq!(curve.time_ns(stroke, stroke), 18_000_000);
        let mut sum = 0_u128;
        for distance in 1..=stroke {
            sum +=
                u128::from(curve.time_ns(distance, stroke)) * u128::from(stroke + 1 - distance) * 2;
        }
        let pairs = u128::from(stroke) * u128::from(stroke + 1);
        let average = sum / pairs;
        assert!((8_490_000..8_510_000).contains(&average), "{average}");
        for distance in 1..stroke {
            assert!(curve.time_ns(distance, stroke) <= curve.time_ns(distance + 1, stroke));
        }
    }

    #[test]
    fn an_average_that_no_curve_has_is_refused_with_what_is_possible() {
        let error = SeekCurve::new(1_000_000, 9_500_000, 10_000_000).expect_err("too slow");
        assert!(error.to_string().contains("expected"), "{error}");
        assert!(SeekCurve::new(5_000_000, 4_000_000, 3_000_000).is_err());
    }
}
