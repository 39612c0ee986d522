//! Takes files of the kernel; returns the limits and counts in them.

use std::fs;
use std::path::{Path, PathBuf};

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
