//! Python's DB-API 2.0 (PEP 249): takes a deployment; returns a session that calls a Python module.
//!
//! This crate does not know Python: the crate that does says at its start how sessions are opened.

use std::sync::OnceLock;

use assay_values::Row;

use crate::{Answer, Blocking, Canceller, ErrorClass, LocalOptions, Request, Result, SystemError};

/// Opens a session.
pub type Open = fn(&LocalOptions<'_>) -> Result<Box<dyn Blocking>>;

static OPEN: OnceLock<Open> = OnceLock::new();

/// From now on sessions are opened by this function; a second one is ignored.
pub fn opened_by(open: Open) {
    let _ = OPEN.set(open);
}

/// One session with a Python module.
pub struct DbapiConnection(Box<dyn Blocking>);

impl DbapiConnection {
    /// The socket of the module's connection.
    pub const OPEN_FILES: u32 = 1;

    /// Imports the module and connects.
    ///
    /// # Errors
    /// If the program has no Python, or the module cannot be imported or does not connect.
    pub fn open(deployment: &LocalOptions<'_>) -> Result<Self> {
        let open = OPEN.get().ok_or_else(|| {
            let message = "this program has no Python, which the driver dbapi needs";
            SystemError::new(ErrorClass::ConnectionRefused, "", message)
        })?;
        open(deployment).map(Self)
    }
}

impl Blocking for DbapiConnection {
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<()> {
        self.0.request(request, answer)
    }

    fn bulk_row(&mut self, row: &Row) -> Result<()> {
        self.0.bulk_row(row)
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<()> {
        self.0.bulk_end(abort, answer)
    }

    fn server_version(&self) -> &str {
        self.0.server_version()
    }

    fn canceller(&self) -> Option<Canceller> {
        self.0.canceller()
    }
}
