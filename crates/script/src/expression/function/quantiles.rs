//! Takes a probability; returns the value below which a variable of a distribution is with this probability: of evenly
//! spaced probabilities in a permutation, values follow the distribution as closely as their number allows.

use crate::expression::function::Arguments;
use crate::expression::number::{Fault, number};
use assay_values::{Random, Value};
use std::cell::RefCell;
use std::rc::Rc;

type Answer = Result<Value, Fault>;

/// Tables of Zipf distributions that a thread keeps.
const KEPT: usize = 4;
const MOST_RANKS: i64 = 1 << 20;

pub(super) fn normal(x: Arguments<'_>, _: &mut Random) -> Answer {
    let probability = number(&x[0])?.double();
    if !(probability > 0.0 && probability < 1.0) {
        return Err(Fault::of(format!(
            "normal_quantile expects a probability between 0 and 1, found {probability}"
        )));
    }
    Ok(Value::Double(normal_quantile(probability)))
}

pub(super) fn zipf(x: Arguments<'_>, _: &mut Random) -> Answer {
    let probability = number(&x[0])?.double();
    let (ranks, decay) = (number(&x[1])?.int()?, number(&x[2])?.double());
    if !(0.0..=1.0).contains(&probability)
        || !(1..=MOST_RANKS).contains(&ranks)
        || !(0.0..=1000.0).contains(&decay)
    {
        return Err(Fault::of(format!(
            "zipf_quantile expects a probability of 0 to 1, 1 to {MOST_RANKS} ranks and a decay of 0 to 1000, found \
             zipf_quantile({probability}, {ranks}, {decay})"
        )));
    }
    let cumulative = Cumulative::of(ranks, decay);
    let below = cumulative.partition_point(|&up_to| up_to <= probability);
    let rank = i64::try_from(below).expect("there are few ranks") + 1;
    Ok(Value::Int(rank.min(ranks)))
}

/// For each rank the probability of it and of all before it.
struct Cumulative {
    ranks: i64,
    decay: f64,
    up_to: Rc<[f64]>,
}

impl Cumulative {
    /// Computed once for each thread.
    fn of(ranks: i64, decay: f64) -> Rc<[f64]> {
        thread_local! {
            static TABLES: RefCell<Vec<Cumulative>> = const { RefCell::new(Vec::new()) };
        }
        TABLES.with_borrow_mut(|tables| {
            let is_it = |one: &Self| one.ranks == ranks && one.decay.to_bits() == decay.to_bits();
            if let Some(found) = tables.iter().find(|one| is_it(one)) {
                return Rc::clone(&found.up_to);
            }
            let up_to: Rc<[f64]> = cumulative(ranks, decay).into();
            if tables.len() == KEPT {
                tables.remove(0);
            }
            tables.push(Self { ranks, decay, up_to: Rc::clone(&up_to) });
            up_to
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are at most 2^20 ranks")]
fn cumulative(ranks: i64, decay: f64) -> Vec<f64> {
    let weights = (1..=ranks).map(|rank| (rank as f64).powf(-decay));
    let total: f64 = weights.clone().sum();
    let so_far = weights.scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum / total)
    });
    so_far.collect()
}

/// The value below which a standard normal variable is with this probability, with a relative error of 1.2e-9
/// (Acklam, «An algorithm for computing the inverse normal cumulative distribution function», 2003).
pub(super) fn normal_quantile(probability: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76, 220.946_098_424_520_5, -275.928_510_446_968_7, 138.357_751_867_269,
        -30.664_798_066_147_16, 2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -54.476_098_798_224_06, 161.585_836_858_040_9, -155.698_979_859_886_6,
        66.801_311_887_719_72, -13.280_681_552_885_72, 1.0,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        0.007_784_695_709_041_462,
        0.322_467_129_070_039_8,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    const TAIL: f64 = 0.02425;
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |y, c| y * x + c);
    let tail = |probability: f64| {
        let q = (-2.0 * probability.ln()).sqrt();
        polynomial(&C, q) / polynomial(&D, q)
    };
    if probability < TAIL {
        tail(probability)
    } else if probability > 1.0 - TAIL {
        -tail(1.0 - probability)
    } else {
        let q = probability - 0.5;
        let square = q * q;
        polynomial(&A, square) * q / polynomial(&B, square)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cumulative, normal_quantile};

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        for (probability, quantile) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.025, -1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813),
            (0.999, 3.090_232_306_167_813),
        ] {
            assert!((normal_quantile(probability) - quantile).abs() < 1e-8);
        }
    }

    /// Rank times frequency is constant; with a decay of 0 all ranks are equally frequent.
    #[test]
    fn ranks_have_the_shares_of_their_decay() {
        let harmonic: f64 = (1..=10).map(|rank| 1.0 / f64::from(rank)).sum();
        let found = Cumulative::of(10, 1.0);
        assert!((found[0] - 1.0 / harmonic).abs() < 1e-12);
        assert!((found[4] - found[3] - 0.2 / harmonic).abs() < 1e-12);
        assert!((Cumulative::of(4, 0.0)[2] - 0.75).abs() < 1e-12);
        assert!((Cumulative::of(10, 2.0)[0] - 0.645).abs() < 1e-3);
    }
}
