//! Takes a term of a compiled expression and the values of its variables; returns its value, or writes it as a
//! cell of a row.

use crate::function::{Arguments, Body, Function};
use crate::number::{Fault, condition, typed};
use crate::operator::{Connective, Operator, Test};
use assay_values::{Random, Row, Value};
use std::borrow::Cow;

/// A term of a compiled expression.
pub(crate) enum Term {
    Constant(Value),
    Input(usize),
    Binary(Operator, Box<[Term; 2]>),
    Test(Test, Box<Term>),
    Connected(Connective, Box<[Term; 2]>),
    Debug(Box<Term>),
    Call(&'static Function, Box<[Term]>),
    /// A function that writes a text, with constant arguments.
    Text(&'static Function, Box<[Value]>),
    Case(Box<[[Term; 2]]>, Box<Term>),
}

impl std::fmt::Debug for Term {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(value) => write!(out, "{value:?}"),
            Self::Input(index) => write!(out, "input {index}"),
            Self::Binary(operator, sides) => write!(out, "{} {sides:?}", operator.symbol()),
            Self::Test(test, operand) => write!(out, "{} {operand:?}", test.symbol()),
            Self::Connected(connective, sides) => write!(out, "{} {sides:?}", connective.symbol()),
            Self::Debug(operand) => write!(out, "debug {operand:?}"),
            Self::Call(function, arguments) => write!(out, "{} {arguments:?}", function.name),
            Self::Text(function, values) => write!(out, "{} {values:?}", function.name),
            Self::Case(branches, otherwise) => write!(out, "CASE {branches:?} {otherwise:?}"),
        }
    }
}

/// Calls with more arguments than this allocate.
const FEW: usize = 4;

impl Term {
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Constant(value) => matches!(value, Value::Int(_)),
            Self::Input(_) => true,
            Self::Binary(operator, sides) => {
                !operator.compares() && sides.iter().all(Self::is_whole)
            }
            Self::Call(function, terms) => {
                function.whole.is_some() && terms.len() <= 3 && terms.iter().all(Self::is_whole)
            }
            _ => false,
        }
    }

    /// The value of a term for which [`Term::is_whole`] is true, computed in registers.
    pub fn whole(&self, values: &[Value], random: &mut Random) -> Option<i64> {
        match self {
            Self::Constant(Value::Int(number)) => Some(*number),
            Self::Input(index) => match values[*index] {
                Value::Int(number) => Some(number),
                _ => None,
            },
            Self::Binary(operator, sides) => {
                let left = sides[0].whole(values, random)?;
                operator.whole(left, sides[1].whole(values, random)?)
            }
            Self::Call(function, terms) => {
                let mut taken = [0; 3];
                for (place, term) in taken.iter_mut().zip(terms) {
                    *place = term.whole(values, random)?;
                }
                (function.whole?)(&taken[..terms.len()], random)
            }
            _ => None,
        }
    }

    pub fn value<'v>(
        &'v self,
        values: &'v [Value],
        random: &mut Random,
    ) -> Result<Cow<'v, Value>, Fault> {
        Ok(match self {
            Self::Constant(value) => Cow::Borrowed(value),
            Self::Input(index) => Cow::Borrowed(&values[*index]),
            Self::Binary(operator, sides) => {
                let left = sides[0].value(values, random)?;
                let right = sides[1].value(values, random)?;
                Cow::Owned(operator.apply(&left, &right)?)
            }
            Self::Test(test, operand) => Cow::Owned(test.apply(&*operand.value(values, random)?)?),
            Self::Connected(connective, sides) => {
                let left = sides[0].value(values, random)?;
                Cow::Owned(match connective.decided_by(&left)? {
                    Some(decided) => decided,
                    None => Connective::by_right(&*sides[1].value(values, random)?)?,
                })
            }
            Self::Debug(operand) => {
                let value = operand.value(values, random)?;
                eprintln!("debug: {}", typed(&value));
                value
            }
            Self::Call(function, terms) => {
                with_arguments(terms, values, random, |arguments, random| {
                    function.apply(arguments, random).map(Cow::Owned)
                })?
            }
            Self::Text(function, fixed) => {
                Cow::Owned(function.apply(Arguments::Values(fixed), random)?)
            }
            Self::Case(branches, otherwise) => {
                chosen(branches, otherwise, values, random)?.value(values, random)?
            }
        })
    }

    pub fn write(&self, values: &[Value], random: &mut Random, row: &mut Row) -> Result<(), Fault> {
        match self {
            Self::Call(function, terms) => {
                if let Body::Text(body) = function.body {
                    return with_arguments(terms, values, random, |arguments, random| {
                        if function.is_null_for(arguments) {
                            row.push_null();
                            return Ok(());
                        }
                        let mut written = Ok(());
                        row.push_with(|out| written = body(arguments, random, out));
                        written
                    });
                }
            }
            Self::Text(function, fixed) if !function.is_null_for(Arguments::Values(fixed)) => {
                if let Body::Text(body) = function.body {
                    let mut written = Ok(());
                    row.push_with(|out| written = body(Arguments::Values(fixed), random, out));
                    return written;
                }
            }
            Self::Case(branches, otherwise) => {
                return chosen(branches, otherwise, values, random)?.write(values, random, row);
            }
            _ => {}
        }
        row.push_value(&*self.value(values, random)?);
        Ok(())
    }
}

/// The first branch whose condition is true.
fn chosen<'t>(
    branches: &'t [[Term; 2]],
    otherwise: &'t Term,
    values: &[Value],
    random: &mut Random,
) -> Result<&'t Term, Fault> {
    for [when, then] in branches {
        if condition(&*when.value(values, random)?)? {
            return Ok(then);
        }
    }
    Ok(otherwise)
}

/// Evaluates the arguments in order and passes them to the function.
fn with_arguments<T>(
    terms: &[Term],
    values: &[Value],
    random: &mut Random,
    call: impl FnOnce(Arguments<'_>, &mut Random) -> Result<T, Fault>,
) -> Result<T, Fault> {
    const NULL: &Value = &Value::Null;
    if terms.len() > FEW {
        let evaluated = terms.iter().map(|term| term.value(values, random));
        let evaluated = evaluated.collect::<Result<Vec<_>, _>>()?;
        let borrowed: Vec<&Value> = evaluated.iter().map(|value| &**value).collect();
        return call(Arguments::Borrowed(&borrowed), random);
    }
    let mut evaluated = [const { Cow::Borrowed(NULL) }; FEW];
    for (place, term) in evaluated.iter_mut().zip(terms) {
        *place = term.value(values, random)?;
    }
    let borrowed = evaluated.each_ref().map(|value| &**value);
    call(Arguments::Borrowed(&borrowed[..terms.len()]), random)
}
