//! Returns the resources that this process has used so far, as counted by the kernel.

use crate::observation::ClientCost;

/// CPU time, memory and context switches of all threads of this process. With a system in this process
/// they include the system's own.
pub fn so_far() -> ClientCost {
    // SAFETY: `rusage` is plain numbers, for which all-zero bytes are valid, and `getrusage` only writes to
    // the structure it is given.
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
        machine_busy_ns: machine_busy_ns(),
        ..ClientCost::default()
    }
}

/// CPU time of all threads of this process, with the resolution of the kernel.
pub fn processor_ns() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of this thread.
pub fn processor_ns_of_thread() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The mean number of processes that ran or waited to, in the last minute; `None` if the kernel does not report it.
pub fn load_1min() -> Option<f64> {
    let mut load = 0.0;
    // SAFETY: the call only writes to the one number that it is given.
    (unsafe { libc::getloadavg(&raw mut load, 1) } == 1).then_some(load)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call only writes to the structure it is given. If it fails, that stays zero.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The resident memory of this process; 0 if the kernel does not report it.
pub fn resident_bytes() -> u64 {
    // The second number of proc(5) `statm`, in pages.
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| {
            let resident = text.split_whitespace().nth(1)?;
            resident.parse::<u64>().ok()
        });
    // SAFETY: the call takes and returns plain numbers.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0) * u64::try_from(page_bytes).unwrap_or(0)
}

/// The kernel's id of this thread.
pub fn thread_id() -> libc::pid_t {
    // SAFETY: the call takes nothing and returns a plain number.
    unsafe { libc::gettid() }
}

/// CPU time of a thread of this process since it began; 0 if it has ended or the kernel does not report it.
pub fn ran_ns(thread: libc::pid_t) -> u64 {
    schedule_statistic(thread, 0)
}

/// How long a thread of this process was ready to run and had no processor, since it began; 0 if it has ended
/// or the kernel does not report it.
pub fn waited_for_processor_ns(thread: libc::pid_t) -> u64 {
    schedule_statistic(thread, 1)
}

/// A number of proc(5) `schedstat`: time on a processor, time waiting for one.
fn schedule_statistic(thread: libc::pid_t, place: usize) -> u64 {
    std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat"))
        .ok()
        .and_then(|text| text.split_whitespace().nth(place)?.parse().ok())
        .unwrap_or(0)
}

/// The busy time of all processors since the machine started, without idle time and time stolen by other
/// virtual machines.
fn machine_busy_ns() -> Option<u64> {
    // The first line of proc(5) `stat`: user, nice, system, idle, iowait, irq, softirq.
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks = text.lines().next()?.split_whitespace().skip(1);
    let ticks: Vec<u64> = ticks.filter_map(|tick| tick.parse().ok()).collect();
    let [user, nice, system, _, _, irq, softirq, ..] = ticks[..] else {
        return None;
    };
    // SAFETY: the call takes and returns plain numbers.
    let per_s = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    let tick_ns = 1_000_000_000u64.checked_div(per_s)?;
    Some((user + nice + system + irq + softirq) * tick_ns)
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
    (seconds * 1_000_000 + microseconds) * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn threads_wait_where_there_are_more_of_them_than_processors() {
        let threads = 4 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let busy_before_ns = machine_busy_ns().expect("the kernel reports it");
        let spin = || {
            let end = Instant::now() + Duration::from_millis(300);
            while Instant::now() < end {
                std::hint::spin_loop();
            }
            waited_for_processor_ns(thread_id())
        };
        let waited_ns: u64 = std::thread::scope(|scope| {
            let spinning: Vec<_> = (0..threads).map(|_| scope.spawn(spin)).collect();
            let each = spinning
                .into_iter()
                .map(|thread| thread.join().expect("the thread does not panic"));
            each.sum()
        });
        assert!(waited_ns > 100_000_000, "{waited_ns}");
        assert!(machine_busy_ns().expect("the kernel reports it") > busy_before_ns);
        assert_eq!(waited_for_processor_ns(0), 0);
    }
}
