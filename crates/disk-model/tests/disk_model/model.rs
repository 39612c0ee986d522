//! Models against the formulas of their data sheets, in virtual time.
//! Long because each part of a model (seek, rotation, queue, cache, channels, arrays) has its formula and its test here.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation
)]

use std::collections::BTreeMap;

use assay_disk_model::model::{Disk, Event, Operation, Parameters, Request};

const SIZE: u64 = 4 << 30;
const PAGE: u64 = 8192;

/// A closed loop in virtual time: when a request ends, the next one arrives.
struct Loop {
    disk: Box<dyn Disk>,
    now_ns: u64,
    /// By how much requests count as earlier than they are handed in.
    early_ns: u64,
    next_id: u64,
    /// Arrival by request.
    pending: BTreeMap<u64, u64>,
    /// Latency of those that ended.
    latencies_ns: Vec<u64>,
    events: Vec<Event>,
    log: Vec<Event>,
}

impl Loop {
    fn new(parameters: &str) -> Self {
        Self::with_size(parameters, SIZE)
    }

    fn with_size(parameters: &str, size: u64) -> Self {
        let disk = Parameters::parse(parameters).unwrap().build(size).unwrap();
        Self {
            disk,
            now_ns: 1_000_000,
            early_ns: 0,
            next_id: 0,
            pending: BTreeMap::new(),
            latencies_ns: Vec::new(),
            events: Vec::new(),
            log: Vec::new(),
        }
    }

    fn submit(&mut self, operation: Operation, offset: u64, length: u64) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let arrival_ns = self.now_ns - self.early_ns;
        self.pending.insert(id, arrival_ns);
        let request = Request {
            id,
            operation,
            offset,
            length,
        };
        self.disk.submit(request, arrival_ns, &mut self.events);
        self.collect();
        id
    }

    fn collect(&mut self) {
        for event in self.events.drain(..) {
            if let Event::Completed { id, end_ns, .. } = event {
                let arrival_ns = self.pending.remove(&id).unwrap();
                self.latencies_ns.push(end_ns - arrival_ns);
            }
            self.log.push(event);
        }
    }

    /// Until fewer than `depth` requests are pending.
    fn wait_below(&mut self, depth: usize) {
        while self.pending.len() >= depth {
            let next_ns = self.disk.next_event_ns();
            let next_ns = next_ns.expect("a pending request has an event");
            self.now_ns = self.now_ns.max(next_ns);
            self.disk.advance(self.now_ns, &mut self.events);
            self.collect();
        }
    }

    fn rest(&mut self, duration_ns: u64) {
        self.now_ns += duration_ns;
        self.disk.advance(self.now_ns, &mut self.events);
        self.collect();
    }

    /// One request alone; its latency.
    fn alone(&mut self, operation: Operation, offset: u64, length: u64) -> u64 {
        self.submit(operation, offset, length);
        self.wait_below(1);
        *self.latencies_ns.last().unwrap()
    }

    /// Random requests at a depth; how many ended per second.
    fn random_per_s(&mut self, operation: Operation, depth: usize, count: u64) -> f64 {
        let mut dice = Dice(7);
        let started_ns = self.now_ns;
        for _ in 0..count {
            let offset = dice.below(SIZE / PAGE) * PAGE;
            self.submit(operation, offset, PAGE);
            self.wait_below(depth);
        }
        self.wait_below(1);
        count as f64 / (self.now_ns - started_ns) as f64 * 1e9
    }

    fn mean_latency_ms(&self) -> f64 {
        self.latencies_ns.iter().sum::<u64>() as f64 / self.latencies_ns.len() as f64 / 1e6
    }
}

pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn assert_near(found: f64, expected: f64, share: f64, what: &str) {
    let error = (found / expected - 1.0).abs();
    assert!(
        error < share,
        "{what}: expected {expected:.4}, found {found:.4}"
    );
}

