//! Takes the document of a null server or of a delay proxy; runs it until a signal arrives.

use assay_engine::{DelayDocument, ServeDocument};
use pyo3::prelude::*;

use crate::failure::raise;
use crate::progress::ProgressCallback;
use crate::work::ended;

/// Serves until a signal handler raises, which ends it without an error; `ready` gets the address.
#[pyfunction]
#[pyo3(signature = (document, ready=None))]
pub fn serve(py: Python<'_>, document: &str, ready: Option<Py<PyAny>>) -> PyResult<String> {
    let document = ServeDocument::parse(document).map_err(raise)?;
    let mut caller = ProgressCallback::new(ready);
    let mut signals = ProgressCallback::new(None);
    let served = py.detach(|| {
        assay_engine::serve(
            &document,
            &mut |listening| caller.report(listening),
            &mut || signals.report(&()),
        )
    });
    ended(caller, served.map_err(raise))
}

/// Runs a delay proxy until a signal handler raises, which ends it without an error; `ready` gets its address
/// and what it adds.
#[pyfunction]
#[pyo3(signature = (document, ready=None))]
pub fn delay(py: Python<'_>, document: &str, ready: Option<Py<PyAny>>) -> PyResult<String> {
    let document = DelayDocument::parse(document).map_err(raise)?;
    let mut caller = ProgressCallback::new(ready);
    let mut signals = ProgressCallback::new(None);
    let delayed = py.detach(|| {
        assay_engine::delay(
            &document,
            &mut |delaying| caller.report(delaying),
            &mut || signals.report(&()),
        )
    });
    ended(caller, delayed.map_err(raise))
}

/// The protocols that a null server speaks: all, or those whose statements are in a language (`sql`, `json`).
#[pyfunction]
#[pyo3(signature = (language=None))]
pub fn null_protocols(language: Option<&str>) -> Vec<&'static str> {
    match language {
        Some(language) => assay_engine::null_protocols_in(language),
        None => assay_engine::null_protocols(),
    }
}
