//! Takes arguments; serves a modelled disk, or prints an account or the profiles.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(assay_disk_model::program::run(std::env::args().skip(1)))
}
