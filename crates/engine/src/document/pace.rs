//! How transactions arrive, how long clients pause between them, and what is done about those that fail
//! and about sessions that are lost: the optional keys of a drive document.

use std::time::Duration;

use assay_drivers::ErrorClass;
use assay_values::Distribution;
use serde::{Deserialize, Deserializer};

use super::site::positive_seconds;

/// When transactions begin.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ArrivalDocument {
    /// A client's next transaction begins when its last one has ended, and it has paused.
    #[default]
    Closed,
    /// One every `1 / offered_rate_per_s` seconds, whatever became of those before.
    Constant {
        #[serde(deserialize_with = "rate")]
        offered_rate_per_s: f64,
    },
    /// As from very many clients that know nothing of each other: gaps are exponential.
    Poisson {
        #[serde(deserialize_with = "rate")]
        offered_rate_per_s: f64,
    },
}

impl ArrivalDocument {
    /// Of an open loop, over all clients.
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

/// Which failed transactions are tried again.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RetriesDocument {
    /// For one transaction, beside its first attempt.
    pub most: u32,
    /// Words of error classes.
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

/// Whether clients whose sessions were lost try to come back.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ReconnectDocument {
    #[serde(default)]
    pub after_loss: bool,
    /// For how long after each loss.
    #[serde(default = "a_minute", deserialize_with = "positive_seconds")]
    pub patience_s: Duration,
}

impl Default for ReconnectDocument {
    fn default() -> Self {
        Self {
            after_loss: false,
            patience_s: a_minute(),
        }
    }
}

fn a_minute() -> Duration {
    Duration::from_secs(60)
}

/// Those that the standard asks clients to try again.
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

/// At most one arrival a nanosecond: the clock knows nothing finer.
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

/// A distribution in its one notation, or none.
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
