//! Takes a served disk behind a loop device; measures what the way to it costs, and has the disk subtract it, for each
//! operation and number of requests under way.
//!
//! Requests go through the loop device, each taking as long as the disk is modelled: random reads and writes, at
//! two depths, and flushes. The way costs more when the processors sleep between requests than when they never
//! do, more again when many requests share them, and for each operation something else. What a request took
//! beyond its modelled time is the cost. A round has many short parts; the cost is that of the second eighth by
//! their times, as other programs make the others longer. No more is ever subtracted than was found while
//! nothing was; further rounds, with it subtracted, can only lower it: earlier answers leave the processors
//! awake, which shortens the way. So the disk is rather slower than its model than faster.
//!
//! This is a process of its own. If the one that serves the disk read it itself and were killed, that read
//! would keep its descriptor of the mount open, and the kernel would wait for an answer for ever.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::DiskError;
use crate::model::Operation;
use crate::model::Random;

/// What is measured: an operation, by so many threads.
const KINDS: [(Operation, u64); 5] = [
    (Operation::Read, 1),
    (Operation::Read, 16),
    (Operation::Write, 1),
    (Operation::Write, 16),
    (Operation::Flush, 1),
];
const MOST_ROUNDS: u64 = 5;
/// Of the modelled time: for so little no further round is needed.
const NEAR: f64 = 0.01;
/// A few times what the way costs on a machine that is not busy.
const LARGEST_NS: f64 = 150_000.0;
const ROUND: Duration = Duration::from_millis(200);
/// Also on a slow disk.
const LEAST_PARTS: usize = 8;
/// On a slow disk a part is one request of each thread.
const PART: Duration = Duration::from_millis(8);
/// The way costs larger ones more.
const REQUEST_BYTES: usize = 4096;
/// So many pages are written again and again.
const REWRITTEN: usize = 256;
/// What `O_DIRECT` needs with any sectors.
const ALIGNMENT: usize = 4096;

/// Where the disk is.
#[derive(Clone, Debug)]
pub struct Places {
    /// The loop device on the served file.
    pub device: PathBuf,
    /// The socket for commands.
    pub control: PathBuf,
}

/// What was found for a kind of request. Times are means.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    requests: f64,
    measured_ns: f64,
    modelled_ns: f64,
    under_way: f64,
    /// By how much measured times were longer than modelled ones, in the second eighth of the parts.
    beyond_ns: f64,
}

/// Measures, has the disk subtract, and returns for each operation and depth what the way costs, what the model
/// and the client say of a request then.
///
/// # Errors
///
/// The device cannot be read and written or is in use, or the disk does not answer.
pub fn calibrate(places: &Places) -> Result<Value, DiskError> {
    let mut control = Control::open(&places.control)?;
    let disk = Disk::open(&places.device, &mut control)?;
    let mut costs_ns = [0.0; KINDS.len()];
    let mut under_way = KINDS.map(|(_, depth)| depth as f64);
    let mut last = [Found::default(); KINDS.len()];
    for round in 0..MOST_ROUNDS {
        control.set_costs(&under_way, &costs_ns)?;
        let mut is_lower = false;
        for (index, kind) in KINDS.into_iter().enumerate() {
            let found = measured(&mut control, &disk, kind, round)?;
            if round == 0 {
                costs_ns[index] = found.beyond_ns.clamp(0.0, LARGEST_NS);
                under_way[index] = found.under_way.max(1.0);
            } else if found.beyond_ns < -NEAR * found.modelled_ns {
                costs_ns[index] = (costs_ns[index] + found.beyond_ns).max(0.0);
                is_lower = true;
            }
            last[index] = found;
        }
        if round > 0 && !is_lower {
            break;
        }
    }
    control.set_costs(&under_way, &costs_ns)?;
    let rows = KINDS.into_iter().zip(last).zip(costs_ns);
    let rows = rows.map(|(((operation, depth), found), cost_ns)| {
        json!({
            "operation": name(operation),
            "depth": depth,
            "path_cost_ns": whole(cost_ns),
            "modelled_ns": whole(found.modelled_ns),
            "measured_ns": whole(found.measured_ns),
            "requests": whole(found.requests),
        })
    });
    Ok(json!({"kinds": rows.collect::<Vec<_>>()}))
}

