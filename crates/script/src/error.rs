//! Defines the error of a script: what is wrong, where, and the fix.

/// Lines and columns begin at 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {message}")]
pub struct ScriptError {
    /// The path of the file, as the caller named it.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// What was expected and what was found.
    pub message: String,
    /// The fix, if one is known.
    pub hint: Option<String>,
}
