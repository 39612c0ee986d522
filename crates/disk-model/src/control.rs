//! Takes commands as JSON lines on a Unix socket; answers each with one JSON line.
//!
//! ```text
//! {"command": "counters"}
//! {"command": "volatile"}
//! {"command": "power-cut", "keep": "random", "torn": "prefix", "seed": 7}
//! {"command": "power-on"}
//! {"command": "errors", "rules": [{"kind": "read", "offset": 0, "length": 4096}]}
//! {"command": "full", "after_bytes": 1048576}
//! {"command": "path-cost", "costs": {"read": [[1, 53000], [14.5, 120000]], "write": [], "flush": []}}
//! {"command": "pace", "is_paced": false}
//! {"command": "account"}
//! {"command": "stop"}
//! ```
//!
//! An answer has `"ok": true` and what was asked for, or `"ok": false` and an `error`.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::calibration::PathCosts;
use crate::device::Device;
use crate::error::DiskError;
use crate::faults::Rule;
use crate::volatile::PowerCut;

/// A command is at most so long: a few thousand numbers of writes.
const MAX_LINE_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
enum Command {
    Counters,
    Volatile,
    PowerCut(PowerCut),
    PowerOn,
    Errors { rules: Vec<Rule> },
    Full { after_bytes: Option<u64> },
    PathCost { costs: PathCosts },
    Pace { is_paced: bool },
    Account,
    Stop,
}

/// Listens on a new socket, for its owner alone; `stopped` hears of `stop`.
pub fn listen(path: &Path, device: Arc<Device>, stopped: Sender<()>) -> Result<(), DiskError> {
    let listener =
        UnixListener::bind(path).map_err(DiskError::machine("cannot make the socket", path))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(DiskError::machine("cannot make the socket", path))?;
    let accept = move || {
        for stream in listener.incoming().flatten() {
            let (device, stopped) = (Arc::clone(&device), stopped.clone());
            // A client that cannot have a thread sees its connection closed.
            let _ = std::thread::Builder::new()
                .name("control".to_owned())
                .spawn(move || converse(stream, &device, &stopped));
        }
    };
    std::thread::Builder::new()
        .name("control".to_owned())
        .spawn(accept)
        .map(|_| ())
        .map_err(DiskError::machine("cannot start the thread of", path))
}

/// Until the client closes the connection, or breaks it: then there is nobody to tell.
fn converse(stream: UnixStream, device: &Device, stopped: &Sender<()>) {
    let Ok(mut answers) = stream.try_clone() else {
        return;
    };
    let mut lines = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let read = (&mut lines).take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let (answer, is_stop) = match serde_json::from_slice(&line) {
            Ok(command) => {
                let is_stop = matches!(command, Command::Stop);
                let failed = |error: DiskError| json!({"ok": false, "error": error.to_string()});
                (execute(command, device).unwrap_or_else(failed), is_stop)
            }
            Err(error) => {
                let message = format!("expected a command in JSON: {error}");
                (json!({"ok": false, "error": message}), false)
            }
        };
        let is_sent = answers.write_all(format!("{answer}\n").as_bytes()).is_ok();
        if is_stop {
            // If no thread receives it, the run is ending already.
            let _ = stopped.send(());
        }
        let is_whole = line.ends_with(b"\n");
        if !is_sent || !is_whole {
            return;
        }
    }
}

fn execute(command: Command, device: &Device) -> Result<Value, DiskError> {
    Ok(match command {
        Command::Counters => json!({
            "ok": true,
            "counters": device.counters(),
            "is_powered": device.is_powered(),
            "has_been_full": device.has_been_full(),
        }),
        Command::Volatile => json!({"ok": true, "writes": device.volatile_writes()}),
        Command::PowerCut(cut) => json!({"ok": true, "lost": device.power_cut(&cut)?}),
        Command::PowerOn => {
            device.power_on()?;
            json!({"ok": true})
        }
        Command::Errors { rules } => {
            device.set_errors(rules)?;
            json!({"ok": true})
        }
        Command::Full { after_bytes } => {
            device.set_full(after_bytes);
            json!({"ok": true})
        }
        Command::PathCost { costs } => {
            device.set_path_costs(costs);
            json!({"ok": true})
        }
        Command::Pace { is_paced } => {
            device.set_paced(is_paced)?;
            json!({"ok": true})
        }
        Command::Account => {
            device.wait_until_accounted();
            json!({"ok": true})
        }
        Command::Stop => json!({"ok": true}),
    })
}
