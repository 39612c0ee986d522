//! Takes the arguments of the program; returns what it should do.

use std::path::PathBuf;

use crate::calibration::Places;
use crate::error::DiskError;
use crate::model::{Parameters, parameters};
use crate::serve::{ImagePlace, Options};

/// What `--help` prints.
pub const HELP: &str = "\
Usage: assay-disk-model serve --image FILE --size SIZE --mount DIRECTORY [OPTIONS]
       assay-disk-model calibrate --device DEVICE --control SOCKET
       assay-disk-model account FILE
       assay-disk-model profiles

serve     Serve a modelled disk as the file DIRECTORY/disk, until SIGTERM.
calibrate Read a served disk through its loop device; subtract what the way costs.
account   Print an account as CSV.
profiles  List the disks that have names, with their parameters.

Options of serve:
  --image FILE|memory   where the bytes are kept
  --size SIZE           size of the disk, as 512M or 2G
  --mount DIRECTORY     an empty directory for the FUSE mount
  --name NAME           name of the file [default: disk]
  --model KEY=VALUE,..  the disk, as profile=scsi-15k,queue=1 [default: profile=hdd-7200]
  --control SOCKET      take commands, as JSON lines, on this new Unix socket
  --account FILE        write every request with its times to this new file
  --path-cost TIME      answer so much earlier, as the way to the disk takes it [default: 0]
  --end-with-parent     end when the process that started this one ends

Example: assay-disk-model serve --image disk.img --size 2G --mount /mnt/disk --model profile=scsi-15k
";

/// What to do.
#[derive(Clone, Debug)]
pub enum Action {
    /// Serve a disk.
    Serve(Box<Options>),
    /// Measure the way to a served disk.
    Calibrate(Places),
    /// Print an account.
    Account(PathBuf),
    /// List the profiles.
    Profiles,
    /// Print the help.
    Help,
}

fn wrong(message: impl Into<String>) -> DiskError {
    DiskError::hinted(message, "assay-disk-model --help lists what there is")
}

/// Reads the arguments, without the program's name.
///
/// # Errors
///
/// An unknown or missing argument, or a value that is impossible.
pub fn parse_arguments(arguments: impl IntoIterator<Item = String>) -> Result<Action, DiskError> {
    let mut arguments = arguments.into_iter();
    let Some(command) = arguments.next() else {
        return Err(wrong(
            "expected a command: serve, calibrate, account or profiles",
        ));
    };
    let action = match command.as_str() {
        "--help" | "-h" => return Ok(Action::Help),
        "serve" => return serve_options(arguments),
        "calibrate" => return calibrate_places(arguments),
        "profiles" => Action::Profiles,
        "account" => {
            let file = arguments.next();
            Action::Account(
                file.ok_or_else(|| wrong("account: expected a file"))?
                    .into(),
            )
        }
        _ => return Err(wrong(format!("there is no command {command:?}"))),
    };
    match arguments.next() {
        Some(more) => Err(wrong(format!("{command}: unexpected argument {more:?}"))),
        None => Ok(action),
    }
}

fn serve_options(mut arguments: impl Iterator<Item = String>) -> Result<Action, DiskError> {
    let (mut image, mut size_bytes, mut mount) = (None, None, None);
    let (mut control, mut account, mut path_cost_ns) = (None, None, 0);
    let (mut model, mut name_of_file) = (String::new(), "disk".to_owned());
    let mut ends_with_parent = false;
    while let Some(name) = arguments.next() {
        if name == "--help" || name == "-h" {
            return Ok(Action::Help);
        }
        if name == "--end-with-parent" {
            ends_with_parent = true;
            continue;
        }
        let known = [
            "--image",
            "--size",
            "--mount",
            "--name",
            "--model",
            "--control",
            "--account",
            "--path-cost",
        ];
        if !known.contains(&name.as_str()) {
            return Err(wrong(format!("serve: there is no option {name:?}")));
        }
        let value = arguments
            .next()
            .ok_or_else(|| wrong(format!("{name}: expected a value")))?;
        match name.as_str() {
            "--image" if value == "memory" => image = Some(ImagePlace::Memory),
            "--image" => image = Some(ImagePlace::File(value.into())),
            "--size" => size_bytes = Some(disk_size(&value)?),
            "--mount" => mount = Some(PathBuf::from(value)),
            "--name" => name_of_file = file_name(value)?,
            "--model" => model = value,
            "--control" => control = Some(PathBuf::from(value)),
            "--account" => account = Some(PathBuf::from(value)),
            _ => path_cost_ns = parameters::duration_ns(&name, &value)?,
        }
    }
    let missing = |name: &str| wrong(format!("serve: the option {name} is missing"));
    Ok(Action::Serve(Box::new(Options {
        parameters: Parameters::parse(&model)?,
        image: image.ok_or_else(|| missing("--image"))?,
        size_bytes: size_bytes.ok_or_else(|| missing("--size"))?,
        mount: mount.ok_or_else(|| missing("--mount"))?,
        name: name_of_file,
        control,
        account,
        path_cost_ns,
        ends_with_parent,
    })))
}

