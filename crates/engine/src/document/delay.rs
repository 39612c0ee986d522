//! The delay document: the server behind a delay proxy, and the round-trip time to it.

use std::time::Duration;

use serde::Deserialize;

use crate::EngineError;
use crate::document::reading::parse;
use crate::document::seconds;

/// The server is at `unix`, or at `host` and `port`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayDocument {
    /// Path of the server's Unix socket.
    #[serde(default)]
    pub unix: Option<String>,
    /// Its name or IP address.
    #[serde(default)]
    pub host: Option<String>,
    /// Its port.
    #[serde(default)]
    pub port: Option<u16>,
    /// Where the proxy listens, on 127.0.0.1; 0: a free port.
    #[serde(default)]
    pub listen_port: u16,
    /// The round-trip time to add, in seconds: half of it in each direction.
    #[serde(rename = "rtt_s", deserialize_with = "seconds::seconds")]
    pub rtt: Duration,
}

impl DelayDocument {
    /// # Errors
    /// If the text is not a valid delay document; the error names the key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        parse("the delay document", text)
    }
}
