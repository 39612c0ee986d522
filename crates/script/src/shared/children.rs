//! Takes shell commands of scripts; runs each in its own process group, so that the command and every
//! process it started can be ended when the run no longer waits for it.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// At most this much of the first line of a command's output is read.
const LONGEST_LINE: u64 = 64 * 1024;

/// The commands running now, of all clients of one run.
#[derive(Debug, Default)]
pub struct Children {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Process (and process group) ids of commands that have not been waited for, so the ids cannot have been
    /// reused.
    running: Vec<libc::pid_t>,
    /// When the commands were first sent SIGTERM; after that no command is started.
    ended: Option<Instant>,
}

impl Children {
    /// Runs a command line with `/bin/sh` to its end; returns the first line of its output if `wants_answer`.
    /// All other output goes to standard error: standard output is reserved for Assay's data.
    ///
    /// # Errors
    /// If the command cannot be started, or the run has ended.
    pub fn run(&self, line: &str, wants_answer: bool) -> io::Result<(ExitStatus, Option<String>)> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(line);
        // A background process group that reads from a terminal is stopped, so standard input is empty.
        command.stdin(Stdio::null()).process_group(0);
        if wants_answer {
            command.stdout(Stdio::piped());
        } else {
            command.stdout(io::stderr());
        }
        let mut child = {
            let mut state = self.state();
            if state.ended.is_some() {
                return Err(io::Error::other("the run has ended"));
            }
            let child = command.spawn()?;
            state.running.push(number(child.id()));
            child
        };
        let printed = child.stdout.take().map(first_line);
        await_end(number(child.id()));
        let mut state = self.state();
        state.running.retain(|&group| group != number(child.id()));
        if state.ended.is_some() {
            // Processes it started may outlive it; it has not been waited for, so its id cannot have been reused.
            send(number(child.id()), libc::SIGKILL);
        }
        drop(state);
        let status = child.wait()?;
        Ok((status, printed.transpose()?))
    }

    /// Sends SIGTERM to every running command, and SIGKILL to those still running after the grace period: call
    /// it repeatedly. No further command is started.
    pub fn end_all(&self) {
        let mut state = self.state();
        let asked = *state.ended.get_or_insert_with(Instant::now);
        let signal = match asked.elapsed() < GRACE {
            true => libc::SIGTERM,
            false => libc::SIGKILL,
        };
        for &group in &state.running {
            send(group, signal);
        }
    }

    /// Whether [`Children::end_all`] was called.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.state().ended.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn number(id: u32) -> libc::pid_t {
    libc::pid_t::try_from(id).expect("the kernel's process numbers are positive")
}

/// The first line; the others are read and dropped, so that the command does not write into a closed pipe.
fn first_line(from: impl io::Read) -> io::Result<String> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    from.by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)?;
    io::copy(&mut from, &mut io::sink())?;
    Ok(String::from_utf8_lossy(&line).trim().to_owned())
}

/// Waits until the process has ended without reaping it, so that its id is not reused yet.
fn await_end(process: libc::pid_t) {
    let id = libc::id_t::try_from(process).expect("it is positive");
    loop {
        // SAFETY: all bits zero are a valid `siginfo_t`, which the call overwrites.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: `info` is a valid place for one `siginfo_t`.
        let done = unsafe {
            libc::waitid(
                libc::P_PID,
                id,
                &raw mut info,
                libc::WEXITED | libc::WNOWAIT,
            )
        };
        if done == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

fn send(group: libc::pid_t, signal: libc::c_int) {
    // SAFETY: the call takes plain numbers. An error because the group has just ended is harmless.
    unsafe { libc::kill(-group, signal) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_alive(process: libc::pid_t) -> bool {
        // A zombie that its new parent has not reaped counts as ended.
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    }

    #[test]
    fn ending_a_command_ends_all_its_processes_and_no_new_command_starts() {
        let children = Children::default();
        let folder = std::env::temp_dir().join(format!("assay-children-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for temporary files takes one more");
        let file = folder.join("pid");
        // The command and its child both ignore SIGTERM.
        let line = format!(
            "trap '' TERM; sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait",
            file.display()
        );
        let status = std::thread::scope(|scope| {
            let runs = scope.spawn(|| children.run(&line, false));
            while !file.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            while !runs.is_finished() {
                children.end_all();
                std::thread::sleep(Duration::from_millis(20));
            }
            runs.join().expect("it does not panic")
        });
        assert!(!status.expect("it was started").0.success());
        let started = std::fs::read_to_string(&file).expect("it was written");
        let started: libc::pid_t = started.trim().parse().expect("a process number");
        let begun = Instant::now();
        while is_alive(started) && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!is_alive(started), "process {started} is still running");
        assert!(children.run("true", false).is_err(), "the run has ended");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn the_first_line_is_the_answer() {
        let children = Children::default();
        let (status, answer) = children
            .run("echo 7; seq 100000", true)
            .expect("there is a shell");
        assert!(status.success());
        assert_eq!(answer.as_deref(), Some("7"));
    }
}
