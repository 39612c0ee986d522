//! Takes distributions as JSON and merges them; also returns the JSON Schema of an observation.

use assay_engine::Latency;
use assay_histogram::{EncodedHistogram, merge_encoded};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::work::{parsed, printed};

/// Merges all samples of several distributions: takes a JSON list of `EncodedHistogram`, returns a `Latency`.
#[pyfunction]
pub fn merge_latency(py: Python<'_>, parts: &str) -> PyResult<String> {
    let parts: Vec<EncodedHistogram> = parsed(parts, "latency")?;
    let merged = py.detach(|| merge_encoded(&parts));
    let merged = merged.map_err(|error| Failure::document(error.to_string()).into_exception())?;
    Ok(printed(&Latency::from(&merged)))
}

/// The JSON Schema of the observation that `drive` returns.
#[pyfunction]
pub fn observation_schema() -> String {
    printed(&assay_engine::observation_schema())
}
