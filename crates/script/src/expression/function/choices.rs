//! Takes bounds and a random stream; returns a random number between the bounds, by several distributions.

use crate::expression::function::Arguments;
use crate::expression::number::{Fault, number, shown};
use assay_values::{Random, Value};

type Answer = Result<Value, Fault>;

fn int(value: &Value) -> Result<i64, Fault> {
    number(value)?.int()
}

/// The bounds passed to the function `name`, checked to be in order.
fn bounds(name: &str, x: Arguments<'_>) -> Result<(i64, i64), Fault> {
    let (lowest, highest) = (int(&x[0])?, int(&x[1])?);
    if lowest > highest {
        return Err(Fault::of(format!("{name}({lowest}, {highest}) has an empty range")));
    }
    Ok((lowest, highest))
}

pub(super) fn uniform(x: Arguments<'_>, random: &mut Random) -> Answer {
    let (lowest, highest) = bounds("random", x)?;
    Ok(Value::Int(random.between(lowest, highest)))
}

/// A distribution of integers with a parameter.
pub(super) struct Shape {
    name: &'static str,
    /// The allowed range of the parameter, as text and as a test.
    expected: &'static str,
    takes: fn(f64) -> bool,
    draw: fn(&mut Random, i64, i64, f64) -> i64,
}

/// The limits of the parameters are those of pgbench's manual; a Zipf distribution may fall less than there.
pub(super) const EXPONENTIAL: Shape = Shape {
    name: "random_exponential",
    expected: "above 0",
    takes: |parameter| parameter > 0.0,
    draw: Random::exponential_between,
};

pub(super) const GAUSSIAN: Shape = Shape {
    name: "random_gaussian",
    expected: "at least 2.0",
    takes: |parameter| parameter >= 2.0,
    draw: Random::gaussian_between,
};

pub(super) const ZIPFIAN: Shape = Shape {
    name: "random_zipfian",
    expected: "above 0, at most 1000.0",
    takes: |parameter| parameter > 0.0 && parameter <= 1000.0,
    draw: |random, lowest, highest, parameter| match parameter < 1.001 {
        true => random.harmonic_between(lowest, highest, parameter),
        false => random.zipfian_between(lowest, highest, parameter),
    },
};

impl Shape {
    fn parameter(&self, value: &Value) -> Result<f64, Fault> {
        let parameter = number(value)?.double();
        if (self.takes)(parameter) {
            return Ok(parameter);
        }
        Err(Fault::of(format!(
            "{} expects a parameter {}, found {}",
            self.name,
            self.expected,
            shown(value)
        )))
    }

    pub fn check(&self, known: &[Option<&Value>]) -> Result<(), Fault> {
        match known.get(2) {
            Some(Some(value)) if **value != Value::Null => self.parameter(value).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn choose(&self, x: Arguments<'_>, random: &mut Random) -> Answer {
        let (lowest, highest) = bounds(self.name, x)?;
        let parameter = self.parameter(&x[2])?;
        Ok(Value::Int((self.draw)(random, lowest, highest, parameter)))
    }
}

pub(super) fn exponential(x: Arguments<'_>, random: &mut Random) -> Answer {
    EXPONENTIAL.choose(x, random)
}

pub(super) fn gaussian(x: Arguments<'_>, random: &mut Random) -> Answer {
    GAUSSIAN.choose(x, random)
}

pub(super) fn zipfian(x: Arguments<'_>, random: &mut Random) -> Answer {
    ZIPFIAN.choose(x, random)
}

/// TPC-C, clause 2.1.6.
pub(super) fn nurand(x: Arguments<'_>, random: &mut Random) -> Answer {
    let (a, lowest, highest) = (int(&x[0])?, int(&x[1])?, int(&x[2])?);
    let c = if x.len() > 3 { int(&x[3])? } else { 0 };
    if !(0 <= lowest && lowest <= highest && 0 <= a && 0 <= c) {
        return Err(Fault::of(format!(
            "expected 0 <= x <= y, 0 <= a and 0 <= c, found nurand({a}, {lowest}, {highest}, {c})"
        )));
    }
    let drawn = random.between(0, a) | random.between(lowest, highest);
    let shifted = i128::from(drawn) + i128::from(c);
    let offset = shifted % (i128::from(highest) - i128::from(lowest) + 1);
    let offset = i64::try_from(offset).expect("the range has 63 bits, as its bounds do");
    Ok(Value::Int(lowest + offset))
}

pub(super) fn pick(x: Arguments<'_>, random: &mut Random) -> Answer {
    let last = i64::try_from(x.len()).expect("the number of arguments is bounded") - 1;
    let chosen = usize::try_from(random.between(0, last)).expect("not negative");
    Ok(x[chosen].clone())
}

pub(super) fn exponential_duration(x: Arguments<'_>, random: &mut Random) -> Answer {
    let mean = number(&x[0])?.double();
    let max = match x.len() {
        1 => f64::INFINITY,
        _ => number(&x[1])?.double(),
    };
    if !(mean >= 0.0 && max >= 0.0) {
        return Err(Fault::of(format!(
            "expected a mean and a maximum of 0 or more, found {mean} and {max}"
        )));
    }
    Ok(Value::Double((mean * random.exponential()).min(max)))
}

pub(super) fn uniform_duration(x: Arguments<'_>, random: &mut Random) -> Answer {
    let (min, max) = (number(&x[0])?.double(), number(&x[1])?.double());
    if min > max || min.is_nan() || max.is_nan() {
        return Err(Fault::of(format!("uniform({min}, {max}) has an empty range")));
    }
    Ok(Value::Double(min + (max - min) * random.unit()))
}
