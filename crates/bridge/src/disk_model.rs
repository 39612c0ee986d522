//! Takes the words of a command line, parameters or an account; runs the program of modelled disks, or says what
//! they mean.

use std::path::PathBuf;

use assay_disk_model::account::{self, Period};
use assay_disk_model::model::Parameters;
use assay_disk_model::model::parameters::KEYS;
use assay_disk_model::model::parameters::PROFILES;
use assay_disk_model::{DiskError, program};
use pyo3::prelude::*;
use serde_json::json;

use crate::failure::Failure;

/// Runs the program to its end and returns its exit status. For a process of its own: it takes SIGTERM and
/// SIGINT for itself.
#[pyfunction]
pub fn disk_model(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| program::run(arguments))
}

/// All parameters of the disk of so many bytes that `KEY=VALUE,…` makes, those of its profile included.
#[pyfunction]
pub fn disk_model_parameters(text: &str, size_bytes: u64) -> PyResult<String> {
    let parameters = Parameters::parse(text).map_err(refused)?;
    parameters.build(size_bytes).map_err(refused)?;
    let found = json!({
        "profile": parameters.profile,
        "kind": parameters.kind_name(),
        "source": parameters.source(),
        "parameters": parameters.effective,
    });
    Ok(found.to_string())
}

/// The profiles, and the parameters with their help.
#[pyfunction]
pub fn disk_model_reference() -> String {
    let profiles = PROFILES.iter().map(|profile| {
        json!({
            "name": profile.name,
            "kind": profile.kind,
            "source": profile.source,
            "parameters": profile.parameters,
        })
    });
    let keys = KEYS
        .iter()
        .map(|key| json!({"name": key.name, "kinds": key.kinds, "help": key.help}));
    json!({"profiles": profiles.collect::<Vec<_>>(), "parameters": keys.collect::<Vec<_>>()})
        .to_string()
}

/// What ended in each second of a period, which is in nanoseconds since 1970, by the account in a file.
#[pyfunction]
pub fn disk_model_seconds(
    py: Python<'_>,
    path: PathBuf,
    from_ns: u64,
    to_ns: u64,
) -> PyResult<String> {
    let period = Period { from_ns, to_ns };
    let found = py.detach(move || account::seconds(&path, period));
    Ok(json!(found.map_err(refused)?).to_string())
}

fn refused(error: DiskError) -> PyErr {
    let message = error.to_string();
    let hint = match error {
        DiskError::Argument { hint, .. } => hint,
        _ => None,
    };
    Failure {
        kind: "document",
        message,
        hint,
        ..Failure::default()
    }
    .into_exception()
}
