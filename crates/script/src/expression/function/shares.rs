//! Takes a total and a number of parts; gives the size of each part, of lognormal sizes that add up to the
//! total exactly.
//!
//! Part `i` weighs exp(sigma × z), where z is the normal quantile of its place in a shuffle of all parts: so the
//! parts follow the distribution whatever the seed, which decides only who is large. Sizes are proportional to
//! the weights, not below `least` and not above `most`, and made whole by the method of the largest remainder
//! (Hamilton's apportionment).
//!
//! All sizes are computed together, once, and each thread keeps the tables that it used last: a row costs a
//! look into one of them.

use crate::expression::function::Arguments;
use crate::expression::function::hashes::permuted;
use crate::expression::function::quantiles::normal_quantile;
use crate::expression::number::{Fault, number};
use assay_values::{Random, Value};
use std::cell::RefCell;
use std::rc::Rc;

type Answer = Result<Value, Fault>;

/// Tables that a thread keeps.
const KEPT: usize = 8;
const MOST_PARTS: i64 = 1 << 24;
/// Whole numbers up to here are exact as doubles.
const MOST_TOTAL: i64 = 1 << 53;

/// The size of part `x[0]`.
pub(super) fn share(x: Arguments<'_>, _: &mut Random) -> Answer {
    let (sizes, part) = (Division::of(x)?.sizes()?, number(&x[0])?.int()?);
    let place = Sizes::place(part, sizes.parts())?;
    Ok(Value::Int(sizes.starts[place + 1] - sizes.starts[place]))
}

/// The sum of the sizes of the parts before part `x[0]`.
pub(super) fn before(x: Arguments<'_>, _: &mut Random) -> Answer {
    let (sizes, part) = (Division::of(x)?.sizes()?, number(&x[0])?.int()?);
    let place = Sizes::place(part, sizes.parts() + 1)?;
    Ok(Value::Int(sizes.starts[place]))
}

/// The part to which the item number `x[0]` belongs, if the parts are filled one after another.
pub(super) fn part_of(x: Arguments<'_>, _: &mut Random) -> Answer {
    let (sizes, item) = (Division::of(x)?.sizes()?, number(&x[0])?.int()?);
    let total = sizes.starts[sizes.parts()];
    if !(0..total).contains(&item) {
        return Err(Fault::of(format!("item {item} is in no part: expected 0 to {}", total - 1)));
    }
    let part = sizes.starts.partition_point(|&start| start <= item) - 1;
    Ok(Value::Int(i64::try_from(part).expect("there are few parts")))
}

/// Everything that decides the sizes.
#[derive(Clone, Copy, PartialEq)]
struct Division {
    parts: i64,
    total: i64,
    sigma: f64,
    least: i64,
    most: i64,
    seed: i64,
}

/// Where each part begins, if they follow one another; last, the total.
struct Sizes {
    starts: Vec<i64>,
}

thread_local! {
    static RECENT: RefCell<Vec<(Division, Rc<Sizes>)>> = const { RefCell::new(Vec::new()) };
}

impl Division {
    /// Of the arguments behind the first.
    fn of(x: Arguments<'_>) -> Result<Self, Fault> {
        let int = |at: usize| number(&x[at])?.int();
        Ok(Self {
            parts: int(1)?,
            total: int(2)?,
            sigma: number(&x[3])?.double(),
            least: int(4)?,
            most: int(5)?,
            seed: int(6)?,
        })
    }

    fn sizes(self) -> Result<Rc<Sizes>, Fault> {
        RECENT.with_borrow_mut(|recent| {
            if let Some(at) = recent.iter().position(|(known, _)| *known == self) {
                return Ok(recent[at].1.clone());
            }
            let made = Rc::new(self.compute()?);
            if recent.len() == KEPT {
                recent.remove(0);
            }
            recent.push((self, made.clone()));
            Ok(made)
        })
    }

