//! Takes a number of seconds in a document; returns a duration.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

pub(super) fn seconds<'de, D: Deserializer<'de>>(reader: D) -> Result<Duration, D::Error> {
    let seconds = Option::<f64>::deserialize(reader)?.unwrap_or(0.0);
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        serde::de::Error::custom(format!("expected seconds, at least 0, found {seconds}"))
    })
}

pub(super) fn optional_seconds<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<Duration>, D::Error> {
    #[derive(Deserialize)]
    struct Positive(#[serde(deserialize_with = "positive_seconds")] Duration);
    Ok(Option::<Positive>::deserialize(reader)?.map(|positive| positive.0))
}

/// A number of seconds above 0.
pub(super) fn positive_seconds<'de, D>(reader: D) -> Result<Duration, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let seconds = f64::deserialize(reader)?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| {
            serde::de::Error::custom(format!("expected seconds above 0, found {seconds}"))
        })
}
