//! The driver `dbapi`: takes requests; calls any Python module that follows DB-API 2.0 (PEP 249), and returns
//! its answers. The interpreter lock is held during each call; a module releases it while it waits.

mod connection;
mod fetch;
mod null_module;
mod parameter;
mod process;

use assay_drivers::{Answer, Blocking, ErrorClass, Keep, LocalOptions, Request, SystemError};
use pyo3::prelude::*;

use crate::dbapi::connection::{DbapiSession, Describe, Failure, Parts, Transactions};
use crate::dbapi::fetch::Reader;
use crate::dbapi::parameter::{Binder, Options, ParameterStyle};
use crate::dbapi::process::Connecting;

pub use null_module::{NullDbapiConnection, NullDbapiCursor};
pub use process::{connects_are_measured, end_with_parent};

/// Names of the drivers that call Python, of which a process runs one thread at a time.
#[pyfunction]
pub fn python_drivers() -> Vec<&'static str> {
    vec!["dbapi"]
}

// Takes a deployment; has Python import the module and connect; returns the session.

/// The Python side of the driver.
const MODULE: &str = "assay.provision.engine.dbapi";

/// Opens a session, and runs its first statements.
///
/// # Errors
/// If the module cannot be imported, does not connect, or refuses a statement.
pub fn open(deployment: &LocalOptions<'_>) -> Result<Box<dyn Blocking>, SystemError> {
    let connecting = Connecting::begin(deployment.connect_timeout);
    let opened = Python::attach(|py| connect(py, deployment.options, deployment.password));
    drop(connecting);
    let mut session = opened.map_err(|error| match error.class {
        // While connecting nothing is lost.
        ErrorClass::LostConnection => SystemError {
            class: ErrorClass::ConnectionRefused,
            ..error
        },
        _ => error,
    })?;
    let mut answer = Answer::default();
    for statement in deployment.session_statements {
        answer.clear(Keep::Count);
        session.request(&Request::Text(statement), &mut answer)?;
        if let Some(error) = answer.error.take() {
            let message = format!("session statement {statement:?}: {}", error.message);
            return Err(SystemError { message, ..error });
        }
    }
    Ok(Box::new(session))
}

fn connect(
    py: Python<'_>,
    options: &Options,
    password: Option<&str>,
) -> Result<DbapiSession, SystemError> {
    let python = |error: PyErr| SystemError::new(ErrorClass::Other, "", error.to_string());
    let opening = py.import(MODULE).map_err(python)?;
    let describer =
        (opening.call_method1("describer", (options.clone(), password))).map_err(python)?;
    let describe = Describe(describer.unbind());
    let connected = (|| -> Result<DbapiSession, Failure> {
        let opened = opening.call_method1("open_session", (options.clone(), password))?;
        let style: String = opened.getattr("paramstyle")?.extract()?;
        let style = ParameterStyle::parse(&style).map_err(Failure::Driver)?;
        let optional = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let found = opened.getattr(name)?;
            Ok((!found.is_none()).then(|| found.unbind()))
        };
        let begin = options.get("begin").filter(|text| !text.is_empty());
        let autocommit = optional("autocommit")?;
        let transactions = match (begin, autocommit) {
            (Some(begin), Some(_)) => Transactions::ByStatement(begin.as_str().into()),
            (_, Some(autocommit)) => Transactions::ByAutocommit {
                switch: autocommit,
                is_on: true,
            },
            (_, None) => Transactions::Implicit,
        };
        let connection = opened.getattr("connection")?.unbind();
        let version = opened.getattr("version")?.extract()?;
        Ok(DbapiSession::new(Parts {
            style,
            transactions,
            connection,
            cancel: optional("cancel")?,
            version,
            binder: Binder::new(py, options)?,
            reader: Reader::new(py, opening.getattr("text_of")?.unbind())?,
            describe: describe.clone_ref(py),
        }))
    })();
    connected.map_err(|failure| describe.error(py, failure, None))
}
