//! Holds what all clients of a program share: numbers, begun levels, the processes of shell commands.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

// Takes which `\begin`s with an isolation level were executed; returns them by their scripts.

/// The places of all scripts that begin a transaction at a level. All clients mark them.
#[derive(Debug, Default)]
pub struct BegunLevels {
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// Index into the scripts of the program.
    script: u32,
    /// Among those of its script, from 0.
    number: u32,
    level: String,
    is_begun: AtomicBool,
}

/// A place that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunLevel {
    /// Index into the scripts of the program.
    pub script: u32,
    /// Its number among the `\begin`s of its script that name a level, from 0.
    pub number: u32,
    /// As the script names it, in lower case.
    pub level: String,
}

impl BegunLevels {
    /// Appends a place; returns its index.
    pub(crate) fn place(&mut self, script: u32, level: &str) -> usize {
        let same = self.places.iter().filter(|place| place.script == script);
        let number = u32::try_from(same.count()).expect("the size of scripts is bounded");
        self.places.push(Place {
            script,
            number,
            level: level.to_owned(),
            is_begun: AtomicBool::new(false),
        });
        self.places.len() - 1
    }

    /// It is executed.
    #[inline]
    pub(crate) fn mark(&self, place: usize) {
        let is_begun = &self.places[place].is_begun;
        // Read first: a line that no thread writes stays in the caches of all.
        if !is_begun.load(Ordering::Relaxed) {
            is_begun.store(true, Ordering::Relaxed);
        }
    }

    /// What is shown of an instruction.
    pub(crate) fn level(&self, place: usize) -> &str {
        &self.places[place].level
    }

    /// The places that were executed, in the order of the scripts.
    pub fn marked(&self) -> Vec<BegunLevel> {
        let marked = |place: &&Place| place.is_begun.load(Ordering::Relaxed);
        (self.places.iter().filter(marked))
            .map(|place| BegunLevel {
                script: place.script,
                number: place.number,
                level: place.level.clone(),
            })
            .collect()
    }
}

// Takes shell commands of scripts; runs each in its own process group, so that the command and every
// process it started can be ended when the run no longer waits for it.

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// At most this much of the first line of a command's output is read.
const LONGEST_LINE: u64 = 64 * 1024;

/// The commands running now, of all clients of one run.
#[derive(Debug, Default)]
pub struct Children {
    state: Mutex<Commands>,
}

#[derive(Debug, Default)]
struct Commands {
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
    pub fn is_ended(&self) -> bool {
        self.state().ended.is_some()
    }

    fn state(&self) -> MutexGuard<'_, Commands> {
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

// Takes which client takes a number, and how its transaction ended; returns numbers that no two clients have, and up to
// which one all are of transactions that ended `ok`.

/// The numbers that all clients of a run share, by the name of the variable that `\next` stores them in.
#[derive(Debug, Default)]
pub struct SharedNumbers {
    counters: Vec<Counter>,
    /// How many numbers are in transactions that have not ended.
    taken: AtomicUsize,
}

#[derive(Debug)]
struct Counter {
    name: String,
    /// All numbers below it are of transactions that ended `ok`.
    acknowledged: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The lowest number that was never taken.
    next: u64,
    /// Numbers of transactions that were undone: they are taken again, so that no number stays away.
    returned: BTreeSet<u64>,
    /// Acknowledged numbers above one that is not.
    ahead: BTreeSet<u64>,
    /// The numbers of each client's current transaction.
    taken: HashMap<u32, Vec<u64>>,
}

/// How the transaction ended that took a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOutcome {
    /// It ended `ok`.
    Acknowledged,
    /// Its effect is undone: another one may have the number.
    Returned,
    /// It is unknown whether it has had an effect: no other one may have the number, and no client may rely on it.
    Unknown,
}

/// How far a counter has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The variable of `\next`.
    pub name: String,
    /// Above every number that was taken.
    pub taken: u64,
    /// All numbers below it are acknowledged.
    pub acknowledged: u64,
}

impl Counter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedNumbers {
    /// The counter of that name.
    pub(crate) fn counter(&mut self, name: &str) -> usize {
        let found = self.counters.iter().position(|one| one.name == name);
        found.unwrap_or_else(|| {
            self.counters.push(Counter {
                name: name.to_owned(),
                acknowledged: AtomicU64::new(0),
                state: Mutex::default(),
            });
            self.counters.len() - 1
        })
    }

