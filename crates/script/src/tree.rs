//! Holds the syntax tree of an expression, for the parser, constant folding and the compiler.

use crate::operator::{Connective, Operator, Test};
use assay_values::Value;

/// An expression, and where it begins (an operation: where its operator is).
#[derive(Clone, Debug)]
pub(crate) struct Expression<'a> {
    pub at: usize,
    pub node: Node<'a>,
}

#[derive(Clone, Debug)]
pub(crate) enum Node<'a> {
    Constant(Value),
    Variable(&'a str),
    Binary(Operator, Box<[Expression<'a>; 2]>),
    Test(Test, Box<Expression<'a>>),
    /// AND and OR, whose right operand may not be evaluated.
    Connected(Connective, Box<[Expression<'a>; 2]>),
    /// `debug(x)`, which prints its operand.
    Debug(Box<Expression<'a>>),
    /// An index into the table of functions, and the arguments.
    Call(usize, Vec<Expression<'a>>),
    /// Conditions with their values, then the value of ELSE.
    Case(Vec<[Expression<'a>; 2]>, Box<Expression<'a>>),
}

impl Expression<'_> {
    pub fn constant(at: usize, value: Value) -> Self {
        Self {
            at,
            node: Node::Constant(value),
        }
    }

    /// The value, if it is constant.
    pub fn known(&self) -> Option<&Value> {
        match &self.node {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }
}
