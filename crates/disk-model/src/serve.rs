//! Takes options; serves a modelled disk as a file of a FUSE mount until SIGTERM, SIGINT, the end of the parent
//! process, or another reason to end.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use fuser::{BackgroundSession, Config, MountOption, Session};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{PidfdFlags, getppid, pidfd_open};
use serde_json::json;

use crate::account::{Recorder, Writer};
use crate::calibration::PathCosts;
use crate::control;
use crate::device::Device;
use crate::error::DiskError;
use crate::fuse::DiskFile;
use crate::image::Image;
use crate::model::Parameters;

/// Threads that take requests from the kernel. Two of them keep one processor busy; more would only wait.
const THREADS: usize = 2;

/// Where the bytes are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImagePlace {
    /// In a file, which is made where it is missing.
    File(PathBuf),
    /// In memory.
    Memory,
}

/// What is served, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// The disk.
    pub parameters: Parameters,
    /// Its content.
    pub image: ImagePlace,
    /// Its size.
    pub size_bytes: u64,
    /// The directory on which the file system with the file is mounted.
    pub mount: PathBuf,
    /// The name of the file.
    pub name: String,
    /// A new Unix socket for commands.
    pub control: Option<PathBuf>,
    /// A new file for every request.
    pub account: Option<PathBuf>,
    /// The time of the way to this process and back, by which requests are answered earlier.
    pub path_cost_ns: u64,
    /// Whether to end when the process that started this one does.
    pub ends_with_parent: bool,
}

/// Serves until SIGTERM, SIGINT, the command `stop`, the end of the parent, or an unmount by somebody else.
/// When the disk can be used, one JSON line on standard output says where it is, and its parameters.
///
/// # Errors
///
/// An image, mount, socket or account that cannot be made, or an image that cannot be written at the end.
pub fn serve(options: &Options) -> Result<(), DiskError> {
    check_places(options)?;
    let (stopped, stop) = channel();
    listen(stopped.clone())?;
    if options.ends_with_parent {
        watch_parent(stopped.clone())?;
    }
    let mut made = Made::default();
    let image = match &options.image {
        ImagePlace::File(path) => {
            let is_new = !path.exists();
            let image = Image::open(path, options.size_bytes)?;
            made.0.extend(is_new.then(|| path.clone()));
            image
        }
        ImagePlace::Memory => Image::in_memory(options.size_bytes)?,
    };
    let (recorder, writer) = match &options.account {
        Some(path) => {
            let (recorder, writer) = Writer::start(path)?;
            made.0.push(path.clone());
            (recorder, Some(writer))
        }
        None => (Recorder::none(), None),
    };
    let device = Device::new(
        options.parameters.clone(),
        image,
        recorder,
        PathCosts::constant(options.path_cost_ns),
    )?;
    let file = DiskFile::new(options.name.clone(), Arc::clone(&device), stopped.clone());
    let (pacer, session) = raised(|| start(&device, file, &options.mount))?;
    if let Some(path) = &options.control {
        control::listen(path, Arc::clone(&device), stopped)?;
    }
    made.0.clear();
    announce(options);
    wait(&stop);
    let unmounted = session.umount_and_join();
    if let Err(error) = &unmounted {
        // Somebody has the file open, mostly a loop device. From here on their requests fail.
        eprintln!(
            "warning: {} was in use and has been detached: {error}",
            options.mount.display()
        );
        // If it is no longer mounted, all the better.
        let _ = unmount(&options.mount, UnmountFlags::DETACH);
    }
    let stopped = device.stop();
    let paced = pacer.join();
    if let Some(path) = &options.control {
        // It may have been removed already.
        let _ = std::fs::remove_file(path);
    }
    if let Some(writer) = writer {
        writer.finish()?;
    }
    assert!(paced.is_ok(), "the thread of the model panicked");
    stopped
}

/// The threads that answer: of the model, and of the mount.
fn start(
    device: &Arc<Device>,
    file: DiskFile,
    mount: &Path,
) -> Result<(JoinHandle<()>, BackgroundSession), DiskError> {
    let paced = Arc::clone(device);
    let pacer = std::thread::Builder::new()
        .name("pacer".to_owned())
        .spawn(move || paced.pace())
        .map_err(DiskError::machine("cannot start a thread for", "the model"))?;
    let session = Session::new(file, mount, &mount_options())
        .and_then(Session::spawn)
        .map_err(DiskError::machine("cannot mount a file system on", mount))?;
    Ok((pacer, session))
}

/// Files that were made; removed if the disk cannot be served after all.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Drop for Made {
    fn drop(&mut self) {
        for path in &self.0 {
            // The error that led here says more than one about a file that stays.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// What can be refused before anything is made.
fn check_places(options: &Options) -> Result<(), DiskError> {
    if !options.mount.is_dir() {
        return Err(DiskError::argument(format!(
            "--mount: expected a directory, found none at {}",
            options.mount.display()
        )));
    }
    for (name, path) in [("--control", &options.control), ("--account", &options.account)] {
        if let Some(path) = path.as_ref().filter(|path| path.exists()) {
            return Err(DiskError::hinted(
                format!("{name}: {} exists", path.display()),
                "remove it, or name a new file",
            ));
        }
    }
    Ok(())
}

fn mount_options() -> Config {
    let mut options = Config::default();
    options.mount_options = vec![
        MountOption::FSName("assay-disk-model".to_owned()),
        MountOption::NoExec,
        MountOption::NoAtime,
    ];
    options.n_threads = Some(THREADS);
    options.clone_fd = true;
    options
}

/// Nobody may be listening: a closed standard output is no reason to end.
fn announce(options: &Options) {
    let line = json!({
        "disk": options.mount.join(&options.name),
        "size_bytes": options.size_bytes,
        "parameters": options.parameters.effective,
        "source": options.parameters.source(),
    });
    let mut output = std::io::stdout();
    let _ = writeln!(output, "{line}");
    let _ = output.flush();
}

/// All senders live as long as the process.
fn wait(stop: &Receiver<()>) {
    let _ = stop.recv();
}

/// The lowest real-time priority: above all ordinary threads, below whatever else is real-time.
const PRIORITY: libc::c_int = 1;

fn set(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: 0 is the calling thread, and the structure lives through the call.
    let status = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Threads that `work` starts inherit the priority; the calling thread has it no longer afterwards. Where it is
/// not allowed, a warning says so, and the threads are ordinary ones.
pub fn raised<T>(work: impl FnOnce() -> T) -> T {
    let raised = set(libc::SCHED_RR, PRIORITY);
    if let Err(error) = &raised {
        eprintln!(
            "warning: the modelled disk has no real-time priority ({error}): its answers may be late while the \
             processors are busy"
        );
    }
    let done = work();
    if raised.is_ok() {
        // Lowering one's own priority is always allowed.
        let _ = set(libc::SCHED_OTHER, 0);
    }
    done
}

/// Both signals wait in a thread from now on. To be called before any other thread is started: threads take
/// the blocked signals of the thread that starts them.
fn listen(stopped: Sender<()>) -> Result<(), DiskError> {
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
    in_thread("signals", wait)
}

/// Reports when the process that started this one has ended, however it ended.
fn watch_parent(stopped: Sender<()>) -> Result<(), DiskError> {
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
        // If no thread receives it, the run is ending already.
        let _ = stopped.send(());
    };
    in_thread("parent", wait)
}

fn in_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), DiskError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(|_| ())
        .map_err(DiskError::machine("cannot start a thread for", name))
}
