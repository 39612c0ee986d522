//! Raises this process's limit of open files as far as the machine allows.

/// Raises the soft limit of open files to the hard limit, since a shell's usual 1,024 is less than the
/// clients of a large run. A failure is ignored: too few files are reported when they are needed. Returns the
/// limit now in force.
pub fn allow_many() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid `rlimit`, which the calls only read or write.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return 0;
        }
        let raised = libc::rlimit {
            rlim_cur: limit.rlim_max,
            ..limit
        };
        if limit.rlim_cur < limit.rlim_max
            && libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0
        {
            limit = raised;
        }
    }
    limit.rlim_cur
}

/// How many files this process has open.
pub fn open_now() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64)
}
