//! Takes arguments; returns the value of a function of the expression language. One table lists
//! the functions for the parser, the machine and the reference.

pub(crate) mod arguments;
mod choices;
mod format;
mod hashes;
mod quantiles;
mod shares;
mod texts;
mod typed;

use crate::expression::number::{Fault, Number, number};
use crate::expression::operator::Operator;
use assay_values::{Random, Value};
use std::cmp::Ordering;

pub(crate) use arguments::Arguments;

/// A function of the expression language.
pub(crate) struct Function {
    pub name: &'static str,
    /// Its parameters, as the reference shows them.
    pub parameters: &'static str,
    pub synopsis: &'static str,
    pub fewest: usize,
    pub most: usize,
    pub nature: Nature,
    /// Whether pgbench has this function.
    pub is_of_pgbench: bool,
    /// With this many arguments, `:default_seed` is added as the last one; 0: never.
    pub seed_after: usize,
    /// Whether it accepts NULL; otherwise a NULL argument makes the result NULL.
    pub takes_null: bool,
    /// Checks the constant arguments at compile time; the others are `None`.
    pub check: fn(&[Option<&Value>]) -> Result<(), Fault>,
    /// Whether its result has the texts of all arguments, so that it can be as large as all of them together.
    pub joins: bool,
    pub body: Body,
    /// For a function whose body writes the text of another type: the function that returns the typed value.
    pub typed: Option<Typed>,
    /// The fast path for integer arguments; `None` if there is no value, and [`Function::body`] returns the error.
    pub whole: Option<Whole>,
}

/// What the value of a function depends on besides its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Nothing: it can be computed at compile time.
    Pure,
    /// The random stream.
    Random,
    /// The environment, such as the clock.
    Outside,
}

