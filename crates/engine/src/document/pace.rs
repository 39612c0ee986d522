//! The optional keys of a drive document for arrivals, pauses, retries and reconnection.

use std::time::Duration;

use assay_drivers::ErrorClass;
use assay_values::Distribution;
use serde::{Deserialize, Deserializer};

use crate::document::reading::positive_seconds;

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
        offered_rate_per_s: OfferedRate,
    },
    /// When a script of another group queues them (`\defer`).
    Deferred,
    /// As from very many independent clients: gaps are exponential.
    Poisson {
        /// Arrivals per second on average, over all clients of the group.
        #[serde(deserialize_with = "rate")]
        offered_rate_per_s: OfferedRate,
    },
}

/// Arrivals per second: one number, or steps in the order of time.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(
    untagged,
    expecting = "expected transactions per second, or steps in time"
)]
pub enum OfferedRate {
    Even(f64),
    Steps(Vec<RateStep>),
}

/// The rate from an instant of the measurement to the next step's, or to the end.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Since the measurement began; the first one, from 0, has the ramp-up and the warm-up, too.
    pub from_s: f64,
    /// Per second; 0: none.
    pub per_s: f64,
    /// What it rises or falls to evenly until the next step; absent: it is even.
    pub to_per_s: Option<f64>,
}

impl OfferedRate {
    /// At least one; an even rate is one step.
    pub fn steps(&self) -> Vec<RateStep> {
        match self {
            Self::Steps(steps) => steps.clone(),
            Self::Even(per_s) => vec![RateStep {
                from_s: 0.0,
                per_s: *per_s,
                to_per_s: None,
            }],
        }
    }
}

impl ArrivalDocument {
    /// The rate of an open loop, over all clients.
    pub fn offered_rate(&self) -> Option<&OfferedRate> {
        match self {
            Self::Closed | Self::Deferred => None,
            Self::Constant { offered_rate_per_s } | Self::Poisson { offered_rate_per_s } => {
                Some(offered_rate_per_s)
            }
        }
    }

    /// The same, if it is one number.
    pub fn offered_rate_per_s(&self) -> Option<f64> {
        match self.offered_rate()? {
            OfferedRate::Even(per_s) => Some(*per_s),
            OfferedRate::Steps(_) => None,
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

fn rate<'de, D: Deserializer<'de>>(reader: D) -> Result<OfferedRate, D::Error> {
    let rate = OfferedRate::deserialize(reader)?;
    let is_right = match &rate {
        OfferedRate::Even(per_s) => *per_s > 0.0 && *per_s <= MOST_PER_S,
        OfferedRate::Steps(steps) => are_in_order(steps),
    };
    if is_right {
        return Ok(rate);
    }
    Err(serde::de::Error::custom(format!(
        "expected transactions per second, above 0 and at most {MOST_PER_S:e}, or such steps from 0 s on in \
         the order of time, the last one even, found {rate:?}"
    )))
}

fn are_in_order(steps: &[RateStep]) -> bool {
    let is_rate = |per_s: f64| (0.0..=MOST_PER_S).contains(&per_s);
    let starts_at_zero = (steps.first()).is_some_and(|first| first.from_s == 0.0);
    let ends_even = (steps.last()).is_some_and(|last| last.to_per_s.is_none());
    let is_ordered = (steps.windows(2)).all(|pair| pair[0].from_s < pair[1].from_s);
    let are_rates =
        (steps.iter()).all(|step| is_rate(step.per_s) && step.to_per_s.is_none_or(is_rate));
    let has_any = (steps.iter()).any(|step| step.per_s > 0.0 || step.to_per_s > Some(0.0));
    starts_at_zero && ends_even && is_ordered && are_rates && has_any
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
