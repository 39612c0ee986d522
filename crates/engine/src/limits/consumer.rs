//! What needs threads and files, for messages.

use std::fmt;

/// What needs the resources, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    Clients(u64),
    LoadSessions(u64),
}

impl fmt::Display for Consumer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, what) = match self {
            Self::Clients(number) => (number, "client"),
            Self::LoadSessions(number) => (number, "load session"),
        };
        let plural = if *number == 1 { "" } else { "s" };
        write!(out, "{number} {what}{plural}")
    }
}
