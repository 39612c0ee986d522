//! Takes offsets; returns tracks, angles and transfer times of a disk whose outer tracks hold more, the times of its seeks,
//! and what its track buffer has read ahead.
//!
//! The disk has zones of equally many tracks; the bytes of a track fall linearly from the outer zone to the
//! inner one. The tracks of all surfaces at one position of the arm count as one, and the switch from a track
//! to the next is part of the transfer rate, as in the sustained rates of data sheets: sequential bytes pass
//! the head without a gap.

use std::ops::Range;

use crate::error::DiskError;

const ZONES: u64 = 16;

/// Tracks of one density.
#[derive(Clone, Copy, Debug)]
struct Zone {
    first_byte: u64,
    first_track: u64,
    track_bytes: u64,
}

/// The layout of a rotating disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    revolution_ns: u64,
    capacity_bytes: u64,
}

/// `a * b / c` without overflow; the quotients here fit.
fn proportion(a: u64, b: u64, c: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(c)).unwrap_or(u64::MAX)
}

impl Geometry {
    /// Rates in bytes per second, at the outer and the inner edge.
    pub fn new(capacity_bytes: u64, revolution_ns: u64, outer_rate: u64, inner_rate: u64) -> Self {
        let track_bytes = |zone: u64| {
            let rate = outer_rate - (outer_rate - inner_rate) * zone / (ZONES - 1);
            proportion(rate, revolution_ns, 1_000_000_000).max(512)
        };
        let bytes_of_one_track_each: u64 = (0..ZONES).map(track_bytes).sum();
        let tracks = capacity_bytes.div_ceil(bytes_of_one_track_each).max(1);
        let mut zones = Vec::new();
        let (mut first_byte, mut first_track) = (0, 0);
        for zone in 0..ZONES {
            let track_bytes = track_bytes(zone);
            zones.push(Zone { first_byte, first_track, track_bytes });
            first_byte += tracks * track_bytes;
            first_track += tracks;
        }
        Self { zones, revolution_ns, capacity_bytes }
    }

    fn zone(&self, offset: u64) -> usize {
        self.zones.partition_point(|zone| zone.first_byte <= offset).saturating_sub(1)
    }

    /// The track of a byte, counted from the outer edge.
    pub fn track(&self, offset: u64) -> u64 {
        let zone = &self.zones[self.zone(offset)];
        zone.first_track + (offset - zone.first_byte) / zone.track_bytes
    }

    /// The number of tracks between the first byte and the last.
    pub fn full_stroke_tracks(&self) -> u64 {
        self.track(self.capacity_bytes.saturating_sub(1))
    }

    /// The time that the platter needs from its zero to the byte.
    fn angle_ns(&self, offset: u64) -> u64 {
        let zone = &self.zones[self.zone(offset)];
        let within = (offset - zone.first_byte) % zone.track_bytes;
        proportion(within, self.revolution_ns, zone.track_bytes)
    }

    /// How long after `now_ns` the byte comes under the head.
    pub fn rotation_ns(&self, now_ns: u64, offset: u64) -> u64 {
        let phase = now_ns % self.revolution_ns;
        let wait = (self.angle_ns(offset) + self.revolution_ns - phase) % self.revolution_ns;
        // The byte that follows the last transfer is under the head now; rounding must not cost a revolution.
        if self.revolution_ns - wait < 1_000 { 0 } else { wait }
    }

    /// How long the head needs to pass from byte `from` to byte `to`.
    pub fn transfer_ns(&self, from: u64, to: u64) -> u64 {
        let (mut at, mut total) = (from, 0);
        while at < to {
            let zone = self.zone(at);
            let zone_end = self.zones.get(zone + 1).map_or(u64::MAX, |next| next.first_byte);
            let end = to.min(zone_end);
            total += proportion(end - at, self.revolution_ns, self.zones[zone].track_bytes);
            at = end;
        }
        total
    }

    /// How many bytes pass the head within `duration_ns`, from byte `from` on.
    pub fn bytes_passed(&self, from: u64, duration_ns: u64) -> u64 {
        proportion(duration_ns, self.zones[self.zone(from)].track_bytes, self.revolution_ns)
    }
}

