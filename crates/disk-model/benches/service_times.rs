//! Real service times against the model: a loop device with direct I/O on the served file, read and written
//! with `O_DIRECT` by as many threads as the depth, and the same requests given to the model in virtual time.
//!
//! `cargo bench -p assay-disk-model --bench service_times [-- PROFILE…]`, as root. Prints Markdown.

#![allow(missing_docs, clippy::unwrap_used, clippy::cast_precision_loss)]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_disk_model::model::{Event, Operation, Parameters, Request};

const PROGRAM: &str = env!("CARGO_BIN_EXE_assay-disk-model");
const SIZE: u64 = 1 << 30;
const PAGE: usize = 8192;
const RUN: Duration = Duration::from_secs(4);
/// Those with names, and flash that takes about ten and twenty times as long as the way.
const MODELS: [&str; 7] = [
    "scsi-15k",
    "hdd-7200",
    "sata-ssd",
    "fusion-io",
    "nvme",
    "sata-ssd,read_latency=450us",
    "sata-ssd,read_latency=1ms",
];

#[derive(Clone, Copy)]
enum Pattern {
    RandomRead,
    WriteAndFlush,
    SequentialRead,
}

impl Pattern {
    fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "random read, 8 KiB",
            Self::WriteAndFlush => "random write, 8 KiB, and flush",
            Self::SequentialRead => "sequential read, 128 KiB",
        }
    }

    fn place(self, number: u64) -> (u64, usize) {
        match self {
            Self::SequentialRead => (number * 131_072 % SIZE, 131_072),
            _ => (mixed(number) % (SIZE / PAGE as u64) * PAGE as u64, PAGE),
        }
    }
}

/// The n-th place, the same for the model and for the disk.
fn mixed(number: u64) -> u64 {
    let mut value = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^ (value >> 31)
}

/// What clients see of a disk.
struct Seen {
    per_s: f64,
    /// Half of the requests took longer.
    median_us: f64,
}

impl Seen {
    fn new(per_s: f64, mut times_ns: Vec<u64>) -> Self {
        times_ns.sort_unstable();
        Self { per_s, median_us: times_ns[times_ns.len() / 2] as f64 / 1e3 }
    }
}

/// The model, with clients that need no time.
fn modelled(model: &str, pattern: Pattern, depth: usize) -> Seen {
    let mut disk = Parameters::parse(model).unwrap().build(SIZE).unwrap();
    let mut events = Vec::new();
    let (mut now_ns, mut next, mut ended) = (1_000_000, 0_u64, 0_u64);
    // What each client does next: a flush follows a write.
    let mut flushes = vec![false; depth];
    let mut idle: Vec<usize> = (0..depth).collect();
    let mut clients = std::collections::HashMap::new();
    let mut sent_ns = vec![0; depth];
    let mut times_ns = Vec::new();
    let mut id = 0;
    // Sequential requests come as far as the measured ones do: outer tracks are faster.
    let most = 30_000;
    let until_ns = match pattern {
        Pattern::SequentialRead => u64::try_from(RUN.as_nanos()).unwrap(),
        _ => 1_000_000_000_000,
    };
    let mut began_ns = now_ns;
    while ended < most && now_ns < until_ns {
        while let Some(client) = idle.pop() {
            let (operation, offset, length) = match (pattern, flushes[client]) {
                (Pattern::WriteAndFlush, true) => (Operation::Flush, 0, 0),
                (Pattern::WriteAndFlush, false) => {
                    let (offset, length) = pattern.place(next);
                    next += 1;
                    (Operation::Write, offset, length as u64)
                }
                _ => {
                    let (offset, length) = pattern.place(next);
                    next += 1;
                    (Operation::Read, offset, length as u64)
                }
            };
            if operation != Operation::Flush {
                sent_ns[client] = now_ns;
            }
            clients.insert(id, (client, operation));
            let request = Request { id, operation, offset, length };
            id += 1;
            disk.submit(request, now_ns, &mut events);
        }
        if let Some(at_ns) = disk.next_event_ns() {
            now_ns = at_ns;
            disk.advance(now_ns, &mut events);
        }
        for event in events.drain(..) {
            if let Event::Completed { id, .. } = event {
                let (client, operation) = clients.remove(&id).unwrap();
                idle.push(client);
                let is_pair = matches!(pattern, Pattern::WriteAndFlush);
                flushes[client] = is_pair && operation == Operation::Write;
                if !flushes[client] {
                    ended += 1;
                    if ended == 100 {
                        began_ns = now_ns;
                    }
                    times_ns.push(now_ns - sent_ns[client]);
                }
            }
        }
    }
    let per_s = (ended - 100) as f64 / (now_ns - began_ns) as f64 * 1e9;
    Seen::new(per_s, times_ns)
}

struct Served {
    folder: tempfile::TempDir,
    child: Child,
    device: String,
}

impl Served {
    fn start(model: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("assay-disk-").tempdir_in("/var/tmp").unwrap();
        let mount = folder.path().join("mount");
        std::fs::create_dir(&mount).unwrap();
        let mut child = Command::new(PROGRAM)
            .args(["serve", "--size", "1G", "--model", model, "--control"])
            .arg(folder.path().join("control"))
            .arg("--image")
            .arg(folder.path().join("image"))
            .arg("--mount")
            .arg(&mount)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let output = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on"])
            .arg(mount.join("disk"))
            .output()
            .unwrap();
        assert!(output.status.success(), "losetup: {}", String::from_utf8_lossy(&output.stderr));
        let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        Self { folder, child, device }
    }