/// Requests of a kind at random places, for a while.
fn measured(
    control: &mut Control,
    disk: &Disk,
    (operation, depth): (Operation, u64),
    round: u64,
) -> Result<Found, DiskError> {
    let failed = || DiskError::machine("cannot use the disk through", &disk.path);
    let mut parts = Vec::new();
    if operation == Operation::Flush {
        // Of what the writes before have left in the cache: that is no flush of one write.
        disk.flush().map_err(failed())?;
    }
    let began = Instant::now();
    while began.elapsed() < ROUND || parts.len() < LEAST_PARTS {
        let seed = (round << 48) | ((parts.len() as u64) << 24) | (depth << 16);
        if operation == Operation::Flush {
            disk.requests(Operation::Write, seed, Duration::ZERO)
                .map_err(failed())?;
        }
        let before = control.counters()?;
        let (count, total) = match operation {
            Operation::Flush => disk.flush().map_err(failed())?,
            _ if depth == 1 => disk.requests(operation, seed, PART).map_err(failed())?,
            _ => disk.by_threads(operation, seed, depth).map_err(failed())?,
        };
        let after = control.counters()?;
        let counted =
            |name: &str| after[name].as_f64().unwrap_or(0.0) - before[name].as_f64().unwrap_or(0.0);
        let ended = (counted("reads") + counted("writes") + counted("flushes")).max(1.0);
        let measured_ns = total.as_nanos() as f64 / count.max(1) as f64;
        let modelled_ns = counted("modelled_ns") / ended;
        parts.push(Found {
            requests: ended,
            measured_ns,
            modelled_ns,
            under_way: counted("under_way") / ended,
            beyond_ns: measured_ns - modelled_ns,
        });
    }
    let requests: f64 = parts.iter().map(|part| part.requests).sum();
    let mean = |of: fn(&Found) -> f64| {
        let sum: f64 = parts.iter().map(|part| of(part) * part.requests).sum();
        sum / requests
    };
    Ok(Found {
        requests,
        measured_ns: mean(|part| part.measured_ns),
        modelled_ns: mean(|part| part.modelled_ns),
        under_way: mean(|part| part.under_way),
        beyond_ns: second_eighth(parts.iter().map(|part| part.beyond_ns).collect()),
    })
}

/// The mean of those values of which an eighth is smaller and three quarters are larger.
fn second_eighth(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let first = values.len() / 8;
    let chosen = &values[first..values.len().div_ceil(4)];
    chosen.iter().sum::<f64>() / chosen.len() as f64
}

fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Flush => "flush",
    }
}

/// The loop device, which nothing else uses meanwhile.
struct Disk {
    path: PathBuf,
    file: File,
    pages: u64,
    /// Where writes go.
    places: Vec<u64>,
    /// What was at these places, which writes put back.
    found: Vec<u8>,
    skip: usize,
}

