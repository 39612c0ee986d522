//! Starts a private server for the tests: PostgreSQL, MariaDB or MySQL, with a folder, a socket, a port and (as root) an
//! unprivileged user of its own. It ends when it is dropped, and with the thread that started it.
#![allow(dead_code, reason = "each program of tests uses a part")]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The user `nobody`: these servers refuse to run as root.
const NOBODY: u32 = 65_534;

/// PostgreSQL's Unix socket needs no password; over TCP the user name selects the authentication method.
const HOST_ACCESS: &str = "\
local all all trust
host all postgres 127.0.0.1/32 trust
host all clear 127.0.0.1/32 password
host all hashed 127.0.0.1/32 md5
host all all 127.0.0.1/32 scram-sha-256
";

pub struct Server {
    pub port: u16,
    pub socket: PathBuf,
    folder: PathBuf,
    start: Command,
    /// The signal that ends it at once.
    end: &'static str,
    process: Child,
}

impl Server {
    /// PostgreSQL with these settings (`name=value`); `None`, with the reason printed, if this machine has none.
    pub fn start(settings: &[&str]) -> Option<Self> {
        let Some(programs) = newest_postgresql() else {
            return skipped("no /usr/lib/postgresql/*/bin/postgres on this machine");
        };
        let (folder, port) = place("pg");
        let data = folder.join("data");
        let program = |name: &str| {
            let mut command = as_nobody(&programs.join(name), &folder, "QUIT");
            command
                .env_clear()
                .env("LC_ALL", "C")
                .env("PATH", "/usr/bin:/bin");
            command.arg("-D").arg(&data);
            command
        };
        let mut install = program("initdb");
        install.args(["-U", "postgres", "--auth=trust", "-E", "UTF8"]);
        install.args(["--locale=C", "--no-sync"]);
        finish(install, &folder);
        fs::write(data.join("pg_hba.conf"), HOST_ACCESS).expect("the folder is accessible");
        let mut start = program("postgres");
        start.arg("-k").arg(&folder);
        start.args(["-p", &port.to_string(), "-h", "127.0.0.1", "-F"]);
        start.args(settings.iter().flat_map(|setting| ["-c", setting]));
        let socket = folder.join(format!(".s.PGSQL.{port}"));
        Some(Self::started(start, folder, port, socket, "QUIT"))
    }

    /// Debian's MariaDB; `None` as above.
    pub fn mariadb() -> Option<Self> {
        let (Some(installer), Some(server)) = (find("mariadb-install-db"), find("mariadbd")) else {
            return skipped("MariaDB is not on this machine");
        };
        let (folder, port) = place("mariadb");
        let mut install = as_nobody(&installer, &folder, "KILL");
        install.args(["--no-defaults", "--skip-test-db"]);
        install.arg("--auth-root-authentication-method=normal");
        install.arg(format!("--datadir={}", folder.join("data").display()));
        install.arg(format!("--tmpdir={}", folder.display()));
        finish(install, &folder);
        Some(Self::of_mysql(&server, &[], folder, port))
    }

    /// A MySQL server, whose program (or a script that starts it) an environment variable names; `None` as above.
    pub fn mysql() -> Option<Self> {
        let named = std::env::var_os("ASSAY_TEST_MYSQLD").filter(|path| !path.is_empty());
        let Some(program) = named.map(PathBuf::from) else {
            return skipped("ASSAY_TEST_MYSQLD does not name a MySQL server's program");
        };
        let mut own = own_files(&program);
        let (folder, port) = place("mysql");
        let mut install = as_nobody(&program, &folder, "KILL");
        install.arg("--no-defaults").args(&own);
        install.arg("--initialize-insecure");
        install.arg(format!("--datadir={}", folder.join("data").display()));
        finish(install, &folder);
        own.push("--mysqlx=OFF".to_owned());
        Some(Self::of_mysql(&program, &own, folder, port))
    }

    fn of_mysql(program: &Path, own: &[String], folder: PathBuf, port: u16) -> Self {
        let path = |name: &str| folder.join(name).display().to_string();
        let mut start = as_nobody(program, &folder, "KILL");
        start.arg("--no-defaults").args(own);
        start.arg(format!("--datadir={}", path("data")));
        start.arg(format!("--socket={}", path("socket")));
        start.arg(format!("--pid-file={}", path("pid")));
        // At start a server removes other servers' temporary tables from a shared folder.
        start.arg(format!("--tmpdir={}", path("")));
        start.arg(format!("--port={port}"));
        start.args(["--bind-address=127.0.0.1", "--local-infile=1"]);
        start.arg("--character-set-server=utf8mb4");
        start.args(["--max-allowed-packet=128M", "--innodb-buffer-pool-size=64M"]);
        let socket = folder.join("socket");
        Self::started(start, folder, port, socket, "KILL")
    }

