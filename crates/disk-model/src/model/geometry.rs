//! Takes offsets; returns tracks, angles and transfer times of a disk whose outer tracks hold more.
//!
//! The disk has zones of equally many tracks; the bytes of a track fall linearly from the outer zone to the
//! inner one. The tracks of all surfaces at one position of the arm count as one, and the switch from a track
//! to the next is part of the transfer rate, as in the sustained rates of data sheets: sequential bytes pass
//! the head without a gap.

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
            zones.push(Zone {
                first_byte,
                first_track,
                track_bytes,
            });
            first_byte += tracks * track_bytes;
            first_track += tracks;
        }
        Self {
            zones,
            revolution_ns,
            capacity_bytes,
        }
    }

    fn zone(&self, offset: u64) -> usize {
        self.zones
            .partition_point(|zone| zone.first_byte <= offset)
            .saturating_sub(1)
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
        if self.revolution_ns - wait < 1_000 {
            0
        } else {
            wait
        }
    }

    /// How long the head needs to pass from byte `from` to byte `to`.
    pub fn transfer_ns(&self, from: u64, to: u64) -> u64 {
        let (mut at, mut total) = (from, 0);
        while at < to {
            let zone = self.zone(at);
            let zone_end = self
                .zones
                .get(zone + 1)
                .map_or(u64::MAX, |next| next.first_byte);
            let end = to.min(zone_end);
            total += proportion(end - at, self.revolution_ns, self.zones[zone].track_bytes);
            at = end;
        }
        total
    }

    /// How many bytes pass the head within `duration_ns`, from byte `from` on.
    pub fn bytes_passed(&self, from: u64, duration_ns: u64) -> u64 {
        proportion(
            duration_ns,
            self.zones[self.zone(from)].track_bytes,
            self.revolution_ns,
        )
    }
}
