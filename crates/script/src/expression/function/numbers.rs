//! Takes numbers; returns numbers: the arithmetic functions.

use crate::expression::function::Arguments;
use crate::expression::number::{Fault, Number, number};
use crate::expression::operator::Operator;
use assay_values::{Random, Value};
use std::cmp::Ordering;

type Answer = Result<Value, Fault>;

fn of_double(argument: &Value, body: fn(f64) -> f64) -> Answer {
    Ok(Value::Double(body(number(argument)?.double())))
}

pub(super) fn double(x: Arguments<'_>, _: &mut Random) -> Answer {
    of_double(&x[0], |x| x)
}

pub(super) fn exp(x: Arguments<'_>, _: &mut Random) -> Answer {
    of_double(&x[0], f64::exp)
}

pub(super) fn ln(x: Arguments<'_>, _: &mut Random) -> Answer {
    of_double(&x[0], f64::ln)
}

pub(super) fn sqrt(x: Arguments<'_>, _: &mut Random) -> Answer {
    of_double(&x[0], f64::sqrt)
}

pub(super) fn int(x: Arguments<'_>, _: &mut Random) -> Answer {
    number(&x[0])?.int().map(Value::Int)
}

pub(super) fn remainder(x: Arguments<'_>, _: &mut Random) -> Answer {
    Operator::Remainder.apply(&x[0], &x[1])
}

pub(super) fn abs(x: Arguments<'_>, _: &mut Random) -> Answer {
    match number(&x[0])? {
        Number::Double(number) => Ok(Value::Double(number.abs())),
        Number::Int(number) => number.checked_abs().map(Value::Int).ok_or_else(|| {
            Fault::of(format!(
                "integer overflow: abs({number}) does not fit into 64 bits"
            ))
        }),
        Number::Decimal(decimal) => Ok(match decimal.checked_abs() {
            Some(found) => Value::Decimal(found),
            None => Value::Double(decimal.double().abs()),
        }),
    }
}

pub(super) fn power(x: Arguments<'_>, _: &mut Random) -> Answer {
    let (base, exponent) = (number(&x[0])?.double(), number(&x[1])?.double());
    Ok(Value::Double(base.powf(exponent)))
}

pub(super) fn greatest(x: Arguments<'_>, _: &mut Random) -> Answer {
    extreme(x, Ordering::Greater)
}

pub(super) fn least(x: Arguments<'_>, _: &mut Random) -> Answer {
    extreme(x, Ordering::Less)
}

fn extreme(all: Arguments<'_>, order: Ordering) -> Answer {
    let mut best = number(&all[0])?;
    let mut any_double = matches!(best, Number::Double(_));
    for argument in all.iter().skip(1) {
        let candidate = number(argument)?;
        any_double |= matches!(candidate, Number::Double(_));
        if candidate.order(best) == Some(order) {
            best = candidate;
        }
    }
    Ok(if any_double {
        Value::Double(best.double())
    } else {
        best.value()
    })
}