/// Where the two pieces meet. The drives that Ruemmler and Wilkes give have it at 0.2 (HP 97560) and 0.42
/// (HP C2200A) of the stroke.
const MEETS: f64 = 0.3;

/// Seek times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct SeekCurve {
    minimum: f64,
    maximum: f64,
    /// `b` of the module's formula.
    root: f64,
    /// `e` of the module's formula.
    slope: f64,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a seek and numbers of tracks are far below 2^53"
)]
impl SeekCurve {
    /// Fails where no curve of this form has such an average.
    pub fn new(minimum_ns: u64, average_ns: u64, maximum_ns: u64) -> Result<Self, DiskError> {
        let (minimum, average, maximum) = (minimum_ns as f64, average_ns as f64, maximum_ns as f64);
        let curve_of = |root: f64| Self {
            minimum,
            maximum,
            root,
            slope: (maximum - minimum - root * MEETS.sqrt()) / (1.0 - MEETS),
        };
        // The mean grows linearly with b, from b = 0 (flat, then steep) to e = 0 (steep, then flat).
        let steepest = (maximum - minimum) / MEETS.sqrt();
        let (lowest, highest) = (curve_of(0.0).mean(), curve_of(steepest).mean());
        if maximum < minimum || average < lowest || average > highest {
            return Err(DiskError::argument(format!(
                "seek_average: with seek_min={}ms and seek_max={}ms expected {:.2}ms to {:.2}ms, found {}ms",
                minimum / 1e6,
                maximum / 1e6,
                lowest / 1e6,
                highest / 1e6,
                average / 1e6
            )));
        }
        let share = if highest > lowest { (average - lowest) / (highest - lowest) } else { 0.0 };
        Ok(curve_of(share * steepest))
    }

    /// The mean over all pairs of tracks: the integral of seek(x) 2(1 - x) dx from 0 to 1.
    fn mean(&self) -> f64 {
        let short = 2.0 * MEETS - MEETS * MEETS;
        let roots = 2.0 * (2.0 / 3.0 * MEETS.powf(1.5) - 2.0 / 5.0 * MEETS.powf(2.5));
        let ends = 2.0 / 3.0 * (1.0 - MEETS).powi(3);
        self.minimum * short + self.root * roots + self.maximum * (1.0 - short) - self.slope * ends
    }

    /// The time to move by `tracks`, where a full stroke is `full_stroke` tracks.
    pub fn time_ns(&self, tracks: u64, full_stroke: u64) -> u64 {
        if tracks == 0 {
            return 0;
        }
        let x = tracks as f64 / full_stroke.max(1) as f64;
        let time = if x <= MEETS {
            self.minimum + self.root * x.sqrt()
        } else {
            self.maximum - self.slope * (1.0 - x)
        };
        time.round() as u64
    }
}

/// One stream of sequential bytes.
#[derive(Debug)]
pub struct ReadAhead {
    capacity_bytes: u64,
    /// First byte in the buffer.
    start: u64,
    /// A byte that the head passed, and when.
    at: u64,
    since_ns: u64,
    /// The buffer is full here.
    limit: u64,
    is_running: bool,
}

impl ReadAhead {
    pub fn new(capacity_bytes: u64) -> Self {
        Self { capacity_bytes, start: 0, at: 0, since_ns: 0, limit: 0, is_running: false }
    }

    /// The byte before which everything has been read.
    fn position(&self, geometry: &Geometry, now_ns: u64) -> u64 {
        if !self.is_running || now_ns <= self.since_ns {
            return self.at;
        }
        let passed = geometry.bytes_passed(self.at, now_ns - self.since_ns);
        self.limit.min(self.at + passed)
    }

    /// The byte that the head follows, while the disk reads on.
    pub fn head(&self, geometry: &Geometry, now_ns: u64) -> Option<u64> {
        self.is_running.then(|| self.position(geometry, now_ns))
    }

    /// The first byte that the buffer still has: it keeps no more than it has room for.
    fn first_held(&self, position: u64) -> u64 {
        self.start.max(position.saturating_sub(self.capacity_bytes))
    }

