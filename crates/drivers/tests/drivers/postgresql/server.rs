//! Starts a private PostgreSQL server for one test with the installed programs; stops it when it is dropped.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub struct Server {
    pub socket: PathBuf,
    pub port: u16,
    root: PathBuf,
    process: Child,
}

const NOBODY: u32 = 65_534;

impl Server {
    /// `None`, with the reason printed, if PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let Some(programs) = newest_programs() else {
            // Directly to standard error, because the test harness hides the output of passing tests.
            let _ = std::io::Write::write_all(
                &mut std::io::stderr(),
                concat!(
                    "skipped: no /usr/lib/postgresql/*/bin/postgres on this machine",
                    "\n"
                )
                .as_bytes(),
            );
            return None;
        };
        let root = std::env::temp_dir().join(format!("assay-pg-{}", std::process::id()));
        fs::create_dir(&root).expect("the temporary directory is writable");
        let is_root = fs::metadata(&root).expect("it was just made").uid() == 0;
        if is_root {
            chown(&root, Some(NOBODY), Some(NOBODY)).expect("root may change owners");
        }
        let data = root.join("data");
        let log = fs::File::create(root.join("log")).expect("the directory is writable");
        let made = program(&programs, "initdb", is_root)
            .args([
                "-U",
                "postgres",
                "--auth=trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
                "-D",
            ])
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(log.try_clone().expect("a file can be shared"))
            .status()
            .expect("initdb starts");
        assert!(
            made.success(),
            "initdb: {}",
            fs::read_to_string(root.join("log")).unwrap_or_default()
        );
        fs::write(data.join("pg_hba.conf"), HOST_ACCESS).expect("the directory is accessible");
        let free = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let process = program(&programs, "postgres", is_root)
            .arg("-D")
            .arg(&data)
            .args([
                "-p",
                &port.to_string(),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "fsync=off",
                "-k",
            ])
            .arg(&root)
            .stderr(log)
            .spawn()
            .expect("postgres starts");
        let socket = root.join(format!(".s.PGSQL.{port}"));
        let mut server = Self {
            socket,
            port,
            root,
            process,
        };
        server.wait_until_ready();
        Some(server)
    }

    /// Line 8 of the server's pid file is its state. (Before it is ready, it refuses connections.)
    fn is_ready(&self) -> bool {
        let pid_file =
            fs::read_to_string(self.root.join("data/postmaster.pid")).unwrap_or_default();
        pid_file
            .lines()
            .nth(7)
            .is_some_and(|state| state.trim() == "ready")
    }

    fn wait_until_ready(&mut self) {
        let begun = Instant::now();
        while !self.is_ready() {
            let ended = self
                .process
                .try_wait()
                .expect("the status of a child process is available");
            let is_late = begun.elapsed() > Duration::from_secs(60);
            if ended.is_some() || is_late {
                panic!(
                    "postgres: {}",
                    fs::read_to_string(self.root.join("log")).unwrap_or_default()
                );
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// The Unix socket needs no password; over TCP the user name selects the authentication method.
const HOST_ACCESS: &str = "\
local all all trust
host all clear 127.0.0.1/32 password
host all hashed 127.0.0.1/32 md5
host all all 127.0.0.1/32 scram-sha-256
";

impl Drop for Server {
    fn drop(&mut self) {
        let stopped = Command::new("kill")
            .args(["-QUIT", &self.process.id().to_string()])
            .status();
        if !stopped.is_ok_and(|status| status.success()) {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A command for a program of the server, run as a user it accepts, that ends with this test.
fn program(programs: &Path, name: &str, is_root: bool) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "QUIT"]);
    if is_root {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command
        .arg("--")
        .arg(programs.join(name))
        .current_dir("/")
        .stdin(Stdio::null());
    command
        .env_clear()
        .env("LC_ALL", "C")
        .env("PATH", "/usr/bin:/bin");
    command
}

fn newest_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    versions
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .map(|version| {
            (
                version,
                PathBuf::from(format!("/usr/lib/postgresql/{version}/bin")),
            )
        })
        .filter(|(_, bin)| bin.join("postgres").exists() && bin.join("initdb").exists())
        .max()
        .map(|(_, bin)| bin)
}
