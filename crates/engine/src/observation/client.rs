//! How each client's work ended, and how the whole run did.

use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClientEnd {
    /// Its number in the whole run.
    pub client: u32,
    /// The name of its group.
    pub group: String,
    /// Since the beginning of the measurement.
    pub elapsed_ns: u64,
    /// Measured ones, whatever the outcomes of their transactions.
    pub passes: u64,
    pub transactions: u64,
    pub state: ClientState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientState {
    Done,
    /// Lost its session and did not come back.
    Lost,
    /// Its script fails by itself, again and again.
    Failed,
    Refused,
    Interrupted,
}

impl ClientState {
    #[must_use]
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
    /// As the document asked.
    Stop,
    Interrupted,
    /// A client was not let in, and nothing was driven.
    Refused,
    /// Every client lost its connection.
    Lost,
    /// Every client ended early, not all of them by a loss.
    #[serde(rename = "all clients failed")]
    AllClientsFailed,
}

impl EndedBy {
    #[must_use]
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

/// What was given up at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Unfinished {
    /// Measured or not.
    pub transactions: u64,
    /// How many of them the system is known to have ended when it was asked to.
    pub cancelled: u64,
    /// How long they were waited for after the end of the measurement.
    pub limit_s: f64,
}

/// A time in which nobody was served, since the beginning of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outage {
    pub from_ns: u64,
    pub to_ns: u64,
}