    /// Whether the buffer holds all these bytes.
    pub fn holds(&self, range: &Range<u64>, geometry: &Geometry, now_ns: u64) -> bool {
        let position = self.position(geometry, now_ns);
        self.first_held(position) <= range.start && range.end <= position
    }

    /// Bytes that the buffer holds have been read from it: the disk reads on as far beyond them.
    pub fn consumed(&mut self, range: &Range<u64>, geometry: &Geometry, now_ns: u64) {
        let limit = self.limit.max(range.end + self.capacity_bytes);
        let full_ns = self.since_ns + geometry.transfer_ns(self.at, self.limit);
        // A head that waits with a full buffer has to wait for the next byte to come round again.
        if self.is_running && now_ns > full_ns && limit > self.limit {
            self.at = self.limit;
            self.since_ns = now_ns + geometry.rotation_ns(now_ns, self.limit);
        }
        if self.is_running {
            self.limit = limit;
        }
    }

    /// When the last of these bytes has passed the head, if the stream leads there.
    pub fn reaches(&self, range: &Range<u64>, geometry: &Geometry, now_ns: u64) -> Option<u64> {
        let first_held = self.first_held(self.position(geometry, now_ns));
        if !self.is_running || range.start < first_held || range.start > self.limit {
            return None;
        }
        let full_ns = self.since_ns + geometry.transfer_ns(self.at, self.limit);
        if range.end <= self.limit || now_ns <= full_ns {
            return Some(now_ns.max(self.since_ns + geometry.transfer_ns(self.at, range.end)));
        }
        // It stopped with a full buffer: the next byte must come round again.
        let from_ns = now_ns + geometry.rotation_ns(now_ns, self.limit);
        Some(from_ns + geometry.transfer_ns(self.limit, range.end))
    }

    /// A read that ends at `end_ns` continues the stream.
    pub fn extend(&mut self, range: &Range<u64>, end_ns: u64) {
        self.at = self.at.max(range.end);
        self.since_ns = end_ns;
        self.limit = self.limit.max(range.end + self.capacity_bytes);
    }

    /// A read elsewhere that ends at `end_ns` begins a new stream.
    pub fn restart(&mut self, range: &Range<u64>, end_ns: u64) {
        self.start = range.start;
        self.at = range.end;
        self.since_ns = end_ns;
        self.limit = range.end + self.capacity_bytes;
        self.is_running = true;
    }

    /// The arm leaves; what was read stays in the buffer.
    pub fn stop(&mut self, geometry: &Geometry, now_ns: u64) {
        self.at = self.position(geometry, now_ns);
        self.limit = self.at;
        self.is_running = false;
    }
}

#[cfg(test)]
mod tests {
    use super::SeekCurve;

    #[test]
    fn the_curve_keeps_the_three_times_of_the_data_sheet() {
        let curve = SeekCurve::new(800_000, 8_500_000, 18_000_000).expect("a usual disk");
        let stroke = 100_000;
        assert_eq!(curve.time_ns(0, stroke), 0);
        assert!((800_000..900_000).contains(&curve.time_ns(1, stroke)));
        assert_eq!(curve.time_ns(stroke, stroke), 18_000_000);
        let mut sum = 0_u128;
        for distance in 1..=stroke {
            sum +=
                u128::from(curve.time_ns(distance, stroke)) * u128::from(stroke + 1 - distance) * 2;
        }
        let pairs = u128::from(stroke) * u128::from(stroke + 1);
        let average = sum / pairs;
        assert!((8_490_000..8_510_000).contains(&average), "{average}");
        for distance in 1..stroke {
            assert!(curve.time_ns(distance, stroke) <= curve.time_ns(distance + 1, stroke));
        }
    }

    #[test]
    fn an_average_that_no_curve_has_is_refused_with_what_is_possible() {
        let error = SeekCurve::new(1_000_000, 9_500_000, 10_000_000).expect_err("too slow");
        assert!(error.to_string().contains("expected"), "{error}");
        assert!(SeekCurve::new(5_000_000, 4_000_000, 3_000_000).is_err());
    }
}
