//! One value as scripts compute it, drivers send it and answers return it.

/// A script variable, a bound parameter, or one cell of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Box<str>),
}