    pub(crate) fn name(&self, counter: usize) -> &str {
        &self.counters[counter].name
    }

    /// The lowest number that is free.
    pub(crate) fn take(&self, counter: usize, client: u32) -> u64 {
        let mut state = self.counters[counter].state();
        let number = state.returned.pop_first().unwrap_or(state.next);
        state.next = state.next.max(number + 1);
        state.taken.entry(client).or_default().push(number);
        self.taken.fetch_add(1, Ordering::Relaxed);
        number
    }

    pub(crate) fn acknowledged(&self, counter: usize) -> u64 {
        self.counters[counter].acknowledged.load(Ordering::Acquire)
    }

    /// The client's transaction has ended, after its last attempt.
    pub fn ended(&self, client: u32, outcome: NumberOutcome) {
        if self.taken.load(Ordering::Relaxed) == 0 {
            return;
        }
        for counter in &self.counters {
            let mut state = counter.state();
            let numbers = match state.taken.get_mut(&client) {
                Some(taken) if !taken.is_empty() => std::mem::take(taken),
                _ => continue,
            };
            self.taken.fetch_sub(numbers.len(), Ordering::Relaxed);
            match outcome {
                NumberOutcome::Acknowledged => state.ahead.extend(numbers),
                NumberOutcome::Returned => state.returned.extend(numbers),
                NumberOutcome::Unknown => {}
            }
            let mut acknowledged = counter.acknowledged.load(Ordering::Relaxed);
            while state.ahead.remove(&acknowledged) {
                acknowledged += 1;
            }
            counter.acknowledged.store(acknowledged, Ordering::Release);
        }
    }

    /// Goes on where an earlier run on the same data ended; a name that no script uses is ignored.
    pub fn go_on(&self, from: &Reached) {
        if let Some(counter) = self.counters.iter().find(|one| one.name == from.name) {
            counter.state().next = from.taken;
            counter
                .acknowledged
                .store(from.acknowledged, Ordering::Release);
        }
    }

    /// Each counter that has given a number.
    pub fn reached(&self) -> Vec<Reached> {
        let all = self.counters.iter().map(|counter| Reached {
            name: counter.name.clone(),
            taken: counter.state().next,
            acknowledged: counter.acknowledged.load(Ordering::Acquire),
        });
        all.filter(|one| one.taken > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{NumberOutcome, SharedNumbers};

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

    #[test]
    fn what_is_acknowledged_has_no_gap() {
        let mut numbers = SharedNumbers::default();
        let counter = numbers.counter("n");
        assert_eq!(numbers.counter("n"), counter);
        let taken: Vec<u64> = (0..4).map(|client| numbers.take(counter, client)).collect();
        assert_eq!(taken, [0, 1, 2, 3]);
        numbers.ended(1, NumberOutcome::Acknowledged);
        assert_eq!(numbers.acknowledged(counter), 0, "0 has not ended");
        numbers.ended(0, NumberOutcome::Acknowledged);
        assert_eq!(numbers.acknowledged(counter), 2);
        numbers.ended(2, NumberOutcome::Returned);
        numbers.ended(3, NumberOutcome::Acknowledged);
        assert_eq!(numbers.acknowledged(counter), 2);
        assert_eq!(numbers.take(counter, 5), 2, "a returned number comes first");
        numbers.ended(5, NumberOutcome::Acknowledged);
        assert_eq!(numbers.acknowledged(counter), 4);
    }

    #[test]
    fn what_is_behind_an_unknown_end_is_never_relied_on() {
        let mut numbers = SharedNumbers::default();
        let counter = numbers.counter("n");
        numbers.take(counter, 0);
        numbers.ended(0, NumberOutcome::Unknown);
        numbers.take(counter, 0);
        numbers.ended(0, NumberOutcome::Acknowledged);
        let reached = numbers.reached();
        assert_eq!((reached[0].taken, reached[0].acknowledged), (2, 0));
        let mut later = SharedNumbers::default();
        let counter = later.counter("n");
        later.go_on(&reached[0]);
        assert_eq!(later.take(counter, 0), 2);
        assert_eq!(later.acknowledged(counter), 0);
    }
}
