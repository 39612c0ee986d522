//! Takes what a module raised; returns the engine's error, as Python's side describes it.

use assay_drivers::{ErrorClass, SystemError};
use pyo3::prelude::*;

/// What a call of a module ended in, if not in an answer.
pub enum Failure {
    /// It raised this.
    Raised(PyErr),
    /// The request cannot be passed on.
    Driver(SystemError),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// Takes an exception and the connection; returns (class, code, message, is unknown).
pub struct Describe(pub Py<PyAny>);

impl Describe {
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        Self(self.0.clone_ref(py))
    }

    /// `connection`: none while connecting.
    pub fn error(
        &self,
        py: Python<'_>,
        failure: Failure,
        connection: Option<&Py<PyAny>>,
    ) -> SystemError {
        let raised = match failure {
            Failure::Driver(error) => return error,
            Failure::Raised(raised) => raised,
        };
        let described = (self.0.bind(py).call1((raised.value(py), connection)))
            .and_then(|found| found.extract::<(String, String, String, bool)>());
        match described {
            Ok((class, code, message, is_unknown)) => {
                let class = ErrorClass::from_word(&class).unwrap_or(ErrorClass::Other);
                let error = SystemError::new(class, code, message);
                if is_unknown { error.unknown() } else { error }
            }
            // The describing function itself has failed.
            Err(error) => SystemError::new(ErrorClass::Other, "", error.to_string()).unknown(),
        }
    }
}
