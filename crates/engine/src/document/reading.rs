//! Takes JSON text; returns a document, or an error that names the wrong key.

use serde::de::{Deserialize, DeserializeOwned, Deserializer};

use crate::EngineError;

/// Parses `text` as the document `T`; errors call it `what`.
pub(super) fn parse<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, EngineError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let document = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let key = error.path().to_string();
        let place = if key == "." {
            String::new()
        } else {
            format!(", key `{key}`")
        };
        EngineError::Document(format!("{what}{place}: {}", error.inner()))
    })?;
    reader.end().map_err(|error| {
        EngineError::Document(format!("{what}: after the end of the document: {error}"))
    })?;
    Ok(document)
}

/// Reads null like an absent key: as the type's default.
pub(super) fn null_is_default<'de, D, T>(reader: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}
