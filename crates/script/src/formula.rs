//! Takes an expression and the values of its variables, by position; returns its value, or writes it as a
//! cell of a row. Rows are made by the million: nothing here allocates, except for texts that are operands
//! of further computation.

use crate::function::{Body, FUNCTIONS, Nature};
use crate::nearest::nearest;
use crate::number::Fault;
use crate::place::Defect;
use crate::term::Term;
use crate::tree::{Expression, Node};
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
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.is_random
    }

    /// Whether it uses the variable at this position.
    #[must_use]
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
