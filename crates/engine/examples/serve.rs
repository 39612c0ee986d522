//! Reads a serve document from a file and runs that null server until it is killed: the server without
//! Python.
//!
//! ```console
//! $ cargo run --release --example serve -- document.json
//! ```

use std::ops::ControlFlow;
use std::process::ExitCode;

use assay_engine::{EngineError, ServeDocument, Served, serve};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("expected the path of a serve document");
        return ExitCode::from(2);
    };
    match run(&path) {
        Ok(served) => {
            println!("{served:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &str) -> Result<Served, EngineError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| EngineError::Document(format!("cannot be read: {error}")))?;
    let document = ServeDocument::parse(&text)?;
    serve(
        &document,
        &mut |listening| {
            println!("{listening:?}");
            ControlFlow::Continue(())
        },
        &mut || ControlFlow::Continue(()),
    )
}
