//! Takes an expression and the values of its variables, by position; returns its value, or writes it as a
//! cell of a row. Rows are made by the million: nothing here allocates, except for texts that are operands
//! of further computation.

use crate::expression::function::{Arguments, Body, FUNCTIONS, Function, Nature};
use crate::expression::grammar::{Expression, Node};
use crate::expression::number::{Fault, condition, typed};
use crate::expression::operator::{Connective, Operator, Test};
use crate::nearest::nearest;
use crate::place::Defect;
use assay_values::{Random, Row, Value};
use std::borrow::Cow;

/// A compiled expression, shared by all threads that evaluate it.
#[derive(Debug)]
pub struct Formula {
    root: Term,
    uses: Vec<bool>,
    is_random: bool,
    /// Whether its value is an integer whenever all its inputs are.
    is_whole: bool,
}

impl Formula {
    pub(crate) fn new<'k>(
        expression: Expression<'_>,
        names: &[&'k str],
        constants: impl Iterator<Item = &'k str>,
    ) -> Result<Self, Defect> {
        let mut formula = Self {
            root: Term::Constant(Value::Null),
            uses: vec![false; names.len()],
            is_random: false,
            is_whole: false,
        };
        // Positions without a name hold values that this expression may not use.
        let known = names.iter().copied().chain(constants);
        let known: Vec<&str> = known.filter(|name| !name.is_empty()).collect();
        formula.root = formula.term(expression, names, &known)?;
        formula.is_whole = formula.root.is_whole();
        Ok(formula)
    }

    fn term(
        &mut self,
        Expression { at, node }: Expression<'_>,
        names: &[&str],
        known: &[&str],
    ) -> Result<Term, Defect> {
        let mut pair = |[left, right]: [Expression<'_>; 2]| {
            let left = self.term(left, names, known)?;
            Ok::<_, Defect>([left, self.term(right, names, known)?])
        };
        Ok(match node {
            Node::Constant(value) => Term::Constant(value),
            Node::Binary(operator, sides) => Term::Binary(operator, Box::new(pair(*sides)?)),
            Node::Connected(connective, sides) => {
                Term::Connected(connective, Box::new(pair(*sides)?))
            }
            Node::Case(branches, otherwise) => {
                let branches = branches.into_iter().map(pair).collect::<Result<_, _>>()?;
                Term::Case(branches, Box::new(self.term(*otherwise, names, known)?))
            }
            Node::Test(test, operand) => {
                Term::Test(test, Box::new(self.term(*operand, names, known)?))
            }
            Node::Debug(operand) => Term::Debug(Box::new(self.term(*operand, names, known)?)),
            Node::Variable(name) => self.input(at, name, names, known)?,
            Node::Call(index, arguments) => {
                let function = &FUNCTIONS[index];
                match function.nature {
                    Nature::Pure => {}
                    Nature::Random => self.is_random = true,
                    Nature::Outside => {
                        let message = format!(
                            "expected an expression with the same value every time, found {}()",
                            function.name
                        );
                        return Err(Defect::new(at, message).hint(
                            "data are a function of the seed: give the time as a parameter",
                        ));
                    }
                }
                let arguments = arguments.into_iter();
                let terms = arguments.map(|argument| self.term(argument, names, known));
                let terms = terms.collect::<Result<Box<[Term]>, _>>()?;
                let known = terms.iter().map(|term| match term {
                    Term::Constant(value) => Some(value.clone()),
                    _ => None,
                });
                match (&function.body, known.collect::<Option<_>>()) {
                    (Body::Text(_), Some(values)) => Term::Text(function, values),
                    _ => Term::Call(function, terms),
                }
            }
        })
    }

    fn input(
        &mut self,
        at: usize,
        name: &str,
        names: &[&str],
        known: &[&str],
    ) -> Result<Term, Defect> {
        if let Some(index) = names.iter().position(|&known| known == name) {
            self.uses[index] = true;
            return Ok(Term::Input(index));
        }
        if name == "default_seed" {
            return Ok(Term::Constant(Value::Int(0)));
        }
        let names: Vec<String> = known.iter().map(|name| format!(":{name}")).collect();
        let hint = match names.is_empty() {
            true => "no variable is known here".to_owned(),
            false => format!("the variables known here are {}", names.join(", ")),
        };
        let meant = nearest(name, known.iter().copied());
        Err(
            Defect::new(at, format!("nothing sets the variable :{name}"))
                .hint(hint)
                .perhaps(meant.map(|meant| format!(":{meant}"))),
        )
    }

    /// Whether its value depends on the random stream.
    pub fn is_random(&self) -> bool {
        self.is_random
    }

    /// Whether it uses the variable at this position.
    pub fn uses(&self, index: usize) -> bool {
        self.uses.get(index).copied().unwrap_or(false)
    }

    /// The value for these values of its variables.
    ///
    /// # Errors
    /// If there is no value: an overflow, a division by zero, a text where a number is needed.
    pub fn evaluate(&self, values: &[Value], random: &mut Random) -> Result<Value, Fault> {
        match self.whole(values, random) {
            Some(number) => Ok(Value::Int(number)),
            None => self.root.value(values, random).map(Cow::into_owned),
        }
    }

    /// Appends the value as one cell; numbers and booleans keep their types.
    ///
    /// # Errors
    /// As [`Formula::evaluate`]; discard the row then.
    pub fn write(&self, values: &[Value], random: &mut Random, row: &mut Row) -> Result<(), Fault> {
        match self.whole(values, random) {
            Some(number) => {
                row.push_int(number);
                Ok(())
            }
            None => self.root.write(values, random, row),
        }
    }

    /// The fast path for integers; `None` if it has no value, and then no random number was drawn.
    #[inline]
    fn whole(&self, values: &[Value], random: &mut Random) -> Option<i64> {
        if !self.is_whole {
            return None;
        }
        if !self.is_random {
            return self.root.whole(values, random);
        }
        let before = random.clone();
        let found = self.root.whole(values, random);
        if found.is_none() {
            *random = before;
        }
        found
    }
}

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
