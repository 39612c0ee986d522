//! Takes SIGTERM and SIGINT, and the end of the parent process; reports them to a channel.

use std::sync::mpsc::Sender;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, getppid, pidfd_open};

use crate::error::DiskError;

/// Both signals wait in a thread from now on. To be called before any other thread is started: threads take
/// the blocked signals of the thread that starts them.
pub fn listen(stopped: Sender<()>) -> Result<(), DiskError> {
    // SAFETY: all-zero bytes are a valid set; sigemptyset makes it the empty one.
    let mut signals: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the calls write to the set alone and take numbers of signals that exist.
    unsafe {
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGTERM);
        libc::sigaddset(&raw mut signals, libc::SIGINT);
    }
    // SAFETY: the set is initialised, and the old mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut()) };
    let wait = move || {
        loop {
            let mut signal = 0;
            // SAFETY: the set is initialised, and the signals in it are blocked in all threads.
            unsafe { libc::sigwait(&raw const signals, &raw mut signal) };
            if stopped.send(()).is_err() {
                return;
            }
        }
    };
    start("signals", wait)
}

/// Reports when the process that started this one has ended, however it ended.
pub fn watch_parent(stopped: Sender<()>) -> Result<(), DiskError> {
    let parent = getppid();
    let opened = parent.map(|parent| pidfd_open(parent, PidfdFlags::empty()));
    let wait = move || {
        // Without a parent, or with one that has ended before it could be opened, the end has come.
        if let Some(Ok(descriptor)) = opened
            && getppid() == parent
        {
            let mut ended = [PollFd::new(&descriptor, PollFlags::IN)];
            while poll(&mut ended, None) == Err(rustix::io::Errno::INTR) {}
        }
        // If nobody listens, the end is under way already.
        let _ = stopped.send(());
    };
    start("parent", wait)
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), DiskError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(|_| ())
        .map_err(DiskError::machine("cannot start a thread for", name))
}