#[test]
fn a_random_read_takes_the_average_seek_half_a_revolution_and_the_transfer() {
    // Data sheets: overhead, average seek, revolution, mean transfer of 8 KiB.
    for (profile, overhead, seek, revolution, rate) in [
        ("scsi-10k", 0.1, 4.5, 6.0, 54.5e6),
        ("scsi-15k", 0.1, 3.5, 4.0, 99.0e6),
        ("hdd-7200", 0.1, 8.5, 60_000.0 / 7200.0, 112.5e6),
    ] {
        let mut run = Loop::new(&format!("profile={profile}"));
        run.random_per_s(Operation::Read, 1, 60_000);
        let expected = overhead + seek + revolution / 2.0 + PAGE as f64 / rate * 1e3;
        assert_near(run.mean_latency_ms(), expected, 0.01, profile);
    }
    // Flash: the read, the interface.
    for (profile, latency, overhead, rate) in [
        ("sata-ssd", 0.090, 0.003, 540e6),
        ("fusion-io", 0.050, 0.008, 700e6),
        ("nvme", 0.075, 0.0007, 3.2e9),
    ] {
        let mut run = Loop::new(&format!("profile={profile}"));
        run.random_per_s(Operation::Read, 1, 10_000);
        let expected = latency + overhead + PAGE as f64 / rate * 1e3;
        assert_near(run.mean_latency_ms(), expected, 0.01, profile);
    }
}

#[test]
fn reordering_doubles_random_reads_and_a_queue_of_one_does_not() {
    let rate =
        |parameters: &str, depth| Loop::new(parameters).random_per_s(Operation::Read, depth, 6_000);
    let alone = rate("profile=hdd-7200", 1);
    for (parameters, depth, expected) in [
        ("profile=hdd-7200", 16, 1.7..2.6),
        ("profile=hdd-7200", 32, 2.0..3.2),
        ("profile=hdd-7200,queue=1", 32, 0.99..1.03),
    ] {
        let gain = rate(parameters, depth) / alone;
        assert!(expected.contains(&gain), "{parameters} at {depth}: {gain}");
    }
}

#[test]
fn a_solid_state_disk_works_at_as_many_requests_as_its_queue_has_room_for() {
    for queue in [1, 2, 4] {
        let mut run = Loop::new(&format!("profile=nvme,queue={queue}"));
        run.random_per_s(Operation::Read, 8, 200);
        run.wait_below(1);
        let mut changes = Vec::new();
        for event in &run.log {
            if let Event::Completed {
                start_ns: start,
                end_ns: end,
                ..
            } = event
            {
                changes.extend([(*start, 1), (*end, -1)]);
            }
        }
        changes.sort_unstable();
        let inside = changes.iter().scan(0, |inside, (_, change)| {
            *inside += change;
            Some(*inside)
        });
        assert_eq!(inside.max(), Some(queue));
    }
}

#[test]
fn no_request_waits_for_ever_in_a_queue_that_reorders() {
    let mut run = Loop::new("profile=hdd-7200");
    let far = run.submit(Operation::Read, SIZE - PAGE, PAGE);
    let mut dice = Dice(3);
    for _ in 0..2_000 {
        run.submit(Operation::Read, dice.below(2000) * PAGE, PAGE);
        run.wait_below(32);
        if !run.pending.contains_key(&far) {
            break;
        }
    }
    assert!(!run.pending.contains_key(&far));
    assert!(*run.latencies_ns.iter().max().unwrap() < 1_200_000_000);
}

#[test]
fn sequential_reads_run_at_the_rate_of_the_platter() {
    for (profile, outer) in [("hdd-7200", 150e6), ("scsi-15k", 125e6)] {
        for length in [PAGE * 4, 1 << 20] {
            let mut run = Loop::new(&format!("profile={profile}"));
            run.alone(Operation::Read, 0, length);
            let started_ns = run.now_ns;
            let count = (64 << 20) / length;
            for number in 1..=count {
                run.alone(Operation::Read, number * length, length);
            }
            let seconds = (run.now_ns - started_ns) as f64 / 1e9;
            assert_near((count * length) as f64 / seconds, outer, 0.03, profile);
        }
    }
    let mut inner = Loop::new("profile=hdd-7200");
    let start = SIZE - (80 << 20);
    inner.alone(Operation::Read, start, 1 << 20);
    let started_ns = inner.now_ns;
    for number in 1..=64 {
        inner.alone(Operation::Read, start + (number << 20), 1 << 20);
    }
    let seconds = (inner.now_ns - started_ns) as f64 / 1e9;
    assert_near(f64::from(64 << 20) / seconds, 75e6, 0.03, "inner edge");
}