fn calibrate_places(mut arguments: impl Iterator<Item = String>) -> Result<Action, DiskError> {
    let (mut device, mut control) = (None, None);
    while let Some(name) = arguments.next() {
        let place = match name.as_str() {
            "--help" | "-h" => return Ok(Action::Help),
            "--device" => &mut device,
            "--control" => &mut control,
            _ => return Err(wrong(format!("calibrate: there is no option {name:?}"))),
        };
        let value = arguments.next();
        *place = Some(value.ok_or_else(|| wrong(format!("{name}: expected a value")))?);
    }
    let missing = |name: &str| wrong(format!("calibrate: the option {name} is missing"));
    Ok(Action::Calibrate(Places {
        device: device.ok_or_else(|| missing("--device"))?.into(),
        control: control.ok_or_else(|| missing("--control"))?.into(),
    }))
}

/// One component of a path.
fn file_name(text: String) -> Result<String, DiskError> {
    if text.is_empty() || text == "." || text == ".." || text.contains('/') {
        return Err(DiskError::argument(format!(
            "--name: expected the name of a file, found {text:?}"
        )));
    }
    Ok(text)
}

/// A whole number of the larger sectors, and at most what offsets of files reach.
fn disk_size(text: &str) -> Result<u64, DiskError> {
    let bytes = parameters::size_bytes("--size", text)?;
    if bytes == 0 || !bytes.is_multiple_of(4096) || bytes > 1 << 50 {
        return Err(DiskError::argument(format!(
            "--size: expected a multiple of 4096 bytes, found {text:?}"
        )));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Action, parse_arguments};

    fn parsed(line: &str) -> Result<Action, String> {
        let words = line.split_whitespace().map(str::to_owned);
        parse_arguments(words).map_err(|error| error.to_string())
    }

    #[test]
    fn wrong_arguments_are_refused_in_a_sentence() {
        for (line, part) in [
            ("", "expected a command"),
            ("sirve", "there is no command"),
            ("serve --image memory --size 1G", "--mount is missing"),
            ("serve --imaje x", "no option \"--imaje\""),
            ("serve --size", "expected a value"),
            ("serve --size 5", "multiple of 4096"),
            ("serve --size 0", "multiple of 4096"),
            ("serve --path-cost 5", "a time with its unit"),
            (
                "serve --image memory --size 1G --mount /x --model rpm=1",
                "rpm",
            ),
            ("serve --name a/b", "the name of a file"),
            ("calibrate --device /dev/loop0", "--control is missing"),
            ("calibrate --speed 1", "no option \"--speed\""),
            ("account", "expected a file"),
            ("profiles now", "unexpected argument"),
        ] {
            let message = parsed(line).expect_err(line);
            assert!(message.contains(part), "{line}: {message}");
        }
        let line =
            "serve --image memory --size 1G --mount /mnt/x --path-cost 25us --end-with-parent";
        let Ok(Action::Serve(options)) = parsed(line) else {
            panic!("accepted");
        };
        assert_eq!(options.size_bytes, 1 << 30);
        assert_eq!(options.path_cost_ns, 25_000);
        assert!(options.ends_with_parent);
    }
}
