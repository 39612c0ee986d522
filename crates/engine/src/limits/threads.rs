//! Starts threads; returns which limit of this machine prevents it if it fails.

use std::path::{Path, PathBuf};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::{fmt, fs, io};

use crate::EngineError;

/// The stack of each thread started here; a library may parse deeply nested statements on it.
const STACK_BYTES: u64 = 2 << 20;
/// Address space of a thread besides its stack: guard pages, the stack of its signal handler, its memory.
const OTHER_BYTES: u64 = 256 << 10;
/// Mappings of a thread: its stack, the stack of its signal handler, and a guard page below each.
const MAPPINGS: u64 = 4;
/// Threads that others may start meanwhile: Python, the servers.
const OTHER_THREADS: u64 = 8;
/// Capabilities with which `RLIMIT_NPROC` does not count: `CAP_SYS_ADMIN` and `CAP_SYS_RESOURCE`.
const EXEMPT: u64 = 1 << 21 | 1 << 24;

/// A limit of this machine, counted in threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name of the setting or file.
    pub name: String,
    pub most: u64,
    pub in_use: u64,
    fix: Fix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fix {
    /// `ulimit -u` of the user.
    OfUser,
    AddressSpace,
    /// A file of the kernel that root may write; each thread needs this many of its units.
    File(u64),
}

impl Limit {
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.in_use + OTHER_THREADS)
    }

    /// How to allow `threads` more.
    pub fn fix(&self, threads: u64) -> String {
        let enough = threads + self.in_use + OTHER_THREADS;
        match self.fix {
            Fix::OfUser => format!("raise the limit: ulimit -u {enough}"),
            Fix::AddressSpace => "raise the limit: ulimit -v unlimited".to_owned(),
            Fix::File(each) => {
                let value = enough * each;
                format!("raise the limit: write {value} to {}", self.name)
            }
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, most, in_use, ..
        } = self;
        write!(
            out,
            "the limit is {most} ({name}), of which {in_use} are in use"
        )
    }
}

/// The limit that leaves room for the fewest threads; `None` if nothing is limited.
pub fn narrowest() -> Option<Limit> {
    let all = [of_user(), of_address_space(), of_mappings()];
    let files = ["/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max"];
    let of_machine = files.into_iter().filter_map(|name| {
        Some(Limit {
            name: name.to_owned(),
            most: number_in(name)?,
            in_use: threads_of_all(),
            fix: Fix::File(1),
        })
    });
    let of_groups = groups().into_iter().filter_map(|group| {
        let file = group.join("pids.max");
        Some(Limit {
            most: number_in(&file)?,
            in_use: number_in(group.join("pids.current")).unwrap_or(0),
            name: file.display().to_string(),
            fix: Fix::File(1),
        })
    });
    (all.into_iter().flatten())
        .chain(of_machine)
        .chain(of_groups)
        .min_by_key(Limit::left)
}

/// Threads and processes of this user, unless the kernel exempts this process.
fn of_user() -> Option<Limit> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let user = field(&status, "Uid")?;
    let capabilities = u64::from_str_radix(field(&status, "CapEff")?, 16).ok()?;
    if user == "0" || capabilities & EXEMPT != 0 {
        return None;
    }
    Some(Limit {
        name: "RLIMIT_NPROC, for all processes of this user".to_owned(),
        most: soft_limit(libc::RLIMIT_NPROC)?,
        in_use: threads_of_user(user),
        fix: Fix::OfUser,
    })
}

fn of_address_space() -> Option<Limit> {
    let each = STACK_BYTES + OTHER_BYTES;
    let most = soft_limit(libc::RLIMIT_AS)?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let used = field(&status, "VmSize")?.parse::<u64>().ok()? << 10;
    let mib = most >> 20;
    Some(Limit {
        name: format!("RLIMIT_AS: {mib} MiB of address space, {each} bytes for each thread"),
        most: most / each,
        in_use: used.div_ceil(each),
        fix: Fix::AddressSpace,
    })
}

