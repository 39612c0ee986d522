//! SQLite in this process: takes requests and calls the library, on the client's thread.
//!
//! The library is compiled in, so its version does not depend on the machine. It is opened as the
//! `sqlite3` shell opens it (foreign keys are enforced only if a session statement enables them), and
//! has the shell's `REGEXP`.

mod affinity;
mod bulk;
mod busy_handler;
mod connection;
mod execution;
mod options;
mod refusal;
mod regexp;
mod value;

pub use connection::SqliteConnection;
