//! Takes the engine's progress; passes it to Python, and checks for signals such as Ctrl-C.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use serde::Serialize;

/// An optional Python callable, and the first exception raised by it or by a signal.
pub struct ProgressCallback {
    callback: Option<Py<PyAny>>,
    failure: Option<PyErr>,
}

impl ProgressCallback {
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Self {
            callback,
            failure: None,
        }
    }

    /// Reports to Python; breaks if Python returned `False`, raised an exception, or the user pressed Ctrl-C.
    pub fn report(&mut self, progress: &impl Serialize) -> ControlFlow<()> {
        let reported = Python::attach(|py| -> PyResult<ControlFlow<()>> {
            py.check_signals()?;
            if let Some(callback) = &self.callback {
                let text = serde_json::to_string(progress)
                    .expect("progress is plain numbers and words, which JSON can hold");
                let answer = callback.call1(py, (text,))?;
                if answer.bind(py).is(pyo3::types::PyBool::new(py, false)) {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        match reported {
            Ok(flow) => flow,
            Err(error) => {
                self.failure.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    /// When ready clients begin: at the nanoseconds since 1970 that Python's `ready` returns, or at once if
    /// it returns `None` or there is no such callable.
    pub fn start_time(&mut self, ready: Option<&Py<PyAny>>) -> ControlFlow<(), Option<u64>> {
        let Some(ready) = ready else {
            return ControlFlow::Continue(None);
        };
        let asked = Python::attach(|py| ready.call0(py)?.extract::<Option<u64>>(py));
        match asked {
            Ok(begin_unix_ns) => ControlFlow::Continue(begin_unix_ns),
            Err(error) => {
                self.failure.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    /// The exception that ended the work, if any; it takes precedence over the engine's error.
    pub fn into_failure(self) -> Option<PyErr> {
        self.failure
    }
}