fn of_mappings() -> Option<Limit> {
    let file = "/proc/sys/vm/max_map_count";
    let mappings = fs::read_to_string("/proc/self/maps").ok()?.lines().count() as u64;
    Some(Limit {
        most: number_in(file)? / MAPPINGS,
        in_use: mappings.div_ceil(MAPPINGS),
        name: file.to_owned(),
        fix: Fix::File(MAPPINGS),
    })
}

/// The limit in force; `None` if unlimited.
fn soft_limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid `rlimit`, which the call writes.
    let done = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (done == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Starts a thread of `scope`.
///
/// # Errors
/// If the machine cannot start another thread.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new()
        .name(name.to_owned())
        .stack_size(usize::try_from(STACK_BYTES).expect("it is 2 MiB"))
        .spawn_scoped(scope, work)
}

/// The error of a run or a load if thread `number` of `threads` cannot be started.
pub fn refused(by: Consumer, number: usize, threads: usize, error: &io::Error) -> EngineError {
    let limit = narrowest().map_or_else(String::new, |limit| format!("; {limit}"));
    let fewer = match by {
        Consumer::Clients(_) => "--clients",
        Consumer::LoadSessions(_) => "--load-sessions",
    };
    EngineError::Machine {
        message: format!(
            "{by}: thread {} of {threads} cannot be started: {error}{limit}",
            number + 1
        ),
        hint: Some(format!("use fewer {fewer}, or raise the limit")),
    }
}

// Takes files of the kernel; returns the limits and counts in them.

/// The number in a file of the kernel; `None` if there is no such file, or it contains `max`.
pub fn number_in(path: impl AsRef<Path>) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// A field of `/proc/self/status` or a similar file: the first word after `name:`.
pub fn field<'t>(status: &'t str, name: &str) -> Option<&'t str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.strip_prefix(':')?.split_whitespace().next()
}

/// Threads of all users, as far as this machine shows them.
pub fn threads_of_all() -> u64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace()
        .nth(3)
        .and_then(|running_of_all| running_of_all.split_once('/')?.1.parse().ok())
        .unwrap_or(0)
}

/// Threads of the user with this id.
pub fn threads_of_user(user: &str) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else {
        return 0;
    };
    let threads = entries.flatten().filter_map(|entry| {
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let is_theirs = field(&status, "Uid") == Some(user);
        is_theirs.then(|| field(&status, "Threads")?.parse::<u64>().ok())?
    });
    threads.sum()
}

/// The control groups of this process that may limit its threads, innermost first.
pub fn groups() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let found = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let root = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers
                .split(',')
                .any(|controller| controller == "pids") =>
            {
                "/sys/fs/cgroup/pids"
            }
            _ => return None,
        };
        Some((root, path.trim_start_matches('/').to_owned()))
    });
    found
        .flat_map(|(root, path)| {
            let inner = PathBuf::from(root).join(path);
            let all: Vec<_> = inner.ancestors().map(Path::to_owned).collect();
            all.into_iter().filter(move |group| group.starts_with(root))
        })
        .collect()
}

// What needs threads and files, for messages.

/// What needs the resources, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    Clients(u64),
    LoadSessions(u64),
}

impl fmt::Display for Consumer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, what) = match self {
            Self::Clients(number) => (number, "client"),
            Self::LoadSessions(number) => (number, "load session"),
        };
        let plural = if *number == 1 { "" } else { "s" };
        write!(out, "{number} {what}{plural}")
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn this_process_is_counted() {
        let status = fs::read_to_string("/proc/self/status").expect("Linux has this file");
        let user = field(&status, "Uid").expect("every process has a user");
        let before = threads_of_user(user);
        assert!(before >= 1, "at least this thread");
        assert!(threads_of_all() >= 1, "at least this thread");
        assert_eq!(field("Threads:\t7\nThreadsX:\t8\n", "Threads"), Some("7"));
        assert_eq!(field("ThreadsX:\t8\n", "Threads"), None);
    }
}
