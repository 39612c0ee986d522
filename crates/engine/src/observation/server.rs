//! The servers that answered the clients' sessions.

use schemars::JsonSchema;
use serde::Serialize;

/// One of the servers behind the address of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerReport {
    /// As the server said it at login.
    pub version: String,
    /// As the server knows itself; empty where it was not asked, or does not say.
    pub address: String,
    /// `primary`, `standby` or `read-only`; empty as the address.
    pub role: String,
    /// Whether the server knows its sessions by other ids than those given at login: a pooler or proxy stands
    /// between.
    pub is_behind_pooler: bool,
    /// Clients' sessions that it answered when they were opened.
    pub sessions: u32,
}
