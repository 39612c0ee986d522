//! An option of a deployment document that its driver cannot take: which one, and what it can be.

/// Its parts are kept apart, because callers may know the option by another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongOption {
    /// As the driver calls it.
    pub name: String,
    /// Its value; `None` where the driver has no such option.
    pub found: Option<String>,
    /// What the value can be; of an unknown option, the names that there are.
    pub expected: String,
}

impl WrongOption {
    /// A value that the option cannot have.
    #[must_use]
    pub fn value(name: &str, found: &str, expected: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            found: Some(found.to_owned()),
            expected: expected.into(),
        }
    }

    /// An option that the driver does not have.
    #[must_use]
    pub fn unknown(name: &str, known: &str) -> Self {
        Self {
            name: name.to_owned(),
            found: None,
            expected: known.to_owned(),
        }
    }
}

impl std::fmt::Display for WrongOption {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, expected, .. } = self;
        match &self.found {
            Some(found) => write!(out, "option {name}: expected {expected}, found {found:?}"),
            None => write!(out, "unknown option {name:?}, expected one of {expected}"),
        }
    }
}

impl std::error::Error for WrongOption {}
