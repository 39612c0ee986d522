//! Takes nothing; gives what this process has cost the machine so far, as the kernel counts it.

use crate::observation::ClientCost;

/// Processor time, memory and context switches of all threads of this process. For a library that
/// lives in this process they hold the system's own cost as well.
#[must_use]
pub fn so_far() -> ClientCost {
    // SAFETY: `rusage` is plain numbers, for which all-zero bytes are valid, and `getrusage` only
    // writes into the one it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
    ClientCost {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        // Linux counts in KiB (getrusage(2)).
        resident_peak_bytes: count(usage.ru_maxrss) * 1024,
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        ..ClientCost::default()
    }
}

/// Processor time of all threads of this process, as finely as the kernel counts it.
#[must_use]
pub fn processor_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call only writes into the one it is given. Where it fails, that stays zero.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// What this process has in memory now; 0 where the kernel does not say.
#[must_use]
pub fn resident_bytes() -> u64 {
    // The second number of proc(5) `statm`, in pages.
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| {
            let resident = text.split_whitespace().nth(1)?;
            resident.parse::<u64>().ok()
        });
    // SAFETY: the call takes and gives plain numbers.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0) * u64::try_from(page_bytes).unwrap_or(0)
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
    (seconds * 1_000_000 + microseconds) * 1_000
}
