//! Takes a deployment; returns how many sessions it accepts.

use std::ops::ControlFlow;

use serde::Serialize;

use crate::EngineError;
use crate::document::DeploymentDocument;
use crate::limits::allow_many_open_files;
use crate::session::{Cancellation, Deployment, Halt, Session};

/// The result of opening sessions one after the other and keeping all open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// How many sessions were open at the same time.
    pub opened: u32,
    /// The number (from 1) of the session that was refused; `None` if all were accepted.
    pub refused_at: Option<u32>,
    /// Why it was refused; none if all were accepted.
    pub error: Option<ProbeError>,
}

/// The error of the refused session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeError {
    /// The error class, the same for all systems.
    pub class: &'static str,
    /// The system's own code; empty where it has none.
    pub code: String,
    /// The message, in the system's own words.
    pub message: String,
}

/// Opens sessions until one is refused, at most `upto`.
///
/// # Errors
/// If the document is wrong, or `go_on`, which is called ten times a second, broke. A refusal is a result,
/// not an error, even of the first session.
pub fn probe(
    document: &DeploymentDocument,
    upto: u32,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Probe, EngineError> {
    allow_many_open_files();
    let deployment = Deployment::of(document)?;
    let mut cancellation = Cancellation::new(go_on);
    let mut held = Vec::new();
    for opened in 0..upto {
        match Session::at(&deployment, &mut cancellation) {
            Ok(session) => held.push(session),
            Err(Halt::System(error)) => {
                let error = ProbeError {
                    class: error.class.word(),
                    code: error.code,
                    message: error.message,
                };
                return Ok(Probe { opened, refused_at: Some(opened + 1), error: Some(error) });
            }
            Err(Halt::Interrupted) => return Err(EngineError::Interrupted),
        }
    }
    Ok(Probe { opened: upto, refused_at: None, error: None })
}
