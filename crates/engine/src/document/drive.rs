//! What clients do, how many there are, and when they stop.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_script::Lexer;
use assay_values::{Distribution, Value};
use serde::{Deserialize, Deserializer};

use super::pace::{ArrivalDocument, ReconnectDocument, RetriesDocument, distribution};
use super::site::positive_seconds;
use super::{SiteDocument, null_is_default, parse};
use crate::EngineError;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveDocument {
    /// Absent where scripts are only explained.
    #[serde(default)]
    pub site: Option<SiteDocument>,
    pub scripts: Vec<ScriptDocument>,
    #[serde(default, deserialize_with = "variables")]
    pub variables: BTreeMap<String, Value>,
    /// For each `:{name}` of the scripts, the identifiers it chooses from.
    #[serde(default, deserialize_with = "null_is_default")]
    pub identifiers: BTreeMap<String, Vec<String>>,
    /// By isolation level: the statements with which `\\begin` begins a transaction at that level.
    #[serde(default, deserialize_with = "null_is_default")]
    pub begins: BTreeMap<String, Vec<String>>,
    /// Statements that the system does not know, in upper case, and what to write in their place.
    #[serde(default, deserialize_with = "null_is_default")]
    pub unknown_statements: BTreeMap<String, String>,
    /// The language of the statements: `sql`, `cql` or `json`.
    #[serde(default, deserialize_with = "lexer")]
    pub lexer: Lexer,
    /// Whether scripts may run programs of this machine.
    #[serde(default, deserialize_with = "null_is_default")]
    pub allow_shell: bool,
    pub order: Order,
    pub clients: u32,
    /// OS threads; 0: one for each processor, and at most one for each client. A driver that blocks
    /// has a thread for each client, whatever stands here.
    #[serde(default, deserialize_with = "null_is_default")]
    pub threads: u32,
    #[serde(default, deserialize_with = "null_is_default")]
    pub protocol: Protocol,
    /// Whether values may only be bound: with `simple` a script that has any is then refused.
    #[serde(default, deserialize_with = "null_is_default")]
    pub requires_bound_values: bool,
    pub stop: StopDocument,
    #[serde(default, deserialize_with = "null_is_default")]
    pub arrival: ArrivalDocument,
    /// A client's pause after each transaction, in a closed loop.
    #[serde(default, deserialize_with = "distribution")]
    pub think_time: Option<Distribution>,
    /// A client's pause before each transaction, in a closed loop.
    #[serde(default, deserialize_with = "distribution")]
    pub keying_time: Option<Distribution>,
    /// In a closed loop clients begin evenly spread over it, in an open one the rate grows from nothing to
    /// the one offered; the warm-up follows it.
    #[serde(default, deserialize_with = "seconds")]
    pub ramp_up_s: Duration,
    #[serde(default, deserialize_with = "seconds")]
    pub warm_up_s: Duration,
    /// How long transactions that are under way at the end of the measurement are waited for; then they
    /// are cancelled, and their outcome is `unknown`.
    #[serde(default = "ten_seconds", deserialize_with = "seconds")]
    pub drain_s: Duration,
    /// A latency beyond it is `late`; an arrival of an open loop that could not begin within it is
    /// `skipped`.
    #[serde(default, deserialize_with = "optional_seconds")]
    pub latency_limit_s: Option<Duration>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub retries: RetriesDocument,
    #[serde(default, deserialize_with = "null_is_default")]
    pub reconnect: ReconnectDocument,
    /// A new session for each transaction, opened inside its latency.
    #[serde(default, deserialize_with = "null_is_default")]
    pub connect_each_transaction: bool,
    /// Whether each statement's service times are kept.
    #[serde(default, deserialize_with = "null_is_default")]
    pub per_statement: bool,
    pub seed: u64,
    /// Whether answers are hashed and compared among clients; otherwise their rows are only counted.
    #[serde(default, deserialize_with = "null_is_default")]
    pub digest: bool,
    /// A statement that takes longer ends its client: `timeout`, and what became of it is unknown.
    #[serde(default, deserialize_with = "optional_seconds")]
    pub statement_timeout_s: Option<Duration>,
}

/// One transaction type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptDocument {
    pub name: String,
    pub path: String,
    pub text: String,
    /// Its share of a mix, relative to the others'.
    #[serde(default = "one")]
    pub weight: u32,
    /// The text is one statement of a plain file, sent as it stands.
    #[serde(default)]
    pub is_plain: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Every script once, in the given order: a *pass*; then again.
    Sequence,
    /// A weighted random choice for each transaction.
    Mix,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Every statement travels as text, with its values pasted in.
    #[default]
    Simple,
    /// Every statement is compiled, bound to its values and executed each time.
    Extended,
    /// Statements that read or change rows, and those that have values, are prepared once for each client;
    /// the others are sent as text.
    Prepared,
}

