//! Takes a connection; returns the library's page cache counters for it. Source: "Status Parameters for
//! database connections" of the SQLite documentation.

use std::ffi::c_int;

use rusqlite::{Connection, ffi};

/// Pages found in the session's cache and pages that had to be read, since it was opened.
pub(super) fn of(connection: &Connection) -> Vec<(&'static str, u64)> {
    [
        ("buffer_hits", ffi::SQLITE_DBSTATUS_CACHE_HIT),
        ("buffer_misses", ffi::SQLITE_DBSTATUS_CACHE_MISS),
    ]
    .into_iter()
    .filter_map(|(name, which)| Some((name, count(connection, which)?)))
    .collect()
}

fn count(connection: &Connection, which: c_int) -> Option<u64> {
    let (mut current, mut highest, keep) = (0, 0, 0);
    // SAFETY: the handle is that of an open connection, borrowed for the duration of the call, and the
    // library writes nothing but the two numbers.
    let status = unsafe {
        ffi::sqlite3_db_status(
            connection.handle(),
            which,
            &raw mut current,
            &raw mut highest,
            keep,
        )
    };
    // The library counts in unsigned 32 bits, but returns a signed integer.
    (status == ffi::SQLITE_OK).then(|| u64::from(current.cast_unsigned()))
}
