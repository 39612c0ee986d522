//! Takes documents about bibliographies from Python; returns scan reports, SQL scripts and synthetic
//! bibliographies.

use std::path::Path;

use assay_bibtex::{ScanOptions, SourceOptions, SqlOptions, WriteError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::descriptor::duplicate;
use crate::failure::{Failure, os_error};
use crate::progress::ProgressCallback;
use crate::work::{ended, parsed, printed};

/// Entries of a synthetic bibliography if the document gives no number: as many as the 13 real files have.
const SYNTHETIC_ENTRIES: u64 = 9_733;

#[derive(Serialize)]
struct ReadProgress {
    bytes_read: u64,
    bytes_total: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SynthesizeDocument {
    folder: String,
    #[serde(default = "synthetic_entries")]
    entries: u64,
    #[serde(default)]
    seed: u64,
}

fn synthetic_entries() -> u64 {
    SYNTHETIC_ENTRIES
}

#[pyfunction]
#[pyo3(signature = (document, progress=None))]
pub fn bib_scan(py: Python<'_>, document: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let options: ScanOptions = parsed(document, "scan")?;
    let mut callback = ProgressCallback::new(progress);
    let found = py.detach(|| {
        assay_bibtex::scan(&options, &mut |bytes_read, bytes_total| {
            callback.report(&ReadProgress {
                bytes_read,
                bytes_total,
            })
        })
    });
    ended(
        callback,
        found.map_err(|error| Failure::from(error).into_exception()),
    )
}

/// Writes the SQL script to an open file, which stays open.
#[pyfunction]
pub fn bib_write_sql(py: Python<'_>, document: &str, file_descriptor: i32) -> PyResult<String> {
    let options: SqlOptions = parsed(document, "SQL")?;
    let mut out = duplicate(file_descriptor).map_err(|error| os_error(&error))?;
    let written = py.detach(|| assay_bibtex::write_sql(&options, &mut out));
    written.map(|report| printed(&report)).map_err(raise)
}

/// Writes the enlarged bibliography as BibTeX to an open file, which stays open.
#[pyfunction]
pub fn bib_replicate(py: Python<'_>, document: &str, file_descriptor: i32) -> PyResult<String> {
    let options: SourceOptions = parsed(document, "source")?;
    let mut out = duplicate(file_descriptor).map_err(|error| os_error(&error))?;
    let written = py.detach(|| assay_bibtex::write_replicated(&options, &mut out));
    written.map(|report| printed(&report)).map_err(raise)
}

#[pyfunction]
pub fn bib_synthesize(py: Python<'_>, document: &str) -> PyResult<String> {
    let options: SynthesizeDocument = parsed(document, "synthesize")?;
    let made = py.detach(|| {
        assay_bibtex::synthesize(Path::new(&options.folder), options.entries, options.seed)
    });
    made.map(|made| printed(&made)).map_err(raise)
}

fn raise(error: WriteError) -> PyErr {
    match error {
        WriteError::Source(error) => Failure::from(error).into_exception(),
        WriteError::Output(error) => os_error(&error),
    }
}
