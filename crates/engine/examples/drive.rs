//! Reads a drive document from a file, runs it, and prints the observation: the engine without Python.
//!
//! ```console
//! $ cargo run --release --example drive -- document.json
//! ```

use std::ops::ControlFlow;
use std::process::ExitCode;

use assay_engine::{DriveDocument, DriveProgress, EngineError, Observation, drive};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("expected the path of a drive document");
        return ExitCode::from(2);
    };
    match run(&path) {
        Ok(observation) => {
            let text = serde_json::to_string_pretty(&observation);
            println!(
                "{}",
                text.expect("an observation is plain data, which JSON can hold")
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &str) -> Result<Observation, EngineError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| EngineError::Document(format!("cannot be read: {error}")))?;
    let document = DriveDocument::parse(&text)?;
    let mut print = |progress: &DriveProgress| {
        eprint!(
            "\r{:8.1} s  {} ended, {} failed",
            progress.elapsed_s, progress.done, progress.failed
        );
        ControlFlow::Continue(())
    };
    drive(&document, &mut print, &mut || ControlFlow::Continue(None))
}
