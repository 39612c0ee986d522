//! Starts a private PostgreSQL server of this machine for one test, and stops it at the end.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_engine::{DeploymentDocument, Session};
use serde_json::{Value, json};

/// An unprivileged user, for a server that refuses root.
const NOBODY: u32 = 65_534;

pub struct Server {
    pub port: u16,
    programs: PathBuf,
    settings: Vec<String>,
    folder: tempfile::TempDir,
    process: Child,
}

impl Server {
    /// A server with these settings (`name=value`); `None`, with the reason printed, if this machine has
    /// none.
    pub fn start(settings: &[&str]) -> Option<Self> {
        let Some(programs) = newest_programs() else {
            // Written to stderr directly, since the test harness hides the output of tests that pass.
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
        let folder = tempfile::Builder::new()
            .prefix("assay-engine-")
            .tempdir()
            .unwrap();
        give_to_server(folder.path());
        let initdb = [
            "-U",
            "postgres",
            "--auth=trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ];
        let made = program(&programs, "initdb")
            .args(initdb)
            .arg("-D")
            .arg(folder.path().join("data"))
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success(), "initdb failed");
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let process = serve(&programs, folder.path(), port, &settings);
        let mut server = Self {
            port,
            programs,
            settings,
            folder,
            process,
        };
        server.wait_until_ready();
        Some(server)
    }

    /// Its deployment, through the Unix socket.
    pub fn deployment(&self) -> Value {
        json!({ "driver": "postgresql", "unix": self.socket(), "user": "postgres" })
    }

    pub fn session(&self) -> Session {
        Session::open(&DeploymentDocument::parse(&self.deployment().to_string()).unwrap()).unwrap()
    }

    /// The first cell of the answer's first row.
    pub fn value(&self, statement: &str) -> String {
        let answer = self.session().execute(statement).unwrap();
        let cell = answer.kept[0][0].as_deref().unwrap();
        String::from_utf8(cell.to_vec()).unwrap()
    }

    /// Kills the server's main process, as in a crash.
    pub fn crash(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Restarts the server on the same port; to be called by the thread that ends last, since the server is
    /// killed when the thread that started it ends.
    pub fn restart(&mut self) {
        self.process = serve(
            &self.programs,
            self.folder.path(),
            self.port,
            &self.settings,
        );
        self.wait_until_ready();
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join(format!(".s.PGSQL.{}", self.port))
    }

    fn wait_until_ready(&mut self) {
        let begun = Instant::now();
        // The socket exists a little before connections are accepted.
        let deployment = DeploymentDocument::parse(&self.deployment().to_string()).unwrap();
        while Session::open(&deployment).is_err() {
            let has_ended = self.process.try_wait().unwrap().is_some();
            if has_ended || begun.elapsed() > Duration::from_secs(60) {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("the server does not start: {log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            // Immediate shutdown; the folder is removed with it.
            let _ = Command::new("kill")
                .args(["-QUIT", &self.process.id().to_string()])
                .status();
            let _ = self.process.wait();
        }
    }
}

/// Starts the server's process, with its log in its folder.
fn serve(programs: &Path, folder: &Path, port: u16, settings: &[String]) -> Child {
    let log = fs::File::create(folder.join("log")).unwrap();
    program(programs, "postgres")
        .arg("-D")
        .arg(folder.join("data"))
        .arg("-k")
        .arg(folder)
        .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-F"])
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Makes the server's user the owner of `path` if this test runs as root.
pub fn give_to_server(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A program of the server, as a user it accepts; it is killed when this test ends.
fn program(programs: &Path, name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "QUIT"]);
    if is_root() {
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
    let folder = |version: u32| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"));
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    versions
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|version| folder(*version).join("postgres").exists())
        .max()
        .map(folder)
}
