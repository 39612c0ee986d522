//! Takes a served disk behind a loop device; measures what the way to it costs, and has the disk subtract it.
//!
//! Reads go through the loop device at two depths, each taking as long as the disk is modelled: the way costs
//! more when the processors sleep between requests than when they never do, and more again when many requests
//! share them. What a read took beyond its modelled time is the cost. It is measured without subtraction, then
//! with it, as earlier answers mean more load, until little is left. A round has many short parts, of which the
//! second quarter by their times counts: other programs disturb the others by milliseconds. Even so a busy
//! machine may seem to have a slow way, and the disk would be too fast afterwards; therefore what is subtracted
//! has a limit.
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

use serde_json::{Value, json};

use crate::error::DiskError;
use crate::model::random::Random;

const DEPTHS: [u64; 2] = [1, 16];
const MOST_ROUNDS: u64 = 5;
/// Of the modelled time: no round is needed to subtract so little.
const NEAR: f64 = 0.01;
/// A model that is faster than the way is never reached: at most so many times what the first round found is
/// subtracted.
const MOST: f64 = 1.5;
/// A few times what the way costs on a machine that is not busy.
const LARGEST_NS: f64 = 400_000.0;
const ROUND: Duration = Duration::from_millis(200);
/// Also on a slow disk.
const LEAST_PARTS: usize = 8;
/// At depth 1, where no threads have to be started; on a slow disk a part is one read.
const SHORT_PART: Duration = Duration::from_millis(2);
/// On a slow disk a part is one read of each thread.
const PART: Duration = Duration::from_millis(8);
const READ_BYTES: usize = 8192;
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

/// What was found at a depth. Times are means.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    reads: f64,
    measured_ns: f64,
    modelled_ns: f64,
    under_way: f64,
    /// By how much measured times were longer than modelled ones, in the second quarter of the parts.
    beyond_ns: f64,
}

impl Found {
    fn is_near(&self) -> bool {
        self.beyond_ns.abs() <= NEAR * self.modelled_ns
    }
}

/// Measures, has the disk subtract, and returns for each depth what the way costs, what the model and the
/// client say of a read then.
///
/// # Errors
///
/// The device cannot be read, or the disk does not answer.
pub fn calibrate(places: &Places) -> Result<Value, DiskError> {
    let mut control = Control::open(&places.control)?;
    let mut costs_ns = [0.0; DEPTHS.len()];
    let mut most_ns = [0.0; DEPTHS.len()];
    let mut under_way = DEPTHS.map(|depth| depth as f64);
    let mut last = [Found::default(); DEPTHS.len()];
    for round in 0..MOST_ROUNDS {
        control.set_costs(&under_way, &costs_ns)?;
        for (index, depth) in DEPTHS.into_iter().enumerate() {
            last[index] = measured(&mut control, &places.device, depth, round)?;
        }
        let is_near = last.iter().all(Found::is_near);
        if round + 1 == MOST_ROUNDS || (round > 0 && is_near) {
            break;
        }
        for (index, found) in last.iter().enumerate() {
            if round == 0 {
                most_ns[index] = (found.beyond_ns * MOST).clamp(0.0, LARGEST_NS);
            }
            costs_ns[index] = (costs_ns[index] + found.beyond_ns).clamp(0.0, most_ns[index]);
            under_way[index] = found.under_way.max(1.0);
        }
        if under_way[1] <= under_way[0] {
            under_way[1] = under_way[0] + 1.0;
        }
    }
    let rows = DEPTHS.into_iter().zip(last).zip(costs_ns);
    let rows = rows.map(|((depth, found), cost_ns)| {
        json!({
            "depth": depth,
            "path_cost_ns": whole(cost_ns),
            "modelled_ns": whole(found.modelled_ns),
            "measured_ns": whole(found.measured_ns),
            "reads": whole(found.reads),
        })
    });
    Ok(json!({"depths": rows.collect::<Vec<_>>()}))
}

