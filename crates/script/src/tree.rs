//! Takes nothing; holds the tree of an expression between the parser, the folding and the compiler.

use crate::operator::{Connective, Operator, Test};
use assay_values::Value;

/// An expression, and where it begins (an operation: where its operator stands).
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
    /// AND and OR, whose right side may never be looked at.
    Connected(Connective, Box<[Expression<'a>; 2]>),
    /// What prints its operand on the way.
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

    /// The value, where it is known before anything runs.
    pub fn known(&self) -> Option<&Value> {
        match &self.node {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }
}
