//! The driver `dbapi`: takes requests; calls any Python module that follows DB-API 2.0 (PEP 249), and returns
//! its answers. The interpreter lock is held during each call; a module releases it while it waits.

mod bulk;
mod cell;
mod connection;
mod error;
mod fetch;
mod null_module;
mod opening;
mod parameter;
mod process;
mod style;

use pyo3::prelude::*;

pub use null_module::{NullDbapiConnection, NullDbapiCursor};
pub use opening::open;
pub use process::{connects_are_measured, end_with_parent};

/// Names of the drivers that call Python, of which a process runs one thread at a time.
#[pyfunction]
pub fn python_drivers() -> Vec<&'static str> {
    vec!["dbapi"]
}
