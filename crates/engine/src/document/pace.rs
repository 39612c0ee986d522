//! The optional keys of a drive document for arrivals, pauses, retries and reconnection.

use std::time::Duration;

use assay_drivers::ErrorClass;
use assay_values::Distribution;
use serde::{Deserialize, Deserializer};

use super::seconds::positive_seconds;

/// When transactions start.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ArrivalDocument {
    /// A client's next transaction starts when its last one has ended and the pause is over.
    #[default]
    Closed,
    /// Starts every `1 / offered_rate_per_s` seconds, independently of earlier transactions.
    Constant {
        /// Arrivals per second, over all clients of the group.
        #[serde(deserialize_with = "rate")]
        offered_rate_per_s: f64,
    },
    /// As from very many independent clients: gaps are exponential.
    Poisson {
        /// Arrivals per second on average, over all clients of the group.
        #[serde(deserialize_with = "rate")]
        offered_rate_per_s: f64,
    },
}

impl ArrivalDocument {
    /// The rate of an open loop, over all clients.
    #[must_use]
    pub fn offered_rate_per_s(&self) -> Option<f64> {
        match *self {
            Self::Closed => None,
            Self::Constant { offered_rate_per_s } | Self::Poisson { offered_rate_per_s } => {
                Some(offered_rate_per_s)
            }
        }
    }
}

/// Which failed transactions are retried.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RetriesDocument {
    /// The maximum per transaction, not counting its first attempt.
    pub most: u32,
    /// Error classes.
    #[serde(default = "retried_classes", deserialize_with = "class_words")]
    pub classes: Vec<ErrorClass>,
}

impl Default for RetriesDocument {
    fn default() -> Self {
        Self {
            most: 0,
            classes: retried_classes(),
        }
    }
}

/// Whether clients whose sessions were lost reconnect.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ReconnectDocument {
    /// Whether clients open a new session after a loss.
    #[serde(default)]
    pub after_loss: bool,
    /// The maximum time after each loss.
    #[serde(default = "a_minute", deserialize_with = "positive_seconds")]
    pub timeout_s: Duration,
}

impl Default for ReconnectDocument {
    fn default() -> Self {
        Self {
            after_loss: false,
            timeout_s: a_minute(),
        }
    }
}

fn a_minute() -> Duration {
    Duration::from_secs(60)
}

/// The classes after which the SQL standard expects clients to retry.
fn retried_classes() -> Vec<ErrorClass> {
    vec![ErrorClass::Deadlock, ErrorClass::Serialization]
}

fn class_words<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<ErrorClass>, D::Error> {
    let class = |word: String| {
        ErrorClass::from_word(&word)
            .filter(|class| !class.ends_the_session())
            .ok_or_else(|| {
                let can = |class: &ErrorClass| !class.ends_the_session();
                let words: Vec<_> = ErrorClass::ALL.iter().filter(|class| can(class)).collect();
                let words: Vec<_> = words.iter().map(|class| class.word()).collect();
                serde::de::Error::custom(format!(
                    "expected one of {}, found `{word}`",
                    words.join(", ")
                ))
            })
    };
    let words = Option::<Vec<String>>::deserialize(reader)?;
    words.map_or_else(
        || Ok(retried_classes()),
        |words| words.into_iter().map(class).collect(),
    )
}

/// At most one arrival per nanosecond, the resolution of the clock.
const MOST_PER_S: f64 = 1e9;

fn rate<'de, D: Deserializer<'de>>(reader: D) -> Result<f64, D::Error> {
    let rate = f64::deserialize(reader)?;
    if rate > 0.0 && rate <= MOST_PER_S {
        return Ok(rate);
    }
    Err(serde::de::Error::custom(format!(
        "expected transactions per second, above 0 and at most {MOST_PER_S:e}, found {rate}"
    )))
}

/// A distribution, or `None`.
pub fn distribution<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<Distribution>, D::Error> {
    let read = |text: String| {
        Distribution::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("expected {}, found `{text}`", Distribution::FORMS))
        })
    };
    Option::<String>::deserialize(reader)?.map(read).transpose()
}
