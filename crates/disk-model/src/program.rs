//! Takes the arguments of the program; does what they ask and returns its exit status.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use crate::account::{self, Row};
use crate::calibration::calibrate;
use crate::command_line::{Action, HELP, parse_arguments};
use crate::error::DiskError;
use crate::model::parameters::PROFILES;
use crate::serve;

/// The user's mistake.
const USAGE: u8 = 2;
/// The machine at fault.
const MACHINE: u8 = 3;

/// Runs the program to its end: of `serve`, until the disk is stopped. Returns the exit status.
pub fn run(arguments: impl IntoIterator<Item = String>) -> u8 {
    let done = parse_arguments(arguments).and_then(|action| match action {
        Action::Serve(options) => serve::serve(&options),
        Action::Calibrate(places) => {
            let found = calibrate(&places)?;
            print(|output| writeln!(output, "{found}"))
        }
        Action::Account(path) => print_account(&path),
        Action::Profiles => print(|output| write_profiles(output)),
        Action::Help => print(|output| output.write_all(HELP.as_bytes())),
    });
    let Err(error) = done else {
        return 0;
    };
    eprintln!("error: {error}");
    match error {
        DiskError::Argument { hint, .. } => {
            if let Some(hint) = hint {
                eprintln!("\nhint: {hint}");
            }
            USAGE
        }
        DiskError::File { .. } => USAGE,
        DiskError::Machine { .. } => MACHINE,
    }
}

/// To standard output; a reader that has seen enough is no error.
fn print(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), DiskError> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    match write(&mut output).and_then(|()| output.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => Err(DiskError::Machine {
            what: "cannot write to",
            path: "standard output".into(),
            source,
        }),
        _ => Ok(()),
    }
}

fn print_account(path: &Path) -> Result<(), DiskError> {
    let account = account::read(path)?;
    if account.lost > 0 {
        eprintln!(
            "warning: {} rows are missing: the disk was too fast for the file, or the file had no room",
            account.lost
        );
    }
    if account.is_cut {
        eprintln!("warning: the file ends within a row: its process was killed");
    }
    print(|output| {
        writeln!(
            output,
            "operation,offset,length,arrival_ns,start_ns,modelled_end_ns,end_ns,errno"
        )?;
        account.rows.iter().try_for_each(|row| write_row(output, row))
    })
}

fn write_row(output: &mut dyn Write, row: &Row) -> std::io::Result<()> {
    writeln!(
        output,
        "{},{},{},{},{},{},{},{}",
        format!("{:?}", row.operation).to_lowercase(),
        row.offset,
        row.length,
        row.arrival_ns,
        row.start_ns,
        row.modelled_end_ns,
        row.end_ns,
        row.errno
    )
}

fn write_profiles(output: &mut dyn Write) -> std::io::Result<()> {
    for profile in PROFILES {
        writeln!(output, "{} ({})", profile.name, profile.kind)?;
        writeln!(output, "    {}", profile.source)?;
        writeln!(output, "    {}", profile.parameters.replace(',', ", "))?;
    }
    Ok(())
}