#[test]
fn the_track_buffer_serves_what_it_has_room_for_and_nothing_else() {
    let mut run = Loop::new("profile=scsi-15k");
    for number in 0..64 {
        run.alone(Operation::Read, number << 20, 1 << 20);
    }
    // What was read long ago is not in a buffer of 2 MiB, though the same stream passed it.
    let again = run.alone(Operation::Read, 0, PAGE);
    assert!(again > 300_000, "{again}");
    // A client that pauses finds the buffer full, and waits for the platter only when it has emptied it.
    let mut paused = Loop::new("profile=scsi-15k");
    paused.alone(Operation::Read, 0, 65_536);
    paused.rest(100_000_000);
    for number in 1..=16 {
        let latency = paused.alone(Operation::Read, number * 65_536, 65_536);
        // Of 2 MiB that were read ahead.
        assert!(latency < 400_000, "request {number}: {latency}");
    }
    // Slower than the platter, with a pause after each: all come from the buffer.
    for number in 17..200 {
        paused.rest(10_000_000);
        let latency = paused.alone(Operation::Read, number * 65_536, 65_536);
        assert!(latency < 400_000, "request {number}: {latency}");
    }
}

#[test]
fn without_a_write_cache_the_next_block_of_a_log_costs_a_revolution() {
    let mut run = Loop::new("profile=scsi-15k");
    run.alone(Operation::Write, 0, PAGE);
    for number in 1..50 {
        let latency = run.alone(Operation::Write, number * PAGE, PAGE);
        assert!((3_900_000..4_200_000).contains(&latency), "{latency}");
    }
    assert_eq!(run.disk.volatile_bytes(), 0);
}

#[test]
fn a_cached_write_ends_at_once_and_the_flush_pays_for_it() {
    let mut run = Loop::new("profile=hdd-7200");
    run.alone(Operation::Read, 2 << 30, PAGE);
    let write = run.alone(Operation::Write, 0, PAGE);
    assert!(write < 200_000, "{write}");
    assert!(run.disk.volatile_bytes() > 0);
    let flush = run.alone(Operation::Flush, 0, 0);
    assert!((1_000_000..30_000_000).contains(&flush), "{flush}");
    assert_eq!(run.disk.volatile_bytes(), 0);
    let empty = run.alone(Operation::Flush, 0, 0);
    assert!(empty < 200_000, "{empty}");
    // In the background it becomes durable without a flush.
    run.alone(Operation::Write, 1 << 30, PAGE);
    run.rest(100_000_000);
    assert_eq!(run.disk.volatile_bytes(), 0);
}

#[test]
fn a_full_write_cache_makes_writes_wait_for_the_platter() {
    let mut run = Loop::new("profile=hdd-7200");
    let cached = run.random_per_s(Operation::Write, 8, 1_500);
    let mut through = Loop::new("profile=hdd-7200,write_cache=off");
    let uncached = through.random_per_s(Operation::Write, 8, 1_500);
    // There is room for 2,048 pages; behind them the platter's rate shows.
    assert!(cached > 2.0 * uncached, "{cached}, {uncached}");
    let long = Loop::new("profile=hdd-7200").random_per_s(Operation::Write, 8, 20_000);
    assert!(long < cached / 5.0, "{long}, {cached}");
}

#[test]
fn a_flush_on_flash_programs_the_cache_unless_it_is_protected() {
    let mut plain = Loop::new("profile=sata-ssd");
    let write = plain.alone(Operation::Write, 0, PAGE);
    assert!(write < 40_000, "{write}");
    let flush = plain.alone(Operation::Flush, 0, 0);
    assert!((1_000_000..1_200_000).contains(&flush), "{flush}");
    let mut protected = Loop::new("profile=fusion-io");
    let write = protected.alone(Operation::Write, 0, PAGE);
    assert!(write < 25_000, "{write}");
    assert_eq!(protected.disk.volatile_bytes(), 0);
    let flush = protected.alone(Operation::Flush, 0, 0);
    assert!(flush < 20_000, "{flush}");
}

#[test]
fn channels_work_at_the_same_time() {
    let rate = |channels: u64, depth| {
        let parameters = format!("profile=nvme,channels={channels}");
        Loop::new(&parameters).random_per_s(Operation::Read, depth, 20_000)
    };
    assert_near(rate(1, 16), rate(1, 1), 0.06, "one channel");
    let gain = rate(64, 16) / rate(64, 1);
    assert!((12.0..16.0).contains(&gain), "{gain}");
}

