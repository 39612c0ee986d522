//! Takes the documents of drives and scripts; returns the engine's reports as JSON.

use std::cell::RefCell;

use assay_engine::{DelayDocument, DeploymentDocument, DriveDocument, Latency, ServeDocument};
use assay_histogram::{EncodedHistogram, merge_encoded};
use assay_script::expression::{Origin, compile};
use assay_script::{Source, StatementKind};
use assay_values::{Random, Value};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::{Failure, raise};
use crate::progress::ProgressCallback;

/// Parses the document in `text`, or returns an error that names it and the place.
pub fn parsed<T: DeserializeOwned>(text: &str, name: &str) -> PyResult<T> {
    serde_json::from_str(text)
        .map_err(|error| Failure::document(format!("{name} document: {error}")).into_exception())
}

pub fn printed(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("reports are plain data, which JSON can hold")
}

#[pyfunction]
#[pyo3(signature = (document, progress=None, ready=None))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "Python hands the object over"
)]
pub fn drive(
    py: Python<'_>,
    document: &str,
    progress: Option<Py<PyAny>>,
    ready: Option<Py<PyAny>>,
) -> PyResult<String> {
    let document = DriveDocument::parse(document).map_err(raise)?;
    let callback = ProgressCallback::new(progress);
    let (callback, observed) = py.detach(|| {
        let callback = RefCell::new(callback);
        let observed = assay_engine::drive(
            &document,
            &mut |progress| callback.borrow_mut().report(progress),
            &mut || callback.borrow_mut().start_time(ready.as_ref()),
        );
        (callback.into_inner(), observed)
    });
    ended(callback, observed.map_err(raise))
}

/// Raises if this machine does not allow this many clients of a driver, on this many threads.
#[pyfunction]
pub fn check_clients(driver: &str, clients: u32, threads: u32) -> PyResult<()> {
    assay_engine::check_clients(driver, clients, threads).map_err(raise)
}

/// Raises if this machine does not allow this many sessions of a load.
#[pyfunction]
pub fn check_load_sessions(sessions: u32) -> PyResult<()> {
    assay_engine::check_load_sessions(sessions).map_err(raise)
}

#[pyfunction]
#[pyo3(signature = (deployment, upto, look=None))]
pub fn probe(
    py: Python<'_>,
    deployment: &str,
    upto: u32,
    look: Option<Py<PyAny>>,
) -> PyResult<String> {
    let deployment = DeploymentDocument::parse(deployment).map_err(raise)?;
    let mut callback = ProgressCallback::new(look);
    let go_on = &mut || callback.report(&());
    let found = py.detach(|| assay_engine::probe(&deployment, upto, go_on));
    ended(callback, found.map_err(raise))
}

/// The instructions of a drive document's scripts; no server is contacted.
#[pyfunction]
pub fn explain(document: &str) -> PyResult<String> {
    let document = DriveDocument::parse(document).map_err(raise)?;
    assay_engine::compile(&document)
        .map(|program| program.explain())
        .map_err(raise)
}

/// Whether the text is a distribution of durations.
#[pyfunction]
pub fn is_distribution(text: &str) -> bool {
    assay_values::Distribution::parse(text).is_some()
}

/// (transaction, text) of every statement of a drive document's scripts, as it is sent.
#[pyfunction]
pub fn statements(document: &str) -> PyResult<Vec<(String, String)>> {
    let document = DriveDocument::parse(document).map_err(raise)?;
    let program = assay_engine::compile(&document).map_err(raise)?;
    Ok(program
        .statements
        .iter()
        .map(|statement| {
            (
                program.scripts[statement.script as usize].name.clone(),
                statement.text.clone(),
            )
        })
        .collect())
}

#[pyfunction]
pub fn never_prepared(document: &str) -> PyResult<Vec<(String, u32, u32)>> {
    let document = DriveDocument::parse(document).map_err(raise)?;
    let program = assay_engine::compile(&document).map_err(raise)?;
    Ok(program
        .statements
        .iter()
        .filter(|one| one.kind == StatementKind::Other && !assay_engine::is_prepared(one))
        .filter(|one| !one.is_operation)
        .map(|one| {
            let script = &program.scripts[one.script as usize];
            (script.path.clone(), one.line, one.column)
        })
        .collect())
}

/// (path, line, column, message, fix) of a script's probable mistake.
type ScriptWarning = (String, u32, u32, String, Option<String>);

#[pyfunction]
pub fn script_warnings(document: &str) -> PyResult<Vec<ScriptWarning>> {
    let document = DriveDocument::parse(document).map_err(raise)?;
    let program = assay_engine::compile(&document).map_err(raise)?;
    Ok((program.warnings.into_iter())
        .map(|found| {
            (
                found.path,
                found.line,
                found.column,
                found.message,
                found.hint,
            )
        })
        .collect())
}

