//! Which of several endpoints clients use, for each of their scripts.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Where statements are sent, by what an endpoint is among others.
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
    /// Whether these statements use an endpoint.
    #[must_use]
    pub fn uses(self, is_replica: bool) -> bool {
        match self {
            Self::Primary => !is_replica,
            Self::Replica => is_replica,
            Self::Any => true,
        }
    }
}

/// Where the clients of a group send their scripts: `"replica"`, or `{"look": "replica"}`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum ReadDocument {
    /// All of them.
    Same(Read),
    /// By the name of the script; those without one go to the primary.
    ByScript(BTreeMap<String, Read>),
}

impl Default for ReadDocument {
    fn default() -> Self {
        Self::Same(Read::default())
    }
}

impl ReadDocument {
    /// The scripts that it names.
    pub fn scripts(&self) -> impl Iterator<Item = &String> {
        let by_script = match self {
            Self::Same(_) => None,
            Self::ByScript(reads) => Some(reads),
        };
        by_script.into_iter().flat_map(BTreeMap::keys)
    }

    /// Where the script with this name is sent.
    #[must_use]
    pub fn of(&self, script: &str) -> Read {
        match self {
            Self::Same(read) => *read,
            Self::ByScript(reads) => reads.get(script).copied().unwrap_or_default(),
        }
    }
}