#[test]
fn garbage_is_collected_after_so_many_bytes() {
    let slow = |parameters: &str| {
        let mut run = Loop::new(parameters);
        run.random_per_s(Operation::Write, 4, 20_000);
        let latencies = run.latencies_ns.iter();
        latencies.filter(|latency| **latency > 5_000_000).count()
    };
    let base = "profile=sata-ssd,write_cache=256k,gc_pause=20ms";
    assert_eq!(slow(&format!("{base},gc_every=0")), 0);
    // 160 MiB in steps of 8 to 24 MiB, each seen by the up to four requests that wait.
    let pauses = slow(&format!("{base},gc_every=16M"));
    assert!((6..=80).contains(&pauses), "{pauses}");
}

#[test]
fn arrays_have_the_times_of_their_shape() {
    let rate = |parameters: &str, operation, depth| {
        Loop::new(parameters).random_per_s(operation, depth, 6_000)
    };
    let disk = "profile=scsi-15k,queue=1";
    let one = rate(disk, Operation::Read, 1);
    let six = |raid: &str| format!("{disk},disks=6,raid={raid}");
    // At depth 1 an array is a disk; with requests for all, six disks do almost six times as much.
    let striped = rate(&six("0"), Operation::Read, 1);
    assert_near(striped, one, 0.1, "raid 0, depth 1");
    let striped = rate(&six("0"), Operation::Read, 48) / one;
    assert!((5.0..6.3).contains(&striped), "{striped}");
    // A write goes to both mirrors: half the disks' worth.
    let write = rate(disk, Operation::Write, 1);
    let mirrored = rate(&six("10"), Operation::Write, 48) / write;
    assert!((2.3..3.2).contains(&mirrored), "{mirrored}");
    // A mirror ends with the slower of two disks.
    let pair = rate(&format!("{disk},disks=2,raid=1"), Operation::Write, 1) / write;
    assert!((0.7..1.01).contains(&pair), "{pair}");
    // Four operations on two disks: a quarter of the disks' worth, and about a revolution more for each.
    let small = rate(&six("5"), Operation::Write, 48) / write;
    assert!((1.2..2.6).contains(&small), "{small}");
}

#[test]
fn a_full_row_of_raid_5_is_written_without_reading() {
    let mut run = Loop::new("profile=scsi-15k,disks=5,raid=5,stripe=64k");
    run.alone(Operation::Write, 0, 4 * 65_536);
    let row = run.alone(Operation::Write, 1 << 30, 4 * 65_536);
    let small = run.alone(Operation::Write, 2 << 30, PAGE);
    // A read-modify-write comes back to the same place a revolution later.
    assert!(row < 14_000_000, "{row}");
    assert!(small > 4_000_000, "{small}");
    let length = |event: &Event| match event {
        Event::DestageStarted { length, .. } => *length,
        _ => 0,
    };
    let destaged: u64 = run.log.iter().map(length).sum();
    assert_eq!(destaged, 2 * 4 * 65_536 + PAGE, "parity is no data");
}

#[test]
fn every_write_becomes_durable_before_the_flush_that_covers_it_ends() {
    for parameters in [
        "profile=hdd-7200",
        "profile=scsi-15k",
        "profile=sata-ssd",
        "profile=nvme",
        "profile=hdd-7200,disks=4,raid=10",
        "profile=sata-ssd,disks=3,raid=5",
        "profile=hdd-7200,disks=2,raid=1",
        "profile=none",
    ] {
        let mut run = Loop::new(parameters);
        let mut dice = Dice(11);
        let mut written = Vec::new();
        for number in 0..300 {
            // The second half as over a way that takes longer than a page.
            run.early_ns = if number < 150 { 0 } else { dice.below(900_000) };
            let (offset, length) = (dice.below(1 << 18) * 4096, (1 + dice.below(40)) * 4096);
            run.submit(Operation::Write, offset, length);
            written.push(offset..offset + length);
            run.wait_below(6);
        }
        run.wait_below(1);
        run.alone(Operation::Flush, 0, 0);
        let mut under_way = BTreeMap::new();
        let mut durable = std::collections::BTreeSet::new();
        for event in &run.log {
            match event {
                Event::DestageStarted {
                    destage,
                    offset,
                    length,
                } => {
                    assert!(under_way.insert(*destage, (*offset, *length)).is_none());
                }
                Event::DestageEnded { destage } => {
                    let (offset, length) = under_way.remove(destage).expect("it started");
                    durable.extend((offset..offset + length).step_by(512).map(|at| at / 512));
                }
                Event::Completed { .. } => {}
            }
        }
        for sector in written.into_iter().flat_map(|range| range.step_by(512)) {
            assert!(durable.contains(&(sector / 512)), "{parameters}");
        }
    }
}

