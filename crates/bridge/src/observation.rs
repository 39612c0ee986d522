//! Takes distributions as JSON and merges them; gives the JSON Schema of an observation.

use assay_engine::Latency;
use assay_histogram::{EncodedHistogram, merge_encoded};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::work::{parsed, printed};

/// All samples of several distributions in one; a JSON list of `EncodedHistogram` in, a `Latency` out.
#[pyfunction]
pub fn merge_latency(py: Python<'_>, parts: &str) -> PyResult<String> {
    let parts: Vec<EncodedHistogram> = parsed(parts, "latency")?;
    let merged = py.detach(|| merge_encoded(&parts));
    let merged = merged.map_err(|error| Failure::document(error.to_string()).into_exception())?;
    Ok(printed(&Latency::from(&merged)))
}

/// The JSON Schema of what `drive` gives.
#[pyfunction]
pub fn observation_schema() -> String {
    printed(&assay_engine::observation_schema())
}
