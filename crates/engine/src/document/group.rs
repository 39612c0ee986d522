//! The groups of a drive document: what their clients do, how fast, and when they stop.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_values::Distribution;
use serde::Deserialize;

use crate::document::pace::{ArrivalDocument, RetriesDocument, distribution};
use crate::document::reading::{null_is_default, optional_seconds};

/// The order in which a client runs its scripts.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Every script once, in the given order (a *pass*), then again.
    #[default]
    Sequence,
    /// A weighted random choice for each transaction.
    Mix,
    /// As many cards of each script as its weight, shuffled, drawn to the last, then shuffled again.
    Deck,
}

/// Clients with the same scripts and the same pace.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupDocument {
    /// Empty if there is only one group.
    pub name: String,
    /// Names of the document's scripts, in the order in which a sequence runs them.
    pub scripts: Vec<String>,
    /// Weights of a mix by the scripts' names; a script without one uses its own `weight`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub weights: BTreeMap<String, u32>,
    /// The order in which its clients run the scripts.
    #[serde(default)]
    pub order: Order,
    /// Clients in this process.
    pub clients: u32,
    /// The number of this process's first client among `of_clients`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub first_client: u32,
    /// The group's clients in all processes together; absent: `first_client + clients`.
    #[serde(default)]
    pub of_clients: Option<u32>,
    /// Which endpoints its scripts are sent to, where there are several.
    #[serde(default, deserialize_with = "null_is_default")]
    pub read: ReadDocument,
    /// When its transactions begin.
    #[serde(default, deserialize_with = "null_is_default")]
    pub arrival: ArrivalDocument,
    /// A client's pause after each transaction, in a closed loop.
    #[serde(default, deserialize_with = "distribution")]
    pub think_time: Option<Distribution>,
    /// A client's pause before each transaction, in a closed loop.
    #[serde(default, deserialize_with = "distribution")]
    pub keying_time: Option<Distribution>,
    /// A longer latency is `late`; an arrival of an open loop that could not start within it is `skipped`.
    #[serde(default, deserialize_with = "optional_seconds")]
    pub latency_limit_s: Option<Duration>,
    /// Which of its failed transactions are retried.
    #[serde(default, deserialize_with = "null_is_default")]
    pub retries: RetriesDocument,
    /// The group with whose last client these clients end, after their transactions in flight.
    #[serde(default)]
    pub ends_with: Option<String>,
    /// Without `duration_s`, which applies to all groups.
    #[serde(default, deserialize_with = "null_is_default")]
    pub stop: StopDocument,
}

impl GroupDocument {
    /// The group's clients in all processes together.
    #[must_use]
    pub fn of_clients(&self) -> u32 {
        let least = self.first_client.saturating_add(self.clients);
        self.of_clients.unwrap_or(least)
    }

    /// Whether its clients run what scripts of other groups queue.
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        self.arrival == ArrivalDocument::Deferred
    }

    /// The weight of a script in a mix.
    #[must_use]
    pub fn weight(&self, name: &str, own: u32) -> u32 {
        self.weights.get(name).copied().unwrap_or(own)
    }
}

// The stop conditions of clients.

/// The first limit reached ends a client, or the arrivals of an open loop.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct StopDocument {
    /// For each client; passes that began after the warm-up count.
    #[serde(default)]
    pub passes: Option<u64>,
    /// For each client; transactions that began after the warm-up count. An open loop has as many arrivals as
    /// all its clients together.
    #[serde(default)]
    pub transactions: Option<u64>,
    /// How many numbered transactions, from 0, all clients of the group share: a free client takes the next
    /// number, which determines its script and random values.
    #[serde(default)]
    pub queue: Option<u64>,
    /// Since the end of the warm-up. Running transactions are finished, or abandoned after `drain_s`.
    #[serde(default, deserialize_with = "optional_seconds")]
    pub duration_s: Option<Duration>,
}

// Which of several endpoints clients use, for each of their scripts.

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
