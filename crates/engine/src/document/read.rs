//! Which of several endpoints clients use.

use serde::Deserialize;

/// Where the clients of a group send their statements, by what an endpoint is among others.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Read {
    /// To those that are no replicas.
    #[default]
    Primary,
    /// To replicas only.
    Replica,
    /// To all.
    Any,
}

impl Read {
    /// Whether these clients use an endpoint.
    #[must_use]
    pub fn uses(self, is_replica: bool) -> bool {
        match self {
            Self::Primary => !is_replica,
            Self::Replica => is_replica,
            Self::Any => true,
        }
    }
}