/// Reads per second of clients that hear of an end `way_ns` later, and whose next request then counts as
/// `early_ns` earlier.
fn reads_per_s(parameters: &str, depth: u64, way_ns: u64, early_ns: u64) -> f64 {
    let mut run = Loop::new(parameters);
    run.early_ns = early_ns;
    let mut dice = Dice(7);
    let began_ns = run.now_ns;
    let mut sends: Vec<u64> = (0..depth).map(|_| began_ns).collect();
    while run.latencies_ns.len() < 4_000 {
        sends.sort_unstable_by_key(|at_ns| std::cmp::Reverse(*at_ns));
        let next_ns = run.disk.next_event_ns().unwrap_or(u64::MAX);
        let heard = run.latencies_ns.len();
        if sends.last().is_some_and(|send_ns| *send_ns <= next_ns) {
            run.now_ns = run.now_ns.max(sends.pop().unwrap());
            run.submit(Operation::Read, dice.below(SIZE / PAGE) * PAGE, PAGE);
        } else {
            run.now_ns = run.now_ns.max(next_ns);
            run.disk.advance(run.now_ns, &mut run.events);
            run.collect();
        }
        let count = sends.len() + run.latencies_ns.len() - heard;
        sends.resize(count, run.now_ns + way_ns);
    }
    4_000.0 / (run.now_ns - began_ns) as f64 * 1e9
}

#[test]
fn a_request_that_counts_as_earlier_loses_nothing_to_the_way() {
    let way_ns = 80_000;
    for (parameters, depth) in [
        ("profile=sata-ssd,read_latency=450us", 1),
        ("profile=sata-ssd,read_latency=450us", 16),
        ("profile=scsi-15k", 1),
        ("profile=scsi-15k", 16),
    ] {
        let what = format!("{parameters} at depth {depth}");
        let without = reads_per_s(parameters, depth, 0, 0);
        let with = reads_per_s(parameters, depth, way_ns, way_ns);
        assert_near(with, without, 0.02, &what);
    }
    let slow = reads_per_s("profile=sata-ssd,read_latency=450us", 16, way_ns, 0);
    let fast = reads_per_s("profile=sata-ssd,read_latency=450us", 16, 0, 0);
    assert!(slow < 0.93 * fast, "{slow:.0} of {fast:.0}");
}

#[test]
fn the_same_requests_always_end_at_the_same_times() {
    for parameters in ["profile=sata-ssd,gc_every=1M", "profile=hdd-7200,disks=4,raid=5"] {
        let log = |seed: u64| {
            let mut run = Loop::new(&format!("{parameters},seed={seed}"));
            run.random_per_s(Operation::Write, 16, 2_000);
            run.log
        };
        assert_eq!(log(1), log(1));
    }
    let times = |seed: u64| {
        let mut run = Loop::new(&format!("profile=sata-ssd,gc_every=1M,seed={seed}"));
        run.random_per_s(Operation::Write, 16, 20_000);
        run.now_ns
    };
    assert_ne!(times(1), times(2), "the pauses are drawn from the seed");
}

#[test]
fn impossible_parameters_are_refused_in_a_sentence() {
    for (text, part) in [
        ("profile=floppy", "there is no profile \"floppy\""),
        ("profile=nvme,rpm=7200", "no such parameter"),
        ("rpm=fast", "expected a whole number"),
        ("rpm=0", "expected a whole number from 60"),
        ("seek_average=30ms", "seek_average"),
        ("seek_max=8", "a time with its unit"),
        ("rate_inner=300MB/s", "rate_inner"),
        ("rate_outer=0MB/s", "above 0"),
        ("write_cache=maybe", "off or a size"),
        ("disks=6", "need raid="),
        ("disks=3,raid=10", "an even number"),
        ("raid=5", "at least 3"),
        ("raid=6,disks=6", "0, 1, 10 or 5"),
        ("stripe=5", "multiple of 4096"),
        ("sector=100", "512 or 4096"),
        ("queue=0", "from 1"),
        ("rpm", "KEY=VALUE"),
        ("rpm=7200,rpm=5400", "given twice"),
        ("profile=nvme,page=0", "page"),
        ("profile=nvme,page=1e300", "page"),
    ] {
        let error = Parameters::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let small = Parameters::parse("capacity=1G").unwrap().build(SIZE);
    assert!(small.is_err_and(|error| error.to_string().contains("capacity")));
    let large = Parameters::parse("capacity=73G").unwrap();
    large.build(SIZE).unwrap();
}
