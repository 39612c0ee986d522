//! How each client ended, and how the whole run ended.

use schemars::JsonSchema;
use serde::Serialize;

/// How one client ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClientEnd {
    /// Its number in the whole run.
    pub client: u32,
    /// The name of its group.
    pub group: String,
    /// Since the start of the measurement.
    pub elapsed_ns: u64,
    /// Measured passes, whatever the outcomes of their transactions.
    pub passes: u64,
    /// Measured transactions, whatever their outcomes.
    pub transactions: u64,
    /// Why the client ended.
    pub state: ClientState,
}

/// Why a client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientState {
    /// It did all its work, or the time limit ended it.
    Done,
    /// Lost its session and did not reconnect.
    Lost,
    /// All its transactions fail, and would do so again: its script, or a statement, is wrong.
    Failed,
    /// The system refused its session, so no transaction was run.
    Refused,
    /// The caller interrupted the run.
    Interrupted,
}

impl ClientState {
    /// The word of records and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Lost => "lost",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Why the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EndedBy {
    /// By the document's stop condition.
    Stop,
    /// The caller interrupted the run.
    Interrupted,
    /// A client was refused, and no transaction was run.
    Refused,
    /// Every client lost its connection.
    Lost,
    /// Every client ended early, for different reasons.
    #[serde(rename = "all clients failed")]
    AllClientsFailed,
}

impl EndedBy {
    /// The word of records and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Interrupted => "interrupted",
            Self::Refused => "refused",
            Self::Lost => "lost",
            Self::AllClientsFailed => "all clients failed",
        }
    }
}

/// Transactions that were abandoned at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Unfinished {
    /// Measured or not.
    pub transactions: u64,
    /// How many of them the system has confirmed to be cancelled.
    pub cancelled: u64,
    /// How long they were waited for after the end of the measurement.
    pub limit_s: f64,
}

/// A time in which no client was served, since the start of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outage {
    /// When it began.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
}

// The servers that answered the clients' sessions.

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
