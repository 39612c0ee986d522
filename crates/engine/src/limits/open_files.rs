//! Takes nothing; lets this process have as many sockets as the machine's owner allows.

/// Raises the soft limit of open files to the hard one: a shell's usual 1,024 are fewer than the
/// clients of a large run. Where that fails nothing is lost; too few files are told when they lack.
/// Gives the limit that is now in force.
pub fn allow_many() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for one `rlimit`, which both calls only read or write.
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

/// Files that this process has open now.
pub fn open_now() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64)
}
