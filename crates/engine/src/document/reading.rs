//! Takes JSON text; returns a document, or an error that names the wrong key.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::EngineError;

/// Parses `text` as the document `T`; errors call it `what`.
pub(super) fn parse<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, EngineError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let document = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let message = error.inner().to_string();
        let (inner, message) = message.split_once(INNER_KEY).unwrap_or(("", &message));
        let outer = error.path().to_string();
        let keys = [outer.as_str(), inner]
            .into_iter()
            .filter(|key| !["", "."].contains(key));
        let key = keys.collect::<Vec<_>>().join(".");
        let place = if key.is_empty() {
            String::new()
        } else {
            format!(", key `{key}`")
        };
        EngineError::Document(format!("{what}{place}: {message}"))
    })?;
    reader.end().map_err(|error| {
        EngineError::Document(format!("{what}: after the end of the document: {error}"))
    })?;
    Ok(document)
}

/// In a message: what is before it is the key.
const INNER_KEY: char = '\u{1f}';

/// Reads a struct whose keys are among those of another one. Its errors name the key, which serde forgets there.
pub(super) fn flattened<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    reader: D,
) -> Result<T, D::Error> {
    serde_path_to_error::deserialize(reader).map_err(|error| {
        let key = error.path().to_string();
        serde::de::Error::custom(format!("{key}{INNER_KEY}{}", error.inner()))
    })
}

/// Reads null like an absent key: as the type's default.
pub(super) fn null_is_default<'de, D, T>(reader: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}

// Takes a number of seconds in a document; returns a duration.

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
    D: Deserializer<'de>,
{
    let seconds = f64::deserialize(reader)?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| {
            serde::de::Error::custom(format!("expected seconds above 0, found {seconds}"))
        })
}