impl Disk {
    fn open(path: &Path, control: &mut Control) -> Result<Self, DiskError> {
        let failed = || DiskError::machine("cannot open the disk", path);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            // Of a block device the second one means: not while a file system is mounted from it.
            .custom_flags(libc::O_DIRECT | libc::O_EXCL)
            .open(path)
            .map_err(failed())?;
        let size_bytes = file.seek(SeekFrom::End(0)).map_err(failed())?;
        let pages = (size_bytes / REQUEST_BYTES as u64).max(1);
        let mut random = Random::new(size_bytes);
        let mut found = vec![0_u8; REWRITTEN * REQUEST_BYTES + ALIGNMENT];
        let skip = found.as_ptr().align_offset(ALIGNMENT);
        let mut places = Vec::with_capacity(REWRITTEN);
        control.set_paced(false)?;
        for bytes in found[skip..]
            .chunks_exact_mut(REQUEST_BYTES)
            .take(REWRITTEN)
        {
            let place = random.below(pages) * REQUEST_BYTES as u64;
            file.read_exact_at(bytes, place).map_err(failed())?;
            places.push(place);
        }
        control.set_paced(true)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            pages,
            places,
            found,
            skip,
        })
    }

    /// How many requests there were, and how long they took together.
    fn by_threads(
        &self,
        operation: Operation,
        seed: u64,
        depth: u64,
    ) -> std::io::Result<(u64, Duration)> {
        let took = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..depth)
                .map(|number| scope.spawn(move || self.requests(operation, seed | number, PART)))
                .collect();
            let ended = threads.into_iter().map(ScopedJoinHandle::join);
            ended
                .map(|took| took.expect("a request does not panic"))
                .collect::<std::io::Result<Vec<_>>>()
        })?;
        let count = took.iter().map(|(count, _)| count).sum();
        Ok((count, took.iter().map(|(_, total)| total).sum()))
    }

    /// One thread's reads or writes: how many, and how long they took together.
    fn requests(
        &self,
        operation: Operation,
        seed: u64,
        at_least: Duration,
    ) -> std::io::Result<(u64, Duration)> {
        let mut memory = vec![0_u8; REQUEST_BYTES + ALIGNMENT];
        let skip = memory.as_ptr().align_offset(ALIGNMENT);
        let bytes = &mut memory[skip..skip + REQUEST_BYTES];
        let mut random = Random::new(seed);
        let (began, mut count, mut total) = (Instant::now(), 0, Duration::ZERO);
        while count == 0 || began.elapsed() < at_least {
            let place = random.below(self.pages) * REQUEST_BYTES as u64;
            let number = place / REQUEST_BYTES as u64 % REWRITTEN as u64;
            let number = usize::try_from(number).unwrap_or_default();
            let sent = Instant::now();
            if operation == Operation::Write {
                let from = self.skip + number * REQUEST_BYTES;
                let bytes = &self.found[from..from + REQUEST_BYTES];
                self.file.write_all_at(bytes, self.places[number])?;
            } else {
                self.file.read_exact_at(bytes, place)?;
            }
            total += sent.elapsed();
            count += 1;
        }
        Ok((count, total))
    }

    fn flush(&self) -> std::io::Result<(u64, Duration)> {
        let sent = Instant::now();
        self.file.sync_data()?;
        Ok((1, sent.elapsed()))
    }
}

/// A conversation with the process that serves the disk.
struct Control {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

impl Control {
    fn open(path: &Path) -> Result<Self, DiskError> {
        let stream = UnixStream::connect(path);
        let stream = stream.map_err(DiskError::machine("cannot connect to the disk at", path))?;
        Ok(Self {
            path: path.to_owned(),
            stream: BufReader::new(stream),
        })
    }

    fn ask(&mut self, command: &Value) -> Result<Value, DiskError> {
        let mut line = String::new();
        writeln!(self.stream.get_mut(), "{command}")
            .and_then(|()| self.stream.read_line(&mut line))
            .map_err(DiskError::machine("no answer from the disk at", &self.path))?;
        let answer: Value = serde_json::from_str(&line).unwrap_or_default();
        if answer["ok"] == true {
            return Ok(answer);
        }
        Err(DiskError::File {
            path: self.path.clone(),
            message: format!("expected an answer of a modelled disk, found {line:?}"),
        })
    }

    fn counters(&mut self) -> Result<Value, DiskError> {
        Ok(self.ask(&json!({"command": "counters"}))?["counters"].take())
    }

    fn set_paced(&mut self, is_paced: bool) -> Result<(), DiskError> {
        self.ask(&json!({"command": "pace", "is_paced": is_paced}))
            .map(|_| ())
    }

