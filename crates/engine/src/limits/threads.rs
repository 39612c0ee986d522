//! Starts threads; returns which limit of this machine prevents it if it fails.

use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::{fmt, fs, io};

use crate::EngineError;
use crate::limits::consumer::Consumer;
use crate::limits::counted::{field, groups, number_in, threads_of_all, threads_of_user};

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
    #[must_use]
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.in_use + OTHER_THREADS)
    }

    /// How to allow `threads` more.
    #[must_use]
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
#[must_use]
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
#[must_use]
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
