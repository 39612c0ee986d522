//! Takes what the engine tells of its progress; calls Python with it, and lets Ctrl-C in.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use serde::Serialize;

/// A Python callable, or none, and the first exception that came out of it or of a signal.
pub struct Listener {
    callback: Option<Py<PyAny>>,
    failure: Option<PyErr>,
}

impl Listener {
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Self {
            callback,
            failure: None,
        }
    }

    /// Tells Python; asks the engine to stop where Python raised, or the user pressed Ctrl-C.
    pub fn tell(&mut self, progress: &impl Serialize) -> ControlFlow<()> {
        let told = Python::attach(|py| -> PyResult<()> {
            py.check_signals()?;
            if let Some(callback) = &self.callback {
                let text = serde_json::to_string(progress)
                    .expect("progress is plain numbers and words, which JSON can hold");
                callback.call1(py, (text,))?;
            }
            Ok(())
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    /// When clients that are ready begin: the nanoseconds since 1970 that Python's `ready` gives, or at once
    /// where it gives none or there is no such callable.
    pub fn ask_when_to_begin(&mut self, ready: Option<&Py<PyAny>>) -> ControlFlow<(), Option<u64>> {
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

    /// The exception that ended the work, if one did: it goes before what the engine says of it.
    pub fn into_failure(self) -> Option<PyErr> {
        self.failure
    }
}
