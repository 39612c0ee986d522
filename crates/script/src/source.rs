//! Holds the text of a script, its name and its path.

/// One script of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name of the transaction type.
    pub name: &'a str,
    /// The path of its file, for messages.
    pub path: &'a str,
    /// The text of the script.
    pub text: &'a str,
    /// Whether the text is one statement, sent unchanged: no meta commands, no parameters.
    pub is_plain: bool,
}