    fn open(&self) -> File {
        OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc_o_direct())
            .open(&self.device)
            .unwrap()
    }

    /// The sum of the time by which answers were late, and how many there were.
    fn late_ns(&self) -> (f64, f64) {
        let mut stream = UnixStream::connect(self.folder.path().join("control")).unwrap();
        writeln!(stream, "{}", serde_json::json!({"command": "counters"})).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        let count = |name: &str| answer["counters"][name].as_f64().unwrap();
        (count("late_ns"), count("reads") + count("writes") + count("flushes"))
    }

    /// Has the way's cost subtracted; returns it for an operation at a depth, in microseconds.
    fn calibrate(&self) -> impl Fn(&str, usize) -> f64 {
        let output = Command::new(PROGRAM)
            .args(["calibrate", "--device", &self.device, "--control"])
            .arg(self.folder.path().join("control"))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "calibrate: {error}");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        eprintln!("{found}");
        move |operation, depth| {
            let kinds = found["kinds"].as_array().unwrap();
            let mut of_operation = kinds.iter().filter(|kind| kind["operation"] == operation);
            let kind = of_operation.find(|kind| kind["depth"] == depth).unwrap();
            kind["path_cost_ns"].as_f64().unwrap() / 1e3
        }
    }

    fn measured(&self, pattern: Pattern, depth: usize) -> Seen {
        let next = AtomicU64::new(0);
        let started = Instant::now();
        let times_ns: Vec<u64> = std::thread::scope(|scope| {
            let work = || {
                scope.spawn(|| {
                    let disk = self.open();
                    let mut times_ns = Vec::with_capacity(1 << 18);
                    let mut memory = vec![7_u8; 131_072 + 4096];
                    let skip = memory.as_ptr().align_offset(4096);
                    while started.elapsed() < RUN {
                        let (offset, length) = pattern.place(next.fetch_add(1, Ordering::Relaxed));
                        let bytes = &mut memory[skip..skip + length];
                        let sent = Instant::now();
                        if matches!(pattern, Pattern::WriteAndFlush) {
                            disk.write_all_at(bytes, offset).unwrap();
                            disk.sync_data().unwrap();
                        } else {
                            disk.read_exact_at(bytes, offset).unwrap();
                        }
                        times_ns.push(u64::try_from(sent.elapsed().as_nanos()).unwrap());
                    }
                    times_ns
                })
            };
            let threads: Vec<_> = (0..depth).map(|_| work()).collect();
            let times = threads.into_iter().map(|thread| thread.join().unwrap());
            times.flatten().collect()
        });
        let per_s = times_ns.len() as f64 / started.elapsed().as_secs_f64();
        Seen::new(per_s, times_ns)
    }
}

fn libc_o_direct() -> i32 {
    i32::try_from(rustix::fs::OFlags::DIRECT.bits()).unwrap()
}

impl Drop for Served {
    fn drop(&mut self) {
        let detached = Command::new("losetup").args(["-d", &self.device]).status();
        eprintln!("{} detached: {}", self.device, detached.is_ok_and(|status| status.success()));
        if let Some(pid) =
            i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        }
        self.child.wait().unwrap();
        assert!(!self.folder.path().join("mount/disk").exists());
    }
}

fn main() {
    let given: Vec<String> =
        std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    println!(
        "| profile | pattern | depth | model, per s | measured, per s | measured / model | model, median us | measured, median us | measured / model | late, us | way, us |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let cases = [
        (Pattern::RandomRead, 1),
        (Pattern::RandomRead, 16),
        (Pattern::WriteAndFlush, 1),
        (Pattern::SequentialRead, 1),
    ];
    let is_asked = |profile: &str| given.is_empty() || given.iter().any(|name| name == profile);
    if is_asked("none") {
        // What the way costs, without delays.
        let floor = Served::start("profile=none");
        for (pattern, depth) in cases {
            floor.measured(pattern, depth);
            let measured = floor.measured(pattern, depth);
            println!(
                "| none | {} | {depth} | | {:.0} | | | {:.0} | | | |",
                pattern.name(),
                measured.per_s,
                measured.median_us
            );
        }
    }
    for profile in MODELS.into_iter().filter(|profile| is_asked(profile)) {
        let model = format!("profile={profile}");
        let served = Served::start(&model);
        let way_us = served.calibrate();
        for (pattern, depth) in cases {
            let modelled = modelled(&model, pattern, depth);
            let (late_before, count_before) = served.late_ns();
            let measured = served.measured(pattern, depth);
            let (late, count) = served.late_ns();
            println!(
                "| {profile} | {} | {depth} | {:.1} | {:.1} | {:.3} | {:.0} | {:.0} | {:.3} | {:.0} | {:.0} |",
                pattern.name(),
                modelled.per_s,
                measured.per_s,
                measured.per_s / modelled.per_s,
                modelled.median_us,
                measured.median_us,
                measured.median_us / modelled.median_us,
                (late - late_before) / (count - count_before) / 1e3,
                match pattern {
                    Pattern::WriteAndFlush => way_us("write", depth) + way_us("flush", depth),
                    _ => way_us("read", depth),
                }
            );
        }
    }
}
