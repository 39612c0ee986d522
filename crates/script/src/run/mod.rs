//! Steps through a program: the machine of one client, its registers, what it examines of an answer.

pub(crate) mod execute;
pub(crate) mod expectation;
pub(crate) mod machine;
pub(crate) mod registers;
