//! The groups of a drive document: what their clients do, how fast, and when they stop.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_values::Distribution;
use serde::Deserialize;

use super::drive::{DriveDocument, Order, StopDocument, optional_seconds};
use super::null_is_default;
use super::pace::{ArrivalDocument, RetriesDocument, distribution};
use crate::EngineError;

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
    #[serde(default, deserialize_with = "null_is_default")]
    pub retries: RetriesDocument,
    /// Without `duration_s`, which applies to all groups.
    #[serde(default, deserialize_with = "null_is_default")]
    pub stop: StopDocument,
}

impl GroupDocument {
    /// The group of a document without `groups`.
    pub(super) fn only(document: &DriveDocument) -> Self {
        Self {
            name: String::new(),
            scripts: (document.scripts.iter())
                .map(|script| script.name.clone())
                .collect(),
            weights: BTreeMap::new(),
            order: document.order.unwrap_or_default(),
            clients: document.clients.unwrap_or_default(),
            first_client: document.first_client,
            of_clients: document.of_clients,
            arrival: document.arrival,
            think_time: document.think_time,
            keying_time: document.keying_time,
            latency_limit_s: document.latency_limit_s,
            retries: document.retries.clone(),
            stop: StopDocument {
                duration_s: None,
                ..document.stop
            },
        }
    }

    /// The group's clients in all processes together.
    #[must_use]
    pub fn of_clients(&self) -> u32 {
        let least = self.first_client.saturating_add(self.clients);
        self.of_clients.unwrap_or(least)
    }

    /// The weight of a script in a mix.
    #[must_use]
    pub fn weight(&self, name: &str, own: u32) -> u32 {
        self.weights.get(name).copied().unwrap_or(own)
    }

    /// Checks keys against each other; `at` is the path of the group's keys.
    pub(super) fn check(&self, document: &DriveDocument, at: &str) -> Result<(), EngineError> {
        let wrong = |key: &str, expected: &str| {
            Err(EngineError::Document(format!(
                "the drive document, key `{at}{key}`: {expected}"
            )))
        };
        let stop = &self.stop;
        if self.scripts.is_empty() {
            return wrong("scripts", "expected at least one script");
        }
        if self.clients == 0 {
            return wrong("clients", "expected at least 1, found 0");
        }
        if u64::from(self.of_clients()) < u64::from(self.first_client) + u64::from(self.clients) {
            return wrong(
                "of_clients",
                "expected at least `first_client` + `clients`: these clients are a part of them",
            );
        }
        if stop.duration_s.is_some() {
            return wrong(
                "stop.duration_s",
                "expected next to `groups`: all groups are measured at the same time",
            );
        }
        let has_limit =
            stop.passes.is_some() || stop.transactions.is_some() || stop.queue.is_some();
        if !has_limit && document.stop.duration_s.is_none() {
            return wrong(
                "stop",
                "expected one of `passes`, `transactions`, `queue`, `duration_s`",
            );
        }
        if [stop.passes, stop.transactions, stop.queue].contains(&Some(0)) {
            return wrong("stop", "expected at least 1, found 0");
        }
        if stop.queue.is_some() && (stop.passes.is_some() || stop.transactions.is_some()) {
            return wrong(
                "stop.queue",
                "the clients share one list of transactions; expected no `passes` and no `transactions`",
            );
        }
        if self.order == Order::Mix {
            if stop.passes.is_some() {
                return wrong(
                    "stop.passes",
                    "a mix has no passes; expected `order` to be `sequence`",
                );
            }
            let own = |name: &String| document.script(name).map_or(0, |script| script.weight);
            if (self.scripts.iter()).all(|name| self.weight(name, own(name)) == 0) {
                return wrong("scripts", "expected one weight above 0 for a mix");
            }
        }
        if self.arrival != ArrivalDocument::Closed {
            if stop.passes.is_some() {
                return wrong(
                    "stop.passes",
                    "an open loop has no passes; expected `transactions` or `duration_s`",
                );
            }
            if self.think_time.is_some() || self.keying_time.is_some() {
                return wrong(
                    if self.think_time.is_some() {
                        "think_time"
                    } else {
                        "keying_time"
                    },
                    "an open loop has no pauses; expected none",
                );
            }
        }
        self.check_names(document, at)
    }

    /// Checks that the document has the scripts of this group and that weights name only those.
    fn check_names(&self, document: &DriveDocument, at: &str) -> Result<(), EngineError> {
        let unknown = |key: &str, name: &str| {
            let known: Vec<_> = (document.scripts.iter())
                .map(|script| script.name.as_str())
                .collect();
            Err(EngineError::Document(format!(
                "the drive document, key `{at}{key}`: expected names of its scripts ({}), found `{name}`",
                known.join(", ")
            )))
        };
        if let Some(name) = (self.scripts.iter()).find(|name| document.script(name).is_none()) {
            return unknown("scripts", name);
        }
        if let Some(name) = (self.weights.keys()).find(|name| !self.scripts.contains(name)) {
            return unknown("weights", name);
        }
        Ok(())
    }
}
