//! Takes values; gives what a function of the expression language makes of them. One table names
//! the functions for the parser, the machine and the reference.

use crate::number::{Fault, Number, number};
use assay_datagen::{Random, Value};
use std::cmp::Ordering;

type Body = fn(&[Value], &mut Random) -> Result<Value, Fault>;

/// A function of the expression language.
pub(crate) struct Function {
    pub name: &'static str,
    /// Its parameters, as the reference shows them.
    pub parameters: &'static str,
    pub synopsis: &'static str,
    pub fewest: usize,
    pub most: usize,
    /// Whether it draws from the client's random stream, so that it cannot be folded.
    pub is_random: bool,
    body: Body,
}

impl Function {
    /// NULL among the arguments makes the result NULL.
    pub fn apply(&self, arguments: &[Value], random: &mut Random) -> Result<Value, Fault> {
        if arguments
            .iter()
            .any(|argument| matches!(argument, Value::Null))
        {
            return Ok(Value::Null);
        }
        (self.body)(arguments, random)
    }

    pub fn takes(&self, count: usize) -> bool {
        (self.fewest..=self.most).contains(&count)
    }
}

const ANY: usize = usize::MAX;

/// In the order of the reference. Semantics: pgbench's manual, «Built-In Functions».
#[rustfmt::skip]
pub(crate) static FUNCTIONS: &[Function] = &[
    exact("abs", "number", "the absolute value", 1, 1, abs),
    exact("double", "x", "`x` as a double", 1, 1, |x, _| Ok(Value::Double(number(&x[0])?.double()))),
    exact("exp", "x", "e to the power `x`", 1, 1, |x, _| double(&x[0], f64::exp)),
    exact("greatest", "x [, ...]", "the largest; a double if any is one", 1, ANY,
        |all, _| extreme(all, Ordering::Greater)),
    exact("int", "x", "`x` as an integer, halves to the even one", 1, 1,
        |x, _| number(&x[0])?.int().map(Value::Int)),
    exact("least", "x [, ...]", "the smallest; a double if any is one", 1, ANY,
        |all, _| extreme(all, Ordering::Less)),
    exact("ln", "x", "the natural logarithm", 1, 1, |x, _| double(&x[0], f64::ln)),
    exact("mod", "a, b", "the remainder of `a / b`, with the sign of `a`; as `a % b`", 2, 2,
        |x, _| crate::operator::Operator::Remainder.apply(&x[0], &x[1])),
    exact("pi", "", "3.14159265358979", 0, 0, |_, _| Ok(Value::Double(std::f64::consts::PI))),
    exact("pow", "x, y", "`x` to the power `y`, a double", 2, 2, power),
    exact("power", "x, y", "the same", 2, 2, power),
    Function { is_random: true,
        ..exact("random", "lb, ub", "a uniform integer, `lb` and `ub` included", 2, 2, uniform) },
    exact("sqrt", "x", "the square root", 1, 1, |x, _| double(&x[0], f64::sqrt)),
];

/// Functions of pgbench that this version does not have yet.
pub(crate) const NOT_YET: &[&str] = &[
    "debug",
    "hash",
    "hash_fnv1a",
    "hash_murmur2",
    "permute",
    "random_exponential",
    "random_gaussian",
    "random_zipfian",
];

/// What other languages call a function that we have.
pub(crate) const OTHER_NAMES: &[(&str, &str)] = &[
    ("min", "least"),
    ("max", "greatest"),
    ("rand", "random"),
    ("round", "int"),
];

const fn exact(
    name: &'static str,
    parameters: &'static str,
    synopsis: &'static str,
    fewest: usize,
    most: usize,
    body: Body,
) -> Function {
    Function {
        name,
        parameters,
        synopsis,
        fewest,
        most,
        is_random: false,
        body,
    }
}

fn double(argument: &Value, body: fn(f64) -> f64) -> Result<Value, Fault> {
    Ok(Value::Double(body(number(argument)?.double())))
}

fn abs(arguments: &[Value], _: &mut Random) -> Result<Value, Fault> {
    match number(&arguments[0])? {
        Number::Double(number) => Ok(Value::Double(number.abs())),
        Number::Int(number) => number.checked_abs().map(Value::Int).ok_or_else(|| {
            Fault::of(format!(
                "integer overflow: abs({number}) does not fit into 64 bits"
            ))
        }),
    }
}

fn power(arguments: &[Value], _: &mut Random) -> Result<Value, Fault> {
    let (base, exponent) = (
        number(&arguments[0])?.double(),
        number(&arguments[1])?.double(),
    );
    Ok(Value::Double(base.powf(exponent)))
}

fn extreme(arguments: &[Value], wanted: Ordering) -> Result<Value, Fault> {
    let mut best = number(&arguments[0])?;
    let mut any_double = matches!(best, Number::Double(_));
    for argument in &arguments[1..] {
        let candidate = number(argument)?;
        any_double |= matches!(candidate, Number::Double(_));
        if candidate.order(best) == Some(wanted) {
            best = candidate;
        }
    }
    Ok(if any_double {
        Value::Double(best.double())
    } else {
        best.value()
    })
}

fn uniform(arguments: &[Value], random: &mut Random) -> Result<Value, Fault> {
    let (lowest, highest) = (number(&arguments[0])?.int()?, number(&arguments[1])?.int()?);
    if lowest > highest {
        return Err(Fault::of(format!(
            "random({lowest}, {highest}) has an empty range"
        )));
    }
    Ok(Value::Int(random.between(lowest, highest)))
}
