//! Starts a private server for the tests with its own directory, socket, port and (as root) unprivileged
//! user; stops it when it is dropped.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The user `nobody`: these servers refuse to run as root.
const NOBODY: u32 = 65_534;

pub struct Server {
    process: Child,
    directory: PathBuf,
    pub port: u16,
}

impl Server {
    /// Debian's MariaDB, or the reason why it cannot be used.
    pub fn mariadb() -> Result<Self, String> {
        let installer = find("mariadb-install-db")?;
        let server = find("mariadbd")?;
        let (directory, port) = place("mariadb");
        let data = directory.join("data");
        let mut install = Command::new(installer);
        install
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--tmpdir={}", directory.display()));
        install.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        finish(install, &directory);
        let mut start = Command::new(server);
        start.arg("--no-defaults");
        Ok(Self::start(start, directory, port))
    }

    /// A MySQL server, whose program (or a script that starts it) an environment variable names.
    pub fn mysql() -> Result<Self, String> {
        const VARIABLE: &str = "ASSAY_TEST_MYSQLD";
        let program = std::env::var_os(VARIABLE)
            .filter(|path| !path.is_empty())
            .ok_or_else(|| format!("{VARIABLE} does not name a MySQL server's program"))?;
        let own = own_files(Path::new(&program));
        let (directory, port) = place("mysql");
        let mut install = Command::new(&program);
        install.arg("--no-defaults").args(&own);
        install.arg("--initialize-insecure");
        install.arg(format!("--datadir={}", directory.join("data").display()));
        finish(install, &directory);
        let mut start = Command::new(&program);
        start.arg("--no-defaults").args(&own).arg("--mysqlx=OFF");
        Ok(Self::start(start, directory, port))
    }

    fn start(mut command: Command, directory: PathBuf, port: u16) -> Self {
        let path = |name: &str| directory.join(name).display().to_string();
        command.arg(format!("--datadir={}", path("data")));
        command.arg(format!("--socket={}", path("socket")));
        command.arg(format!("--pid-file={}", path("pid")));
        // At start a server removes other servers' temporary tables from a shared folder.
        command.arg(format!("--tmpdir={}", path("")));
        command.arg(format!("--port={port}"));
        command.args([
            "--bind-address=127.0.0.1",
            "--local-infile=1",
            "--character-set-server=utf8mb4",
        ]);
        command.args(["--max-allowed-packet=128M", "--innodb-buffer-pool-size=64M"]);
        let process = as_nobody(&mut command, &directory)
            .spawn()
            .expect("the program starts");
        let mut server = Self {
            process,
            directory,
            port,
        };
        server.wait_until_it_listens();
        server
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    fn wait_until_it_listens(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while UnixStream::connect(self.socket()).is_err() {
            if let Ok(Some(status)) = self.process.try_wait() {
                panic!("the server ended with {status}:\n{}", log(&self.directory));
            }
            assert!(
                Instant::now() < deadline,
                "no server:\n{}",
                log(&self.directory)
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // No data need to be kept, so the server is killed.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
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

fn find(program: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    let found = folders
        .iter()
        .map(|folder| folder.join(program))
        .find(|path| path.is_file());
    found.ok_or_else(|| format!("{program} is not on this machine"))
}

/// A directory of its own (short: socket paths end at 107 bytes) and a free port.
fn place(name: &str) -> (PathBuf, u16) {
    let directory = std::env::temp_dir().join(format!("assay-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for the server");
    if is_root() {
        std::os::unix::fs::chown(&directory, Some(NOBODY), Some(NOBODY))
            .expect("root may change owners");
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    (
        directory,
        listener.local_addr().expect("it is bound").port(),
    )
}

fn finish(mut command: Command, directory: &Path) {
    let status = as_nobody(&mut command, directory)
        .status()
        .expect("the program starts");
    assert!(status.success(), "{status}:\n{}", log(directory));
}

fn as_nobody<'a>(command: &'a mut Command, directory: &Path) -> &'a mut Command {
    let log = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(directory.join("log"));
    let log = log.expect("the directory is writable");
    command
        .stdout(log.try_clone().expect("one more handle"))
        .stderr(log)
        .stdin(Stdio::null());
    command.current_dir(directory);
    if is_root() {
        command.gid(NOBODY).uid(NOBODY);
    }
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn log(directory: &Path) -> String {
    fs::read_to_string(directory.join("log")).unwrap_or_default()
}
