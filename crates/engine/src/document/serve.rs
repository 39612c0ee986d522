//! Which protocol a null server speaks, where it listens, and what it is told to do.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{null_is_default, parse};
use crate::EngineError;

/// One of `unix` and `port` says where.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeDocument {
    /// A name of the registry of servers.
    pub protocol: String,
    /// Path of a Unix socket, which must not exist yet.
    #[serde(default)]
    pub unix: Option<String>,
    /// Of this machine; absent: 127.0.0.1.
    #[serde(default)]
    pub host: Option<String>,
    /// 0: one that is free.
    #[serde(default)]
    pub port: Option<u16>,
    /// OS threads; 0: one for each processor, at most four.
    #[serde(default, deserialize_with = "null_is_default")]
    pub threads: u32,
    /// What is told to the null system (`assay_drivers::null`); `rows` is 1 where it is absent.
    #[serde(default, deserialize_with = "null_is_default")]
    pub options: BTreeMap<String, String>,
}

impl ServeDocument {
    /// # Errors
    /// If the text is not a serve document; says which key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        parse("the serve document", text)
    }
}