/// Whichever comes first ends a client's work, in an open loop the arrivals.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopDocument {
    /// For each client; those that began after the warm-up count.
    #[serde(default)]
    pub passes: Option<u64>,
    /// For each client; those that began after the warm-up count. An open loop has as many arrivals as
    /// all its clients together.
    #[serde(default)]
    pub transactions: Option<u64>,
    /// Since the end of the warm-up. A transaction under way is brought to its end, or
    /// given up after `drain_s`.
    #[serde(default, deserialize_with = "optional_seconds")]
    pub duration_s: Option<Duration>,
}

impl DriveDocument {
    /// # Errors
    /// Where the text is not a drive document, or asks for what cannot be; says which key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        let document: Self = parse("the drive document", text)?;
        document.check()?;
        Ok(document)
    }

    /// What no single key can be wrong about.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        let wrong = |key: &str, expected: &str| {
            Err(EngineError::Document(format!(
                "the drive document, key `{key}`: {expected}"
            )))
        };
        let stop = &self.stop;
        if self.scripts.is_empty() {
            return wrong("scripts", "expected at least one script");
        }
        if self.clients == 0 {
            return wrong("clients", "expected at least 1, found 0");
        }
        if stop.passes.is_none() && stop.transactions.is_none() && stop.duration_s.is_none() {
            return wrong(
                "stop",
                "expected one of `passes`, `transactions`, `duration_s`",
            );
        }
        if stop.passes == Some(0) || stop.transactions == Some(0) {
            return wrong("stop", "expected at least 1, found 0");
        }
        if self.order == Order::Mix && stop.passes.is_some() {
            return wrong(
                "stop.passes",
                "a mix has no passes; expected `order` to be `sequence`",
            );
        }
        if self.order == Order::Mix && self.scripts.iter().all(|script| script.weight == 0) {
            return wrong("scripts", "expected one weight above 0 for a mix");
        }
        let has_pauses = self.think_time.is_some() || self.keying_time.is_some();
        if self.arrival != ArrivalDocument::Closed {
            if stop.passes.is_some() {
                return wrong(
                    "stop.passes",
                    "an open loop has no passes; expected `transactions` or `duration_s`",
                );
            }
            if has_pauses {
                return wrong(
                    if self.think_time.is_some() {
                        "think_time"
                    } else {
                        "keying_time"
                    },
                    "in an open loop clients do not decide when they begin; expected none",
                );
            }
        }
        Ok(())
    }
}

fn lexer<'de, D: Deserializer<'de>>(reader: D) -> Result<Lexer, D::Error> {
    let Some(name) = Option::<String>::deserialize(reader)? else {
        return Ok(Lexer::default());
    };
    Lexer::named(&name).ok_or_else(|| {
        let names: Vec<&str> = Lexer::ALL.iter().map(|(name, _)| *name).collect();
        serde::de::Error::custom(format!(
            "expected one of {}, found {name}",
            names.join(", ")
        ))
    })
}

fn one() -> u32 {
    1
}

fn ten_seconds() -> Duration {
    Duration::from_secs(10)
}

fn seconds<'de, D: Deserializer<'de>>(reader: D) -> Result<Duration, D::Error> {
    let seconds = Option::<f64>::deserialize(reader)?.unwrap_or(0.0);
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        serde::de::Error::custom(format!("expected seconds, at least 0, found {seconds}"))
    })
}

fn optional_seconds<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Duration>, D::Error> {
    #[derive(Deserialize)]
    struct Positive(#[serde(deserialize_with = "positive_seconds")] Duration);
    Ok(Option::<Positive>::deserialize(reader)?.map(|positive| positive.0))
}

fn variables<'de, D: Deserializer<'de>>(reader: D) -> Result<BTreeMap<String, Value>, D::Error> {
    let plain = Option::<BTreeMap<String, serde_json::Value>>::deserialize(reader)?;
    let value = |name: &str, json: serde_json::Value| match json {
        serde_json::Value::Null => Ok(Value::Null),
        serde_json::Value::Bool(bool) => Ok(Value::Bool(bool)),
        serde_json::Value::String(text) => Ok(Value::Text(text.into())),
        serde_json::Value::Number(number) => (number.as_i64().map(Value::Int))
            .or_else(|| number.as_f64().map(Value::Double))
            .ok_or_else(|| format!("variable `{name}`: {number} is beyond every number here")),
        other => Err(format!(
            "variable `{name}`: expected a single value, found {other}"
        )),
    };
    (plain.unwrap_or_default().into_iter())
        .map(|(name, json)| Ok((name.clone(), value(&name, json)?)))
        .collect::<Result<_, String>>()
        .map_err(serde::de::Error::custom)
}