    fn set_costs(&mut self, under_way: &[f64], costs_ns: &[f64]) -> Result<(), DiskError> {
        let mut costs = json!({"read": [], "write": [], "flush": []});
        let mut last = 0.0;
        for (index, (operation, depth)) in KINDS.into_iter().enumerate() {
            // Rising, also where threads waited for each other.
            let count = under_way[index].max(if depth == 1 { 1.0 } else { last + 1.0 });
            last = count;
            if let Some(points) = costs[name(operation)].as_array_mut() {
                points.push(json!([count, whole(costs_ns[index])]));
            }
        }
        self.ask(&json!({"command": "path-cost", "costs": costs}))
            .map(|_| ())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what fits"
)]
fn whole(value: f64) -> u64 {
    value.round().clamp(0.0, 4e9) as u64
}

/// Requests under way, and nanoseconds.
type Point = (f64, u64);

/// What the way costs requests of each operation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathCosts {
    read: PathCost,
    write: PathCost,
    flush: PathCost,
}

impl PathCosts {
    /// The same for every request.
    pub fn constant(cost_ns: u64) -> Self {
        let [read, write, flush] = std::array::from_fn(|_| PathCost(vec![(1.0, cost_ns)]));
        Self { read, write, flush }
    }

    /// In nanoseconds.
    pub fn at(&self, operation: Operation, under_way: usize) -> u64 {
        let cost = match operation {
            Operation::Read => &self.read,
            Operation::Write => &self.write,
            Operation::Flush => &self.flush,
        };
        cost.at(under_way)
    }
}

/// What the way costs requests of one operation: nothing at first.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<Point>")]
struct PathCost(Vec<Point>);

impl PathCost {
    /// In nanoseconds.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small numbers, none of them negative"
    )]
    fn at(&self, under_way: usize) -> u64 {
        let under_way = under_way as f64;
        let above = self.0.partition_point(|(count, _)| *count <= under_way);
        let (Some(below), Some(next)) = (
            above.checked_sub(1).and_then(|index| self.0.get(index)),
            self.0.get(above),
        ) else {
            // Outside the points: as at the nearest one.
            let nearest = if above == 0 {
                self.0.first()
            } else {
                self.0.last()
            };
            return nearest.map_or(0, |(_, cost_ns)| *cost_ns);
        };
        let share = (under_way - below.0) / (next.0 - below.0);
        (below.1 as f64 + share * (next.1 as f64 - below.1 as f64)).round() as u64
    }
}

impl TryFrom<Vec<Point>> for PathCost {
    type Error = &'static str;

    fn try_from(points: Vec<Point>) -> Result<Self, Self::Error> {
        let is_rising = points.is_sorted_by(|a, b| a.0 < b.0);
        let is_possible = points
            .iter()
            .all(|(count, cost_ns)| *count >= 1.0 && *cost_ns < 1 << 32);
        if is_rising && is_possible {
            Ok(Self(points))
        } else {
            Err("points: expected rising numbers from 1, each with nanoseconds below 2^32")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PathCost, PathCosts, second_eighth};
    use crate::model::Operation;

    #[test]
    fn what_disturbed_most_of_the_parts_is_left_out() {
        let parts = [9000.0, 52.0, 48.0, 8000.0, 9000.0, 490.0, 510.0, 7000.0];
        assert!((second_eighth(parts.into()) - 52.0).abs() < 1e-9);
        assert!((second_eighth(vec![7.0]) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn the_cost_is_a_line_between_the_points_and_constant_beyond_them() {
        let read = |text: &str| serde_json::from_str::<PathCost>(text);
        let cost = read("[[2, 100], [12, 300]]").expect("points");
        let found: Vec<u64> = [1, 2, 7, 12, 40].map(|count| cost.at(count)).into();
        assert_eq!(found, [100, 100, 200, 300, 300]);
        let text = r#"{"read": [[1, 7]], "write": [[1, 8]], "flush": []}"#;
        let costs: PathCosts = serde_json::from_str(text).expect("costs");
        let operations = [Operation::Read, Operation::Write, Operation::Flush];
        assert_eq!(
            operations.map(|operation| costs.at(operation, 5)),
            [7, 8, 0]
        );
        assert_eq!(PathCosts::constant(9).at(Operation::Flush, 5), 9);
        assert_eq!(PathCost::default().at(5), 0);
        for wrong in ["[[2, 1], [2, 1]]", "[[0.5, 1]]", "[[3, 1], [2, 1]]", "[[1, -1]]"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
