//! Takes directories and a user; confines the calling thread to them, with the threads and programs that it starts.
//!
//! The kernel does it (Landlock), and nothing can take it back. Where the kernel cannot, the thread stays as it was
//! and there is an error: a part of the confinement would be none.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    path_beneath_rules,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// The oldest that confines every way to change a file; with older ones a file outside can be cut short.
const NEEDED: ABI = ABI::V3;

/// What the kernel calls the oldest header of capabilities that has all of them (`linux/capability.h`).
const CAPABILITY_VERSION: u32 = 0x2008_0522;

/// `IFF_UP` and `IFF_RUNNING`, in the width of a request.
const FLAGS_UP: libc::c_short = 0x41;

/// `lo`. A character of C has a sign on x86-64, and none on ARM.
const LOOPBACK: [libc::c_char; 2] = [108, 111];

/// To read any file and enter any directory.
const READ_SEARCH: u32 = 1 << 2;

/// Confines the calling thread: files are read and programs started below `reads` and `writes` alone, and files changed
/// below `writes` alone. It loses all capabilities, and becomes `user` (its number and that of its group), if there
/// is one. Directories that do not exist are left out. With `reads_others` it may still read below `reads` what is not
/// that user's, if it may now.
#[pyfunction]
pub fn confine_thread(
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    user: Option<(u32, u32)>,
    reads_others: bool,
) -> PyResult<()> {
    restrict(reads, writes)?;
    if let Some((uid, gid)) = user {
        become_user(uid, gid)?;
        keep_capabilities(if reads_others { READ_SEARCH } else { 0 })?;
    } else {
        keep_capabilities(0)?;
    }
    Ok(())
}

/// Confines this process to directories, as `confine_thread` does, and becomes the program. It keeps its user and its
/// capabilities: a program that runs as root is to give them up. Returns only with an error.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python hands the words over")]
pub fn become_confined_program(
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    words: Vec<String>,
) -> PyResult<()> {
    use std::os::unix::process::CommandExt;

    restrict(reads, writes)?;
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| PyOSError::new_err("expected a program, found none"))?;
    Err(Command::new(program).args(arguments).exec().into())
}

/// Moves this process into a network of its own, which has loopback alone. It must have one thread: others would stay
/// where they were. A user without rights does it in a user namespace.
#[pyfunction]
pub fn enter_own_network() -> PyResult<()> {
    // SAFETY: the call has no pointers.
    let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    if uid == 0 {
        unshare(libc::CLONE_NEWNET)?;
    } else {
        unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    }
    raise_loopback()?;
    if uid != 0 {
        keep_capabilities(0)?;
    }
    Ok(())
}

fn restrict(reads: Vec<PathBuf>, writes: Vec<PathBuf>) -> PyResult<()> {
    let confined = || {
        let all = AccessFs::from_all(NEEDED);
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(all)?
            .create()?
            .add_rules(path_beneath_rules(reads, AccessFs::from_read(NEEDED)))?
            .add_rules(path_beneath_rules(writes, all))?
            .restrict_self()
    };
    match confined() {
        Ok(_) => Ok(()),
        Err(error) => Err(PyOSError::new_err(format!(
            "the kernel does not confine it (Landlock): {error}"
        ))),
    }
}

/// As the calling thread alone: the C library would take all threads with it.
fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: the calls take numbers, and a list of no groups.
    unsafe {
        succeeded(libc::syscall(
            libc::SYS_setgroups,
            0,
            std::ptr::null::<libc::gid_t>(),
        ))?;
        succeeded(libc::syscall(libc::SYS_setresgid, gid, gid, gid))?;
        succeeded(libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0).into())?;
        succeeded(libc::syscall(libc::SYS_setresuid, uid, uid, uid))?;
        // A change of the user hides the process from others of the same user, and from its own look at itself.
        succeeded(libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0).into())
    }
}

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

fn keep_capabilities(kept: u32) -> io::Result<()> {
    let header = CapabilityHeader {
        version: CAPABILITY_VERSION,
        pid: 0,
    };
    // Those that are effective, permitted and inheritable; then the same of the higher numbers.
    let all = [kept, kept, 0, 0, 0, 0];
    // SAFETY: the kernel reads the header and as many words as its version has.
    succeeded(unsafe { libc::syscall(libc::SYS_capset, &raw const header, &raw const all) })
}

fn unshare(what: libc::c_int) -> io::Result<()> {
    // SAFETY: the call has no pointers.
    succeeded(unsafe { libc::unshare(what) }.into())
}

fn raise_loopback() -> io::Result<()> {
    // SAFETY: all bytes of the request may be zero; the kernel reads it as long as the call lasts, and the descriptor
    // is ours.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        succeeded(socket.into())?;
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[..2].copy_from_slice(&LOOPBACK);
        request.ifr_ifru.ifru_flags = FLAGS_UP;
        let raised =
            succeeded(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request).into());
        libc::close(socket);
        raised
    }
}

fn succeeded(status: libc::c_long) -> io::Result<()> {
    match status {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