type Typed = fn(Arguments<'_>, &mut Random) -> Result<Value, Fault>;

type Whole = fn(&[i64], &mut Random) -> Option<i64>;

pub(crate) enum Body {
    Value(fn(Arguments<'_>, &mut Random) -> Result<Value, Fault>),
    /// Appends its text, or nothing if it has no value.
    Text(fn(Arguments<'_>, &mut Random, &mut Vec<u8>) -> Result<(), Fault>),
}

impl Function {
    pub fn apply(&self, arguments: Arguments<'_>, random: &mut Random) -> Result<Value, Fault> {
        if self.is_null_for(arguments) {
            return Ok(Value::Null);
        }
        if let Some(typed) = self.typed {
            return typed(arguments, random);
        }
        match self.body {
            Body::Value(body) => body(arguments, random),
            Body::Text(body) => {
                let mut text = Vec::new();
                body(arguments, random, &mut text)?;
                let text = String::from_utf8(text).expect("functions write whole characters");
                Ok(Value::Text(text.into()))
            }
        }
    }

    /// The fast path if all arguments are integers, as they mostly are in the hot path.
    #[inline]
    pub fn apply_whole(&self, arguments: &[Value], random: &mut Random) -> Option<i64> {
        const FEW: usize = 3;
        let whole = self.whole.filter(|_| arguments.len() <= FEW)?;
        let mut taken = [0; FEW];
        for (place, argument) in taken.iter_mut().zip(arguments) {
            let Value::Int(number) = argument else {
                return None;
            };
            *place = *number;
        }
        whole(&taken[..arguments.len()], random)
    }

    pub fn is_null_for(&self, arguments: Arguments<'_>) -> bool {
        !self.takes_null && arguments.iter().any(|argument| *argument == Value::Null)
    }

    pub fn takes(&self, count: usize) -> bool {
        (self.fewest..=self.most).contains(&count)
    }

    pub fn is_constant(&self) -> bool {
        self.nature == Nature::Pure
    }
}

const ANY: usize = usize::MAX;

/// In the order of the reference. pgbench's functions are defined in its manual, "Built-In Functions".
#[rustfmt::skip]
pub(crate) static FUNCTIONS: &[Function] = &[
    Function { whole: Some(|x, _| x[0].checked_abs()),
        ..pure("abs", "number", "the absolute value", 1, 1, abs) },
    Function { takes_null: true,
        ..pure("debug", "x", "`x`, printed to standard error with its type and the place of the call", 1, 1,
            |x, _| Ok(x[0].clone())) },
    pure("double", "x", "`x` as a double", 1, 1, double),
    pure("exp", "x", "e to the power `x`", 1, 1, exp),
    pure("greatest", "x [, ...]", "the largest; a double if any is one", 1, ANY, greatest),
    Function { whole: Some(|x, _| Some(hashes::murmur2_whole(x[0], x[1]))),
        ..seeded("hash", "x [, seed]", "the same as `hash_murmur2`", 1, hashes::murmur2) },
    Function { whole: Some(|x, _| Some(hashes::fnv1a_whole(x[0], x[1]))),
        ..seeded("hash_fnv1a", "x [, seed]", "the FNV-1a hash of an integer", 1, hashes::fnv1a) },
    Function { whole: Some(|x, _| Some(hashes::murmur2_whole(x[0], x[1]))),
        ..seeded("hash_murmur2", "x [, seed]", "the MurmurHash64A of an integer", 1, hashes::murmur2) },
    pure("int", "x", "`x` rounded to an integer, halves to even", 1, 1, int),
    pure("least", "x [, ...]", "the smallest; a double if any is one", 1, ANY, least),
    pure("ln", "x", "the natural logarithm", 1, 1, ln),
    pure("mod", "a, b", "the remainder of `a / b`, with the sign of `a`; the same as `a % b`", 2, 2, remainder),
    Function { whole: Some(|x, _| hashes::permute_whole(x[0], x[1], x[2])),
        ..seeded("permute", "i, size [, seed]", "the position of `i` (modulo `size`) in a pseudorandom permutation of 0 to `size` - 1",
            2, hashes::permute) },
    pure("pi", "", "3.14159265358979", 0, 0, |_, _| Ok(Value::Double(std::f64::consts::PI))),
    pure("pow", "x, y", "`x` to the power `y`, a double", 2, 2, power),
    pure("power", "x, y", "the same as `pow`", 2, 2, power),
    Function { whole: Some(|x, random| (x[0] <= x[1]).then(|| random.between(x[0], x[1]))),
        ..random("random", "lb, ub", "a uniformly distributed integer from `lb` to `ub`, both included", 2, 2, choices::uniform) },
    Function { check: |x| choices::EXPONENTIAL.check(x),
        ..random("random_exponential", "lb, ub, parameter", "an integer, lower ones more likely: the density \
            falls by e to the power `parameter` (above 0) over the range", 3, 3, choices::exponential) },
    Function { check: |x| choices::GAUSSIAN.check(x),
        ..random("random_gaussian", "lb, ub, parameter", "an integer, middle ones more likely: the range covers \
            `parameter` (2.0 or more) standard deviations either way", 3, 3, choices::gaussian) },
    Function { check: |x| choices::ZIPFIAN.check(x),
        ..random("random_zipfian", "lb, ub, parameter", "an integer, lower ones more likely: the probability of the k-th is \
            proportional to 1 / k to the power `parameter` (above 0, at most 1000; pgbench's begins at 1.001)", 3, 3, choices::zipfian) },
    pure("sqrt", "x", "the square root", 1, 1, sqrt),
    // Additions to pgbench's functions.
    Function { joins: true,
        ..text("concat", "x [, ...]", "the texts of its arguments, concatenated", 1, ANY, Nature::Pure, texts::concat) },
    addition(pure("constant", "x", "`x` as a double: for a pause of constant length", 1, 1, double)),
    Function { typed: Some(typed::date),
        ..text("date", "x", "the date `x` days after 1970-01-01, of a text such as `2011-03-04`, or of a timestamp",
            1, 1, Nature::Pure, texts::date) },
    addition(pure("bytes", "hex", "the bytes of pairs of hexadecimal digits: `bytes('00ff')`", 1, 1, typed::bytes)),
    addition(pure("decimal", "x [, scale]", "`x` as an exact decimal number, with `scale` digits after the point", 1, 2,
        typed::decimal)),
    Function { takes_null: true, joins: true,
        ..addition(pure("document", "json | key, value [, ...]", "a JSON document, from its text or from keys and values", 1, ANY,
            typed::document)) },
    Function { takes_null: true, joins: true, ..addition(pure("list", "[x, ...]", "a list of values", 0, ANY, typed::list)) },
    Function { whole: Some(|x, _| hashes::consistent_whole(x[0], x[1], x[2])),
        ..addition(seeded("hash_consistent", "x, n [, seed]", "one of the numbers from 0 to `n` - 1 for the integer `x`, all equally likely; with \
            a larger `n` it is the same or one of the new numbers (Lamping and Veach, \"A Fast, Minimal Memory, Consistent Hash Algorithm\", 2014)",
            2, hashes::consistent)) },
    text("sealed", "x, n, seed", "the first `n` - 11 characters of `x`, and 11 more that are computed from them and from `seed`: `n` in all",
        3, 3, Nature::Pure, hashes::sealed),
    addition(pure("is_sealed", "x, seed", "whether the text `x` ends with the 11 characters that `sealed` appends with this `seed`: no other text was put in \
        its place, and none of its characters is another one", 2, 2, hashes::is_sealed)),
    addition(pure("time", "x", "the time of day `x` seconds after midnight, of a text such as `17:53:38`, or of a timestamp",
        1, 1, typed::time)),
    text("digits", "n", "a text of `n` random digits", 1, 1, Nature::Random, texts::digits),
    addition(random("exponential", "mean [, max]", "an exponentially distributed double, at most \
        `max`", 1, 2, choices::exponential_duration)),
    Function { check: format::check, joins: true,
        ..text("format", "format [, x ...]", "`format` with its arguments in place of `%d` (an integer), `%f` (a number; \
            `%.2f` has two decimals), `%s` (anything) and `%x` (an integer, hexadecimal); a width pads with spaces \
            on the left, `-` before it on the right, `0` before it with zeros: `%08d`; `%%` is a `%`",
            1, ANY, Nature::Pure, format::format) },
    Function { seed_after: 3,
        ..text("hash_text", "x, n, alphabet [, seed]", "a text of `n` characters of the text `alphabet`, the same for the same integer `x`",
            3, 4, Nature::Pure, texts::hash_text) },
    text("lastname", "n", "the last name of a number from 0 to 999: three syllables, one for each digit (TPC-C 4.3.2.3)", 1, 1,
        Nature::Pure, texts::lastname),
    addition(seeded("lognormal_before", "i, parts, total, sigma, least, most [, seed]", "how many items are in the parts before \
        the part number `i`, as `lognormal_share` divides them", 6, shares::before)),
    addition(seeded("lognormal_part", "item, parts, total, sigma, least, most [, seed]", "the part in which the item number `item` \
        (from 0) is, as `lognormal_share` divides them", 6, shares::part_of)),
    addition(seeded("lognormal_share", "i, parts, total, sigma, least, most [, seed]", "the size of the part number `i` (from 0) if \
        `total` items are divided into `parts` parts of `least` to `most` items whose sizes are lognormal (`sigma`: the deviation \
        of their logarithm): the parts add up to `total` exactly", 6, shares::share)),
    text("lower", "x", "the text of `x` in lower case", 1, 1, Nature::Pure, texts::lower),
    addition(Function { nature: Nature::Outside,
        ..pure("now", "", "the seconds since 1970, an integer; not available in data generators, which depend on \
            the seed only", 0, 0, texts::now) }),
    addition(pure("normal_quantile", "p", "the value below which a standard normal variable is with the probability `p` (above 0, below 1): \
        of evenly spaced `p`, values are distributed normally", 1, 1, quantiles::normal)),
    text("numeral", "x, n, alphabet", "the integer `x` written with `n` digits, which are the characters of the text `alphabet`: \
        `numeral(5, 4, '01')` is `0101`; different for different `x`", 3, 3, Nature::Pure, texts::numeral),
    addition(random("nurand", "a, x, y [, c]", "a non-uniform random integer from `x` to `y`, `(((random(0, a) | random(x, y)) + c) % \
        (y - x + 1)) + x` (TPC-C 2.1.6); `c` is 0 if it is not given", 3, 4, choices::nurand)),
    addition(Function { takes_null: true,
        ..random("pick", "x [, ...]", "one of its arguments, all equally likely", 1, ANY, choices::pick) }),
    text("substr", "x, from [, n]", "the text of `x` from character number `from` (the first is 1), at most \
        `n` characters", 2, 3, Nature::Pure, texts::substr),
    text("text", "min, max", "a text of `min` to `max` random letters (`A` to `Z`, `a` to `z`) and digits", 2, 2,
        Nature::Random, texts::text),
    Function { typed: Some(typed::timestamp), ..text("timestamp", "seconds", "the timestamp `seconds` after the beginning of 1970, as `2011-03-04 17:53:38`", 1, 1,
        Nature::Pure, texts::timestamp) },
    addition(random("uniform", "min, max", "a uniformly distributed double between the two", 2, 2, choices::uniform_duration)),
    text("upper", "x", "the text of `x` in upper case", 1, 1, Nature::Pure, texts::upper),
    addition(pure("zipf_quantile", "p, ranks, decay", "the rank, from 1 to `ranks`, up to which the probability is `p`, where that of rank \
        *k* is proportional to 1 / *k* to the power `decay`: 1 is Zipf's law, 0 is uniform", 3, 3, quantiles::zipf)),
];

/// Names that other languages have for these functions.
pub(crate) const OTHER_NAMES: &[(&str, &str)] =
    &[("min", "least"), ("max", "greatest"), ("rand", "random"), ("round", "int")];

const fn pure(
    name: &'static str,
    parameters: &'static str,
    synopsis: &'static str,
    fewest: usize,
    most: usize,
    body: fn(Arguments<'_>, &mut Random) -> Result<Value, Fault>,
) -> Function {
    Function {
        name,
        parameters,
        synopsis,
        fewest,
        most,
        nature: Nature::Pure,
        is_of_pgbench: true,
        seed_after: 0,
        check: |_| Ok(()),
        takes_null: false,
        joins: false,
        body: Body::Value(body),
        typed: None,
        whole: None,
    }
}

const fn addition(function: Function) -> Function {
    Function {
        is_of_pgbench: false,
        ..function
    }
}

/// A function that draws from the random stream.
const fn random(
    name: &'static str,
    parameters: &'static str,
    synopsis: &'static str,
    fewest: usize,
    most: usize,
    body: fn(Arguments<'_>, &mut Random) -> Result<Value, Fault>,
) -> Function {
    Function {
        nature: Nature::Random,
        ..pure(name, parameters, synopsis, fewest, most, body)
    }
}

/// A function whose last argument is a seed; the default is `:default_seed`.
const fn seeded(
    name: &'static str,
    parameters: &'static str,
    synopsis: &'static str,
    fewest: usize,
    body: fn(Arguments<'_>, &mut Random) -> Result<Value, Fault>,
) -> Function {
    Function {
        seed_after: fewest,
        ..pure(name, parameters, synopsis, fewest, fewest + 1, body)
    }
}

/// An addition that returns a text.
const fn text(
    name: &'static str,
    parameters: &'static str,
    synopsis: &'static str,
    fewest: usize,
    most: usize,
    nature: Nature,
    body: fn(Arguments<'_>, &mut Random, &mut Vec<u8>) -> Result<(), Fault>,
) -> Function {
    Function {
        nature,
        body: Body::Text(body),
        ..addition(pure(name, parameters, synopsis, fewest, most, |_, _| {
            Ok(Value::Null)
        }))
    }
}

// Takes numbers; returns numbers: the arithmetic functions.

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
