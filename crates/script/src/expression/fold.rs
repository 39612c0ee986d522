//! Takes an expression; returns it with all constant parts computed.
//!
//! A part that can never have a value (`1 / 0`, an empty range) is reported now, with its place, rather than
//! at run time; except where it may never be evaluated, in a branch of CASE or on the right of AND and OR.

use crate::expression::function::{Arguments, FUNCTIONS};
use crate::expression::grammar::{Expression, Node};
use crate::expression::number::{Fault, condition};
use crate::expression::operator::{Connective, Operator, Test};
use crate::place::Defect;
use assay_values::{Random, Value};

/// `constant` returns the values of variables that never change.
pub(crate) fn folded<'a>(
    expression: Expression<'a>,
    constant: &dyn Fn(&str) -> Option<Value>,
) -> Result<Expression<'a>, Defect> {
    let is_certain = true;
    Folding { is_certain, constant }.folded(expression)
}

#[derive(Clone, Copy)]
struct Folding<'c> {
    /// Whether this part is evaluated whenever the whole expression is.
    is_certain: bool,
    constant: &'c dyn Fn(&str) -> Option<Value>,
}

impl Folding<'_> {
    fn uncertain(self) -> Self {
        Self { is_certain: false, ..self }
    }

    fn folded(self, expression: Expression<'_>) -> Result<Expression<'_>, Defect> {
        let at = expression.at;
        match expression.node {
            Node::Constant(_) => Ok(expression),
            Node::Variable(name) => Ok(match (self.constant)(name) {
                Some(value) => Expression::constant(at, value),
                None => expression,
            }),
            Node::Debug(operand) => {
                Ok(Expression { at, node: Node::Debug(Box::new(self.folded(*operand)?)) })
            }
            Node::Binary(operator, sides) => {
                let [left, right] = *sides;
                self.binary(at, operator, [self.folded(left)?, self.folded(right)?])
            }
            Node::Test(test, operand) => self.test(at, test, self.folded(*operand)?),
            Node::Connected(connective, sides) => {
                let [left, right] = *sides;
                self.connected(
                    at,
                    connective,
                    [self.folded(left)?, self.uncertain().folded(right)?],
                )
            }
            Node::Call(index, arguments) => {
                let arguments = arguments.into_iter().map(|argument| self.folded(argument));
                self.call(at, index, arguments.collect::<Result<_, _>>()?)
            }
            Node::Case(branches, otherwise) => self.case(at, branches, *otherwise),
        }
    }

    /// The node unchanged, or its constant value.
    fn or_constant<'a>(
        self,
        at: usize,
        node: Node<'a>,
        result: Option<Result<Value, Fault>>,
    ) -> Result<Expression<'a>, Defect> {
        match result {
            Some(Ok(value)) => Ok(Expression::constant(at, value)),
            Some(Err(Fault(message))) if self.is_certain => Err(Defect::new(at, message)),
            _ => Ok(Expression { at, node }),
        }
    }

    fn binary<'a>(
        self,
        at: usize,
        operator: Operator,
        sides: [Expression<'a>; 2],
    ) -> Result<Expression<'a>, Defect> {
        let known = sides[0].known().zip(sides[1].known());
        let result = known.map(|(left, right)| operator.apply(left, right));
        self.or_constant(at, Node::Binary(operator, Box::new(sides)), result)
    }

    fn test<'a>(
        self,
        at: usize,
        test: Test,
        operand: Expression<'a>,
    ) -> Result<Expression<'a>, Defect> {
        let result = operand.known().map(|known| test.apply(known));
        self.or_constant(at, Node::Test(test, Box::new(operand)), result)
    }

    fn connected<'a>(
        self,
        at: usize,
        connective: Connective,
        sides: [Expression<'a>; 2],
    ) -> Result<Expression<'a>, Defect> {
        let result = match sides[0].known().map(|left| connective.decided_by(left)) {
            None => None,
            Some(Ok(Some(decided))) => Some(Ok(decided)),
            Some(Ok(None)) => sides[1].known().map(Connective::by_right),
            Some(Err(fault)) => Some(Err(fault)),
        };
        self.or_constant(at, Node::Connected(connective, Box::new(sides)), result)
    }

    fn call<'a>(
        self,
        at: usize,
        index: usize,
        arguments: Vec<Expression<'a>>,
    ) -> Result<Expression<'a>, Defect> {
        let function = &FUNCTIONS[index];
        if self.is_certain {
            let known: Vec<_> = arguments.iter().map(Expression::known).collect();
            (function.check)(&known).map_err(|Fault(message)| Defect::new(at, message))?;
        }
        let known: Option<Vec<Value>> =
            arguments.iter().map(|argument| argument.known().cloned()).collect();
        // This stream is never used for values: random functions are only checked for errors.
        let result = known
            .map(|known| function.apply(Arguments::Values(&known), &mut Random::stream(0, 0)))
            .filter(|result| result.is_err() || function.is_constant());
        self.or_constant(at, Node::Call(index, arguments), result)
    }

    /// Drops the branches that are never taken. Only the first condition is certain to be evaluated.
    fn case<'a>(
        self,
        at: usize,
        branches: Vec<[Expression<'a>; 2]>,
        otherwise: Expression<'a>,
    ) -> Result<Expression<'a>, Defect> {
        let mut otherwise = self.uncertain().folded(otherwise)?;
        let mut kept = Vec::new();
        let mut of_condition = self;
        for [when, then] in branches {
            let when = of_condition.folded(when)?;
            let then = self.uncertain().folded(then)?;
            match when.known().map(condition) {
                Some(Ok(false)) => {}
                Some(Ok(true)) => {
                    otherwise = then;
                    break;
                }
                Some(Err(Fault(message))) if of_condition.is_certain => {
                    return Err(Defect::new(when.at, message));
                }
                _ => {
                    kept.push([when, then]);
                    of_condition = self.uncertain();
                }
            }
        }
        if kept.is_empty() {
            return Ok(otherwise);
        }
        Ok(Expression { at, node: Node::Case(kept, Box::new(otherwise)) })
    }
}
