//! The serve document: the protocol of a null server, its address and its options.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::EngineError;
use crate::document::reading::{null_is_default, parse, seconds};

/// The address is either `unix` or `port`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeDocument {
    /// A name of the registry of servers.
    pub protocol: String,
    /// Path of a Unix socket, which must not exist yet.
    pub unix: Option<String>,
    /// An address of this machine; absent: 127.0.0.1.
    pub host: Option<String>,
    /// 0: a free port.
    pub port: Option<u16>,
    /// OS threads; 0: one for each processor, at most four.
    #[serde(default, deserialize_with = "null_is_default")]
    pub threads: u32,
    /// Options of the null system (`assay_drivers::null`); `rows` is 1 if absent.
    #[serde(default, deserialize_with = "null_is_default")]
    pub options: BTreeMap<String, String>,
}

impl ServeDocument {
    /// # Errors
    /// If the text is not a valid serve document; the error names the key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        parse("the serve document", text)
    }
}

// The delay document: the server behind a delay proxy, and the round-trip time to it.

/// The server is at `unix`, or at `host` and `port`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayDocument {
    /// Path of the server's Unix socket.
    pub unix: Option<String>,
    /// Its name or IP address.
    pub host: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// Where the proxy listens, on 127.0.0.1; 0: a free port.
    #[serde(default)]
    pub listen_port: u16,
    /// The round-trip time to add, in seconds: half of it in each direction.
    #[serde(rename = "rtt_s", deserialize_with = "seconds")]
    pub rtt: Duration,
}

impl DelayDocument {
    /// # Errors
    /// If the text is not a valid delay document; the error names the key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        parse("the delay document", text)
    }
}
