//! Takes threads to start; starts them, or says which limit of this machine forbids it.

use std::fmt;
use std::fs;
use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::Who;
use super::counted::{field, groups, number_in, threads_of_all, threads_of_user};
use crate::EngineError;

/// Of each thread that is started here; what a library may need that parses statements of any depth.
const STACK_BYTES: u64 = 2 << 20;
/// Address space of a thread beside its stack: guard pages, the stack of its signal handler, its memory.
const OTHER_BYTES: u64 = 256 << 10;
/// Mappings of a thread: its stack, the stack of its signal handler, and a guard page below each.
const MAPPINGS: u64 = 4;
/// Threads that may be started beside ours meanwhile: of Python, of the servers.
const OTHER_THREADS: u64 = 8;
/// Capabilities with which `RLIMIT_NPROC` does not count: `CAP_SYS_ADMIN` and `CAP_SYS_RESOURCE`.
const EXEMPT: u64 = 1 << 21 | 1 << 24;

/// A limit of this machine, counted in threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Where it is set.
    pub name: String,
    pub most: u64,
    pub in_use: u64,
    cure: Cure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cure {
    /// `ulimit -u` of the user.
    OfUser,
    AddressSpace,
    /// A file of the kernel that root may write; so many of its units are needed for each thread.
    File(u64),
}

impl Limit {
    #[must_use]
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.in_use + OTHER_THREADS)
    }

    /// What would let `threads` more be started.
    #[must_use]
    pub fn cure(&self, threads: u64) -> String {
        let enough = threads + self.in_use + OTHER_THREADS;
        match self.cure {
            Cure::OfUser => format!("raise the limit: ulimit -u {enough}"),
            Cure::AddressSpace => "raise the limit: ulimit -v unlimited".to_owned(),
            Cure::File(each) => {
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

/// The limit that leaves room for the fewest threads; none where nothing is limited.
#[must_use]
pub fn narrowest() -> Option<Limit> {
    let all = [of_user(), of_address_space(), of_mappings()];
    let files = ["/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max"];
    let of_machine = files.into_iter().filter_map(|name| {
        Some(Limit {
            name: name.to_owned(),
            most: number_in(name)?,
            in_use: threads_of_all(),
            cure: Cure::File(1),
        })
    });
    let of_groups = groups().into_iter().filter_map(|group| {
        let file = group.join("pids.max");
        Some(Limit {
            most: number_in(&file)?,
            in_use: number_in(group.join("pids.current")).unwrap_or(0),
            name: file.display().to_string(),
            cure: Cure::File(1),
        })
    });
    (all.into_iter().flatten())
        .chain(of_machine)
        .chain(of_groups)
        .min_by_key(Limit::left)
}

/// Threads and processes of this user, unless the kernel exempts us.
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
        cure: Cure::OfUser,
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
        cure: Cure::AddressSpace,
    })
}

fn of_mappings() -> Option<Limit> {
    let file = "/proc/sys/vm/max_map_count";
    let mappings = fs::read_to_string("/proc/self/maps").ok()?.lines().count() as u64;
    Some(Limit {
        most: number_in(file)? / MAPPINGS,
        in_use: mappings.div_ceil(MAPPINGS),
        name: file.to_owned(),
        cure: Cure::File(MAPPINGS),
    })
}

/// The limit that is in force; none where there is none.
fn soft_limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for one `rlimit`, which the call writes.
    let done = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (done == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Starts a thread of `scope`.
///
/// # Errors
/// If the machine has no room for one; nothing has been started then.
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

/// The error of a run or a load of which the `number`-th of `threads` threads cannot be started.
#[must_use]
pub fn refused(by: Who, number: usize, threads: usize, error: &io::Error) -> EngineError {
    let limit = narrowest().map_or_else(String::new, |limit| format!("; {limit}"));
    let fewer = match by {
        Who::Clients(_) => "--clients",
        Who::LoadSessions(_) => "--load-sessions",
    };
    EngineError::Machine {
        message: format!(
            "{by}: thread {} of {threads} cannot be started: {error}{limit}",
            number + 1
        ),
        hint: Some(format!("use fewer {fewer}, or raise the limit")),
    }
}
