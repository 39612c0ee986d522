//! Takes nothing; holds the text of a script, and what it is called.

/// One script as the workload holds it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The transaction type.
    pub name: &'a str,
    /// Where it was read from, for messages.
    pub path: &'a str,
    /// The text of the script.
    pub text: &'a str,
    /// The text is one statement, sent as it stands: no meta commands, no parameters.
    pub is_plain: bool,
}
