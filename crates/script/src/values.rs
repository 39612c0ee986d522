//! Defines how the value of a variable is sent with a statement.

/// How the value of a `:name` is sent with its statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// As a bound parameter: the driver writes a placeholder. A `:name` within quotes stays text.
    #[default]
    Bound,
    /// Substituted into the text, wherever the name occurs, as in pgbench's `simple`.
    Pasted,
    /// Not at all: a statement with a value is refused, except for one that no script changes (a parameter of the
    /// workload), which is written into the text as a literal.
    Refused,
}
