//! Takes JSON documents from Python and passes them to the engine; returns JSON documents. The only crate
//! that depends on Python. The interpreter lock is released while the engine works.

mod confinement;
mod dbapi;
mod disk_model;
mod failure;
mod progress;
mod python_rows;
mod rows;
mod session;
mod toml_places;
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
    use crate::failure::EngineError;
    #[pymodule_export]
    use crate::rows::{
        bib_replicate, bib_scan, bib_synthesize, bib_write_sql, generate, load, measure,
    };
    #[pymodule_export]
    use crate::session::{Rows, Session, query};
    #[pymodule_export]
    use crate::toml_places::TomlPlaces;
    #[pymodule_export]
    use crate::work::{
        build_info, check_clients, check_load_sessions, cut_at_names, delay, drive, drivers,
        drivers_with_transactions, evaluate, expected_of_option, explain, is_distribution,
        languages, merge_latency, never_prepared, null_protocols, observation_schema, probe,
        script_reference, script_warnings, serve, split_statements, statements,
    };
}