/// Random reads by as many threads as the depth, for a while.
fn measured(
    control: &mut Control,
    device: &Path,
    depth: u64,
    round: u64,
) -> Result<Found, DiskError> {
    let failed = || DiskError::machine("cannot read the disk through", device);
    let mut disk = open(device).map_err(failed())?;
    let size_bytes = disk.seek(SeekFrom::End(0)).map_err(failed())?;
    let pages = (size_bytes / READ_BYTES as u64).max(1);
    let mut parts = Vec::new();
    let began = Instant::now();
    let mut before = control.counters()?;
    while began.elapsed() < ROUND || parts.len() < LEAST_PARTS {
        let seed = (round << 48) | ((parts.len() as u64) << 24) | (depth << 16);
        let (count, total) = if depth == 1 {
            reads(&disk, pages, seed, SHORT_PART).map_err(failed())?
        } else {
            part_of_threads(&disk, pages, seed, depth).map_err(failed())?
        };
        let after = control.counters()?;
        let counted =
            |name: &str| after[name].as_f64().unwrap_or(0.0) - before[name].as_f64().unwrap_or(0.0);
        let ended = counted("reads").max(1.0);
        let measured_ns = total.as_nanos() as f64 / count.max(1) as f64;
        let modelled_ns = counted("modelled_ns") / ended;
        parts.push(Found {
            reads: ended,
            measured_ns,
            modelled_ns,
            under_way: counted("under_way") / ended,
            beyond_ns: measured_ns - modelled_ns,
        });
        before = after;
    }
    let reads: f64 = parts.iter().map(|part| part.reads).sum();
    let mean = |of: fn(&Found) -> f64| {
        let sum: f64 = parts.iter().map(|part| of(part) * part.reads).sum();
        sum / reads
    };
    Ok(Found {
        reads,
        measured_ns: mean(|part| part.measured_ns),
        modelled_ns: mean(|part| part.modelled_ns),
        under_way: mean(|part| part.under_way),
        beyond_ns: second_quarter(parts.iter().map(|part| part.beyond_ns).collect()),
    })
}

/// The mean of those values of which a quarter is smaller and half are larger.
fn second_quarter(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let first = values.len() / 4;
    let chosen = &values[first..values.len().div_ceil(2)];
    chosen.iter().sum::<f64>() / chosen.len() as f64
}

/// How many reads there were, and how long they took together.
fn part_of_threads(
    disk: &File,
    pages: u64,
    seed: u64,
    depth: u64,
) -> std::io::Result<(u64, Duration)> {
    let took = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..depth)
            .map(|number| scope.spawn(move || reads(disk, pages, seed | number, PART)))
            .collect();
        let ended = threads.into_iter().map(ScopedJoinHandle::join);
        ended
            .map(|read| read.expect("reading does not panic"))
            .collect::<std::io::Result<Vec<_>>>()
    })?;
    let count = took.iter().map(|(count, _)| count).sum();
    Ok((count, took.iter().map(|(_, total)| total).sum()))
}

/// One thread's reads: how many, and how long they took together.
fn reads(
    disk: &File,
    pages: u64,
    seed: u64,
    at_least: Duration,
) -> std::io::Result<(u64, Duration)> {
    let mut memory = vec![0_u8; READ_BYTES + ALIGNMENT];
    let skip = memory.as_ptr().align_offset(ALIGNMENT);
    let bytes = &mut memory[skip..skip + READ_BYTES];
    let mut random = Random::new(seed);
    let (began, mut count, mut total) = (Instant::now(), 0, Duration::ZERO);
    while count == 0 || began.elapsed() < at_least {
        let sent = Instant::now();
        disk.read_exact_at(bytes, random.below(pages) * READ_BYTES as u64)?;
        total += sent.elapsed();
        count += 1;
    }
    Ok((count, total))
}

fn open(device: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(device)
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

    fn set_costs(&mut self, under_way: &[f64], costs_ns: &[f64]) -> Result<(), DiskError> {
        let points: Vec<(f64, u64)> = under_way
            .iter()
            .zip(costs_ns)
            .map(|(count, cost_ns)| (*count, whole(*cost_ns)))
            .collect();
        self.ask(&json!({"command": "path-cost", "points": points}))
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

#[cfg(test)]
mod tests {
    use super::second_quarter;

    #[test]
    fn what_disturbed_half_of_the_parts_is_left_out() {
        let parts = [9000.0, 52.0, 48.0, 8000.0, 9000.0, 49.0, 51.0, 7000.0];
        assert!((second_quarter(parts.into()) - 51.5).abs() < 1e-9);
        assert!((second_quarter(vec![7.0]) - 7.0).abs() < 1e-9);
    }
}
