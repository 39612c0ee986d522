//! Runs a test that bounds times from above; what fails beside other programs runs again, three times
//! in all, and then counts as skipped. A failure on a quiet machine is a failure.

use std::fs::read_to_string;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

const TRIES: u32 = 3;
/// Share of the CPUs that other programs use, above which a failure proves nothing.
const BUSY: f64 = 0.1;
/// The kernel counts in ticks of this length for user space, on every architecture.
const TICK_S: f64 = 0.01;

/// # Panics
/// Where `test` fails on a quiet machine.
pub fn on_a_quiet_machine(test: impl Fn()) {
    let mut busiest: f64 = 0.0;
    for _ in 0..TRIES {
        let (begun, others_s) = (Instant::now(), others_s());
        let Err(panic) = catch_unwind(AssertUnwindSafe(&test)) else {
            return;
        };
        let share = (self::others_s() - others_s) / begun.elapsed().as_secs_f64() / cpus();
        if share < BUSY {
            resume_unwind(panic);
        }
        busiest = busiest.max(share);
    }
    // Not captured, so that `make test` counts it.
    writeln!(std::io::stderr(), "skipped: the machine was busy ({:.0} %)", busiest * 100.0)
        .expect("standard error is open");
}

/// CPU time of all programs and of other virtual machines, without this process and its children.
fn others_s() -> f64 {
    let machine = read_to_string("/proc/stat").expect("Linux");
    let ticks: Vec<f64> = numbers(machine.lines().next().unwrap_or_default());
    // user, nice, system, idle, iowait, interrupts, soft interrupts, steal
    let busy: f64 = [0, 1, 2, 5, 6, 7].iter().map(|&place| ticks[place]).sum();
    let own = read_to_string("/proc/self/stat").expect("Linux");
    let own = numbers(own.rsplit_once(')').expect("a name in brackets").1);
    // utime, stime, cutime, cstime: fields 14 to 17 of proc(5); the name and the state are no numbers.
    (busy - own[10..14].iter().sum::<f64>()) * TICK_S
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn cpus() -> f64 {
    f64::from(
        u32::try_from(std::thread::available_parallelism().map_or(1, usize::from)).unwrap_or(1),
    )
}