    fn started(
        mut start: Command,
        folder: PathBuf,
        port: u16,
        socket: PathBuf,
        end: &'static str,
    ) -> Self {
        let process = start.spawn().expect("the program starts");
        let mut server = Self {
            port,
            socket,
            folder,
            start,
            end,
            process,
        };
        server.wait_until_ready();
        server
    }

    /// Kills the server's main process, as in a crash.
    pub fn crash(&mut self) {
        self.process.kill().expect("it is running");
        self.process.wait().expect("it is a child");
    }

    /// Starts it again on the same port; to be called by the thread that ends last.
    pub fn restart(&mut self) {
        self.process = self.start.spawn().expect("the program starts");
        self.wait_until_ready();
    }

    fn wait_until_ready(&mut self) {
        let begun = Instant::now();
        while !self.is_ready() {
            let ended = self.process.try_wait().expect("it is a child");
            let is_late = begun.elapsed() > Duration::from_secs(60);
            assert!(ended.is_none(), "no server: {}", log(&self.folder));
            assert!(!is_late, "no server: {}", log(&self.folder));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// PostgreSQL has a socket a little before it accepts connections: its file says its process and, in line 8, its state.
    fn is_ready(&self) -> bool {
        match fs::read_to_string(self.folder.join("data/postmaster.pid")) {
            Ok(text) => {
                let lines: Vec<&str> = text.lines().map(str::trim).collect();
                let process = self.process.id().to_string();
                lines.first() == Some(&process.as_str()) && lines.get(7) == Some(&"ready")
            }
            Err(_) => UnixStream::connect(&self.socket).is_ok(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            let (signal, process) = (format!("-{}", self.end), self.process.id().to_string());
            let _ = Command::new("kill").args([signal, process]).status();
            let _ = self.process.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Written to standard error directly, because the test harness hides the output of tests that pass.
fn skipped<T>(reason: &str) -> Option<T> {
    writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error is open");
    None
}

/// Where a MySQL outside the usual places has its messages and character sets.
fn own_files(program: &Path) -> Vec<String> {
    // The folder that files may be written to by default is not there.
    let mut arguments = vec!["--secure-file-priv=".to_owned()];
    let base = program.parent().and_then(Path::parent);
    if let Some(base) = base.filter(|base| base.join("share/mysql").is_dir()) {
        let base = base.display();
        arguments.push(format!("--basedir={base}"));
        arguments.push(format!("--lc-messages-dir={base}/share/mysql"));
        arguments.push(format!("--character-sets-dir={base}/share/mysql/charsets"));
    }
    arguments
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut folders = std::env::split_paths(&path).chain(others);
    folders.find_map(|folder| Some(folder.join(program)).filter(|path| path.is_file()))
}

fn newest_postgresql() -> Option<PathBuf> {
    let folder = |version: u32| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"));
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    versions
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|version| folder(*version).join("postgres").exists())
        .max()
        .map(folder)
}

/// A folder of its own (short: socket paths end at 107 bytes) and a free port.
fn place(name: &str) -> (PathBuf, u16) {
    static PLACES: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), PLACES.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(format!("assay-{name}-{process}-{number}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the server");
    give_to_server(&folder);
    (folder, free_port(process * 64 + number))
}

/// None that Linux gives to a client (by default from 32,768 on): it could take the port before the server does.
fn free_port(seed: u32) -> u16 {
    let mut ports = (seed..).map(|number| 10_000 + (number % 22_000) as u16);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a free port")
}

fn finish(mut command: Command, folder: &Path) {
    let status = command.status().expect("the program starts");
    assert!(status.success(), "{status}:\n{}", log(folder));
}

/// A program of a server, with its messages in the folder; this signal ends it with the thread that starts it.
fn as_nobody(program: &Path, folder: &Path, end: &str) -> Command {
    let log = fs::File::options()
        .create(true)
        .append(true)
        .open(folder.join("log"));
    let log = log.expect("the folder is writable");
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", end]);
    if is_root() {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command.arg("--").arg(program).current_dir(folder);
    let again = log.try_clone().expect("one more handle");
    command.stdin(Stdio::null()).stdout(again).stderr(log);
    command
}

/// Makes the server's user the owner of `path` if this test runs as root.
pub fn give_to_server(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("root may change owners");
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}
