//! Defines the function of `x REGEXP p`: the library parses the operator but has no function for it.
//!
//! Patterns are those of the `sqlite3` shell and of POSIX: `.` is any character, also a newline, and
//! `^` and `$` are the beginning and the end of the text. NULL on either side returns NULL. The function
//! is called for every row of a scan: a constant pattern is looked up once per statement and compiled
//! once per session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use regex::bytes::{Regex, RegexBuilder};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

/// A workload has dozens of patterns; patterns from a column must not fill the memory.
const MOST_PATTERNS: usize = 256;

pub(super) fn define(connection: &Connection) -> rusqlite::Result<()> {
    let patterns = Patterns::default();
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("regexp", 2, flags, move |call| {
        let (pattern, text) = (call.get_raw(0), call.get_raw(1));
        if matches!(pattern, ValueRef::Null) || matches!(text, ValueRef::Null) {
            return Ok(None);
        }
        let pattern: Arc<Arc<Regex>> =
            call.get_or_create_aux(0, |pattern| patterns.get(&bytes_of(pattern)))?;
        Ok(Some(pattern.is_match(&bytes_of(text))))
    })
}

#[derive(Default)]
struct Patterns(Mutex<HashMap<Vec<u8>, Arc<Regex>>>);

impl Patterns {
    fn get(&self, pattern: &[u8]) -> Result<Arc<Regex>, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(regex) = known.get(pattern) {
            return Ok(Arc::clone(regex));
        }
        let text = std::str::from_utf8(pattern)
            .map_err(|_| "a regular expression must be UTF-8 text".to_owned())?;
        let regex = RegexBuilder::new(text)
            .dot_matches_new_line(true)
            .build()
            .map_err(|error| format!("regular expression {text:?}: {error}"))?;
        if known.len() >= MOST_PATTERNS {
            known.clear();
        }
        let regex = Arc::new(regex);
        known.insert(pattern.to_vec(), Arc::clone(&regex));
        Ok(regex)
    }
}

/// The text to which the library would convert a value.
fn bytes_of(value: ValueRef<'_>) -> std::borrow::Cow<'_, [u8]> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.into(),
        ValueRef::Integer(integer) => integer.to_string().into_bytes().into(),
        ValueRef::Real(real) => format!("{real:?}").into_bytes().into(),
        ValueRef::Null => [].as_slice().into(),
    }
}
