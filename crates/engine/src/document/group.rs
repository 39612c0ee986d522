//! The groups of a drive document: what their clients do, how fast, and when they stop.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_values::Distribution;
use serde::Deserialize;

use crate::document::pace::{ArrivalDocument, RetriesDocument, distribution};
use crate::document::reading::{flattened, null_is_default, optional_seconds};

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

/// How many clients there are, how fast they work, where they send their scripts and when they stop.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClientsDocument {
    /// The order in which they run the scripts.
    pub order: Option<Order>,
    /// Clients in this process.
    pub clients: Option<u32>,
    /// The number of this process's first client among `of_clients`.
    #[serde(deserialize_with = "null_is_default")]
    pub first_client: u32,
    /// The clients of all processes together; absent: `first_client + clients`.
    pub of_clients: Option<u32>,
    /// Which endpoints the scripts are sent to, where there are several.
    #[serde(deserialize_with = "null_is_default")]
    pub read: ReadDocument,
    /// When transactions begin.
    #[serde(deserialize_with = "null_is_default")]
    pub arrival: ArrivalDocument,
    /// A client's pause after each transaction, in a closed loop.
    #[serde(deserialize_with = "distribution")]
    pub think_time: Option<Distribution>,
    /// A client's pause before each transaction, in a closed loop.
    #[serde(deserialize_with = "distribution")]
    pub keying_time: Option<Distribution>,
    /// A longer latency is `late`; an arrival of an open loop that could not start within it is `skipped`.
    #[serde(deserialize_with = "optional_seconds")]
    pub latency_limit_s: Option<Duration>,
    /// Which failed transactions are retried.
    #[serde(deserialize_with = "null_is_default")]
    pub retries: RetriesDocument,
    /// `duration_s` is the document's: it applies to all groups.
    #[serde(deserialize_with = "null_is_default")]
    pub stop: StopDocument,
}

impl ClientsDocument {
    /// Clients in this process.
    pub fn count(&self) -> u32 {
        self.clients.unwrap_or_default()
    }

    /// The clients of all processes together.
    pub fn of_clients(&self) -> u32 {
        let least = self.first_client.saturating_add(self.count());
        self.of_clients.unwrap_or(least)
    }

    /// The order in which they run the scripts.
    pub fn order(&self) -> Order {
        self.order.unwrap_or_default()
    }

    /// A pause that they make, by its key.
    pub(super) fn pause(&self) -> Option<&'static str> {
        let pauses = [("think_time", self.think_time), ("keying_time", self.keying_time)];
        (pauses.into_iter()).find_map(|(key, pause)| pause.is_some().then_some(key))
    }

    /// A key that is present, without `stop.duration_s`.
    pub(super) fn present(&self) -> Option<&'static str> {
        let stop = &self.stop;
        let limits = [stop.passes, stop.transactions, stop.queue];
        let pause = self.pause();
        [
            (self.order.is_some(), "order"),
            (self.clients.is_some(), "clients"),
            (self.first_client > 0, "first_client"),
            (self.of_clients.is_some(), "of_clients"),
            (self.read != ReadDocument::default(), "read"),
            (self.arrival != ArrivalDocument::Closed, "arrival"),
            (pause.is_some(), pause.unwrap_or_default()),
            (self.latency_limit_s.is_some(), "latency_limit_s"),
            (self.retries != RetriesDocument::default(), "retries"),
            (limits.iter().any(Option::is_some), "stop"),
        ]
        .into_iter()
        .find_map(|(is_here, key)| is_here.then_some(key))
    }
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
    /// The group with whose last client these clients end, after their transactions in flight.
    pub ends_with: Option<String>,
    /// How its clients work.
    #[serde(flatten, deserialize_with = "flattened")]
    pub work: ClientsDocument,
}

impl GroupDocument {
    /// Whether its clients run what scripts of other groups queue.
    pub fn is_deferred(&self) -> bool {
        self.work.arrival == ArrivalDocument::Deferred
    }

    /// The weight of a script in a mix.
    pub fn weight(&self, name: &str, own: u32) -> u32 {
        self.weights.get(name).copied().unwrap_or(own)
    }
}

// The stop conditions of clients.

/// The first limit reached ends a client, or the arrivals of an open loop.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct StopDocument {
    /// For each client; passes that began after the warm-up count.
    pub passes: Option<u64>,
    /// For each client; transactions that began after the warm-up count. An open loop has as many arrivals as
    /// all its clients together.
    pub transactions: Option<u64>,
    /// How many numbered transactions, from 0, all clients of the group share: a free client takes the next
    /// number, which determines its script and random values.
    pub queue: Option<u64>,
    /// Since the end of the warm-up. Running transactions are finished, or abandoned after `drain_s`.
    #[serde(deserialize_with = "optional_seconds")]
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
    pub fn of(&self, script: &str) -> Read {
        match self {
            Self::Same(read) => *read,
            Self::ByScript(reads) => reads.get(script).copied().unwrap_or_default(),
        }
    }
}
