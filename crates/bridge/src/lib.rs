//! Takes JSON documents from Python and hands them to the engine; gives JSON documents back. The only
//! crate that knows Python. The interpreter is free while anything here works.

mod bibliography;
mod failure;
mod progress;
mod session;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _engine {
    #[pymodule_export]
    use crate::bibliography::{bib_replicate, bib_scan, bib_synthesize, bib_write_sql};
    #[pymodule_export]
    use crate::failure::EngineError;
    #[pymodule_export]
    use crate::session::{Rows, Session};
    #[pymodule_export]
    use crate::work::{
        build_info, drive, drivers, explain, load, probe, script_reference, split_statements,
        statements,
    };
}
