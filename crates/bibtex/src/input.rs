//! Takes the path of a file or an open stream; returns its bytes, or an error if it cannot be read.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use assay_values::SourceError;
use serde::{Deserialize, Serialize};

/// The name of a stream without a file in messages and in column `filename`.
pub const STANDARD_INPUT: &str = "(standard input)";

/// The character encoding of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Encoding {
    /// UTF-8; an entry with invalid bytes is reported with its place.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// Latin-1 (ISO 8859-1), decoded to UTF-8 as it is read.
    #[serde(rename = "latin-1")]
    Latin1,
}

/// One file to be read, or a stream that can be read only once.
pub(crate) enum Input {
    File {
        path: String,
    },
    Stream {
        name: String,
        stream: Option<Box<dyn Read + Send>>,
    },
}

impl Input {
    pub(crate) fn files(paths: &[String]) -> Vec<Self> {
        paths
            .iter()
            .map(|path| Self::File { path: path.clone() })
            .collect()
    }

    /// The name used in messages: the path as it was given.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::File { path } => path,
            Self::Stream { name, .. } => name,
        }
    }

    pub(crate) fn open(&mut self) -> Result<Box<dyn Read + Send>, SourceError> {
        match self {
            Self::File { path } => Ok(Box::new(open_file(path)?)),
            Self::Stream { name, stream } => stream.take().ok_or_else(|| SourceError {
                message: "expected a file that can be read more than once, found a stream"
                    .to_owned(),
                file: name.clone(),
                line: 0,
                column: 0,
                hint: Some("write it to a file and pass the file's name".to_owned()),
            }),
        }
    }
}

/// The value of column `filename`: the last part of the path.
pub(crate) fn base_name(path: &str) -> &str {
    Path::new(path)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(path)
}

fn open_file(path: &str) -> Result<File, SourceError> {
    let failed = |error: std::io::Error| unreadable(path, &error);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(SourceError {
            message: "expected a BibTeX file, found a folder".to_owned(),
            file: path.to_owned(),
            line: 0,
            column: 0,
            hint: Some(format!(
                "name its files, for example {}/*.bib",
                path.trim_end_matches('/')
            )),
        });
    }
    Ok(file)
}

/// The error for a file that cannot be read.
pub(crate) fn unreadable(path: &str, error: &std::io::Error) -> SourceError {
    let (message, hint) = match error.kind() {
        ErrorKind::NotFound => (
            "expected a file, found none of this name",
            "check the spelling",
        ),
        ErrorKind::PermissionDenied => (
            "the file may not be read by this user",
            "ask its owner, or copy it",
        ),
        _ => (
            "the file cannot be read",
            "the operating system reports the reason",
        ),
    };
    SourceError {
        message: format!("{message} ({error})"),
        file: path.to_owned(),
        line: 0,
        column: 0,
        hint: Some(hint.to_owned()),
    }
}
