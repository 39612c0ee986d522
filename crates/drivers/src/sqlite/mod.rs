//! SQLite in this process: requests become calls of the library, on the thread of the client.
//!
//! The library is compiled in, so a measurement names one version wherever it runs. It is opened as
//! the `sqlite3` shell opens it (foreign keys are not enforced unless a session statement asks), with
//! the shell's `REGEXP` in addition.

mod affinity;
mod bulk;
mod connection;
mod counters;
mod execution;
mod failure;
mod options;
mod patience;
mod refusal;
mod regexp;
mod value;

pub use connection::SqliteConnection;