    fn check(self) -> Result<(), Fault> {
        let Self { parts, total, sigma, least, most, .. } = self;
        let wrong = if !(1..=MOST_PARTS).contains(&parts) {
            format!("expected 1 to {MOST_PARTS} parts, found {parts}")
        } else if !(0..=MOST_TOTAL).contains(&total) {
            format!("expected a total of 0 to {MOST_TOTAL}, found {total}")
        } else if !(0.0..=10.0).contains(&sigma) {
            format!("expected a sigma of 0 to 10, found {sigma:?}")
        } else if least < 0 || i128::from(least) * i128::from(parts) > i128::from(total) {
            format!("a total of {total} has no {parts} parts of at least {least}")
        } else if most < least || i128::from(most) * i128::from(parts) < i128::from(total) {
            format!("{parts} parts of {least} to {most} have no total of {total}")
        } else {
            return Ok(());
        };
        Err(Fault::of(wrong))
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "all numbers are checked to be exact as doubles"
    )]
    fn compute(self) -> Result<Sizes, Fault> {
        self.check()?;
        let parts = self.parts.cast_unsigned();
        let weight = |part: u64| {
            let place = permuted(part, parts, self.seed.cast_unsigned());
            (self.sigma * normal_quantile((place as f64 + 0.5) / parts as f64)).exp()
        };
        let weights: Vec<f64> = (0..parts).map(weight).collect();
        let (least, most) = (self.least as f64, self.most.min(self.total) as f64);
        let factor = factor(&weights, self.total as f64, least, most);
        let exact = |weight: &f64| (factor * weight).clamp(least, most);
        let mut sizes: Vec<i64> = weights.iter().map(|one| exact(one) as i64).collect();
        let mut by_remainder: Vec<usize> = (0..sizes.len()).collect();
        let remainders: Vec<f64> = weights.iter().map(|one| exact(one).fract()).collect();
        by_remainder.sort_by(|&one, &other| {
            let order = remainders[other].total_cmp(&remainders[one]);
            order.then(one.cmp(&other))
        });
        let mut missing = self.total - sizes.iter().sum::<i64>();
        while missing != 0 {
            // Rounding may have given some too many: those of the smallest remainders give them back.
            let step = missing.signum();
            for place in 0..sizes.len() {
                let from_end = sizes.len() - 1 - place;
                let part = by_remainder[if step > 0 { place } else { from_end }];
                let size = sizes[part] + step;
                if missing != 0 && (self.least..=self.most).contains(&size) {
                    sizes[part] = size;
                    missing -= step;
                }
            }
        }
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        let mut start = 0;
        starts.push(start);
        starts.extend(sizes.into_iter().map(|size| {
            start += size;
            start
        }));
        Ok(Sizes { starts })
    }
}

impl Sizes {
    fn parts(&self) -> usize {
        self.starts.len() - 1
    }

    /// `part` as an index below `end`.
    fn place(part: i64, end: usize) -> Result<usize, Fault> {
        let place = usize::try_from(part).ok().filter(|&place| place < end);
        place
            .ok_or_else(|| Fault::of(format!("there is no part {part}: expected 0 to {}", end - 1)))
    }
}

/// By what the weights must be multiplied so that they, kept within the bounds, add up to `total`.
fn factor(weights: &[f64], total: f64, least: f64, most: f64) -> f64 {
    let sum = |factor: f64| -> f64 {
        let sizes = weights.iter().map(|weight| (factor * weight).clamp(least, most));
        sizes.sum()
    };
    let (mut low, mut high) = (0.0, total / weights.iter().sum::<f64>() + f64::MIN_POSITIVE);
    while sum(high) < total && high < f64::MAX / 4.0 {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if sum(middle) < total {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::Division;

    fn sizes(parts: i64, total: i64, sigma: f64, least: i64, most: i64) -> Vec<i64> {
        let division = Division { parts, total, sigma, least, most, seed: 7 };
        let starts = &division.sizes().expect("possible").starts;
        starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn parts_add_up_and_stay_within_their_bounds() {
        for (parts, total, sigma, least, most) in [
            (1, 0, 1.0, 0, 5),
            (1, 5, 9.0, 0, 5),
            (7, 7, 3.0, 1, 100),
            (7, 700, 3.0, 1, 100),
            (251, 5_000, 2.0, 1, 5_000),
            (5_000, 2_200_000, 1.5, 1, 10_000),
            (13, 1_930_000, 0.08, 0, 1_930_000),
            (3, 10, 0.0, 0, 10),
            (4_545, 4_545, 1.5, 1, 10_000),
        ] {
            let found = sizes(parts, total, sigma, least, most);
            assert_eq!(found.iter().sum::<i64>(), total, "{parts} of {total}");
            assert!(found.iter().all(|size| (least..=most).contains(size)));
        }
        assert_eq!(sizes(3, 9, 0.0, 0, 9), [3, 3, 3]);
    }

    /// Of a lognormal distribution with sigma 2: the mean is e^2 times the median, and 95 % are below e^(2 × 1.645)
    /// times it.
    #[test]
    fn parts_are_spread_as_the_distribution_says() {
        let mut found = sizes(10_001, 1_000_000_000, 2.0, 0, 1_000_000_000);
        found.sort_unstable();
        let at = |place: usize| f64::from(u32::try_from(found[place]).expect("small"));
        let (median, mean) = (at(5_000), 1e9 / 10_001.0);
        assert!((mean / median - 2.0_f64.exp()).abs() < 0.2, "{mean} {median}");
        let spread = at(9_500) / median;
        assert!((spread - (2.0 * 1.645_f64).exp()).abs() < 0.3, "{spread}");
    }
}