#[pyfunction]
pub fn split_statements(
    text: &str,
    path: &str,
    style: TextStyle,
) -> PyResult<Vec<(String, u32, u32)>> {
    let source = Source {
        name: path,
        path,
        text,
        is_plain: true,
    };
    assay_script::split_statements(&source, style.into())
        .map(|found| {
            found
                .into_iter()
                .map(|statement| (statement.text, statement.line, statement.column))
                .collect()
        })
        .map_err(|error| Failure::from(error).into_exception())
}

#[pyfunction]
pub fn languages() -> Vec<&'static str> {
    (assay_script::Lexer::ALL.iter())
        .map(|&(name, _)| name)
        .collect()
}

#[pyfunction]
pub fn cut_at_names(text: &str, style: TextStyle) -> Vec<String> {
    (assay_script::cut_at_names(text, style.into()).into_iter())
        .map(str::to_owned)
        .collect()
}

/// The attributes of the class of that name in Python.
#[derive(FromPyObject)]
pub struct TextStyle {
    backslash_escapes: bool,
    nests_comments: bool,
    bracketed_names: bool,
}

impl From<TextStyle> for assay_script::TextStyle {
    fn from(style: TextStyle) -> Self {
        Self {
            backslash_escapes: style.backslash_escapes,
            nests_comments: style.nests_comments,
            bracketed_names: style.bracketed_names,
        }
    }
}

#[pyfunction]
pub fn script_reference() -> String {
    assay_script::reference()
}

#[pyfunction]
pub fn drivers() -> Vec<&'static str> {
    assay_engine::driver_names()
}

#[pyfunction]
pub fn drivers_with_transactions() -> Vec<&'static str> {
    assay_engine::drivers_with_transactions()
}

#[pyfunction]
pub fn expected_of_option(driver: &str, name: &str, value: &str) -> PyResult<Option<String>> {
    assay_engine::expected_of_option(driver, name, value).map_err(raise)
}

#[derive(Serialize)]
struct BuildInfo {
    version: &'static str,
    profile: &'static str,
    drivers: Vec<&'static str>,
}

#[pyfunction]
pub fn build_info() -> String {
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    printed(&BuildInfo {
        version: env!("CARGO_PKG_VERSION"),
        profile,
        drivers: drivers(),
    })
}

/// The report, or the exception if Python raised one meanwhile.
pub fn ended<T: Serialize>(callback: ProgressCallback, report: PyResult<T>) -> PyResult<String> {
    match callback.into_failure() {
        Some(failure) => Err(failure),
        None => report.map(|report| printed(&report)),
    }
}

// Takes distributions as JSON and merges them; also returns the JSON Schema of an observation.

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

// Takes the document of a null server or of a delay proxy; runs it until a signal arrives.

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

// Takes an expression and the values of its names; returns its value to Python.

/// A value passed from Python.
#[derive(FromPyObject)]
pub enum PythonValue {
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
}

/// The value of an expression with these constants; random functions use a fixed stream.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    text: &str,
    constants: Vec<(String, PythonValue)>,
    file: &str,
    line: u32,
    column: u32,
) -> PyResult<Py<PyAny>> {
    let constants: Vec<(String, Value)> = constants
        .into_iter()
        .map(|(name, given)| (name, value_of(given)))
        .collect();
    let origin = Origin {
        path: file,
        line,
        column,
    };
    let value = compile(text, &[], &constants, origin)
        .map_err(|error| Failure::from(error).into_exception())?
        .evaluate(&[], &mut Random::stream(0, 0))
        .map_err(|fault| Failure {
            kind: "script",
            message: fault.to_string(),
            file: file.to_owned(),
            line: line.into(),
            column: column.into(),
            ..Failure::default()
        })
        .map_err(Failure::into_exception)?;
    match value {
        Value::Null => Ok(py.None()),
        Value::Bool(value) => value.into_py_any(py),
        Value::Int(value) => value.into_py_any(py),
        Value::Double(value) => value.into_py_any(py),
        Value::Bytes(value) => value.into_py_any(py),
        other => other.to_text().into_py_any(py),
    }
}

fn value_of(given: PythonValue) -> Value {
    match given {
        PythonValue::Bool(value) => Value::Bool(value),
        PythonValue::Int(value) => Value::Int(value),
        PythonValue::Double(value) => Value::Double(value),
        PythonValue::Text(value) => Value::Text(value.into()),
    }
}
