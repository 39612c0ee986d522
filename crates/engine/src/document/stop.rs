//! The stop conditions of clients.

use std::time::Duration;

use serde::Deserialize;

use crate::document::seconds::optional_seconds;

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
