//! Takes nothing; names the ways in which the value of a variable gets into a statement.

/// How the value of a `:name` gets into its statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// Beside the text: the driver spells a placeholder. Within quotes there is none.
    #[default]
    Bound,
    /// As text, wherever the name stands, as in pgbench's `simple`.
    Pasted,
    /// Not at all: a statement that has a value is refused.
    Refused,
}
