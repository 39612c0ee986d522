//! Takes JSON documents from Python and passes them to the engine; returns JSON documents. The only crate
//! that depends on Python. The interpreter lock is released while the engine works.

mod bibliography;
mod confinement;
mod dbapi;
mod descriptor;
mod disk_model;
mod expression;
mod failure;
mod observation;
mod progress;
mod python_rows;
mod rows;
mod serve;
mod session;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _engine {
    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        assay_drivers::dbapi::opened_by(crate::dbapi::open);
        Ok(())
    }

    #[pymodule_export]
    use crate::bibliography::{bib_replicate, bib_scan, bib_synthesize, bib_write_sql};
    #[pymodule_export]
    use crate::confinement::{become_confined_program, confine_thread, enter_own_network};
    #[pymodule_export]
    use crate::dbapi::{
        NullDbapiConnection, NullDbapiCursor, connects_are_measured, end_with_parent,
        python_drivers,
    };
    #[pymodule_export]
    use crate::disk_model::{
        disk_model, disk_model_parameters, disk_model_reference, disk_model_seconds,
    };
    #[pymodule_export]
    use crate::expression::evaluate;
    #[pymodule_export]
    use crate::failure::EngineError;
    #[pymodule_export]
    use crate::observation::{merge_latency, observation_schema};
    #[pymodule_export]
    use crate::rows::{generate, load, measure};
    #[pymodule_export]
    use crate::serve::{delay, null_protocols, serve};
    #[pymodule_export]
    use crate::session::{Rows, Session, query};
    #[pymodule_export]
    use crate::work::{
        build_info, check_clients, check_load_sessions, cut_at_names, drive, drivers,
        drivers_with_transactions, expected_of_option, explain, is_distribution, languages,
        never_prepared, probe, script_reference, script_warnings, split_statements, statements,
    };
}
