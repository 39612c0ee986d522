//! Takes how transactions arrive in an open loop; returns when so many of them have come, at the rate that
//! is offered, which grows from zero during the ramp-up.

use crate::document::ArrivalDocument;
use crate::drive::pace::schedule::Schedule;

const NS_PER_S: f64 = 1e9;

/// A part of the run in which the rate is even, or rises or falls evenly.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Since the start of the run.
    start_ns: f64,
    length_ns: f64,
    /// How many have come at its start, and at its end.
    begin: f64,
    end: f64,
    first_per_s: f64,
    last_per_s: f64,
}

impl Piece {
    /// When `position` have come, of those that come in this piece.
    fn instant_ns(&self, position: f64) -> f64 {
        let (come, first, last) = (position - self.begin, self.first_per_s, self.last_per_s);
        #[expect(clippy::float_cmp, reason = "an even rate is the same number")]
        let since_start_ns = if first == last {
            come * NS_PER_S / first
        } else {
            // `first t + change t² / 2` have come by `t` seconds; solved for `t`.
            let change = (last - first) * NS_PER_S / self.length_ns;
            let root = (first * first + 2.0 * change * come).max(0.0).sqrt();
            2.0 * come * NS_PER_S / (first + root)
        };
        self.start_ns + since_start_ns
    }
}

/// When each arrival is due; it is asked for one after the other.
#[derive(Debug)]
pub struct Curve {
    pieces: Vec<Piece>,
    /// The number of the piece of the last arrival.
    place: usize,
}

impl Curve {
    /// `None` in a closed loop.
    pub fn new(arrival: &ArrivalDocument, schedule: Schedule) -> Option<Self> {
        let steps = arrival.offered_rate()?.steps();
        let mut curve = Self { pieces: Vec::new(), place: 0 };
        let first_per_s = steps[0].per_s;
        let ramp_up_ns = whole_to_float(schedule.ramped_ns - schedule.start_ns);
        let warm_up_ns = whole_to_float(schedule.measure_ns - schedule.ramped_ns);
        curve.push(ramp_up_ns, 0.0, first_per_s);
        curve.push(warm_up_ns, first_per_s, first_per_s);
        for (place, step) in steps.iter().enumerate() {
            let length_ns = (steps.get(place + 1)).map_or(f64::INFINITY, |next| {
                (next.from_s * NS_PER_S).round() - (step.from_s * NS_PER_S).round()
            });
            curve.push(length_ns, step.per_s, step.to_per_s.unwrap_or(step.per_s));
        }
        Some(curve)
    }

    fn push(&mut self, length_ns: f64, first_per_s: f64, last_per_s: f64) {
        let (start_ns, begin) = (self.pieces.last())
            .map_or((0.0, 0.0), |before| (before.start_ns + before.length_ns, before.end));
        let mean_per_s = f64::midpoint(first_per_s, last_per_s);
        self.pieces.push(Piece {
            start_ns,
            length_ns,
            begin,
            end: if mean_per_s > 0.0 {
                // Multiplied first: at a whole rate, a whole number has come after each whole second.
                begin + mean_per_s * length_ns / NS_PER_S
            } else {
                begin
            },
            first_per_s,
            last_per_s,
        });
    }

    /// Since the start of the run; `u64::MAX` if so many never come. `position` does not decrease.
    pub fn instant_ns(&mut self, position: f64) -> u64 {
        while position >= self.pieces[self.place].end {
            if self.place + 1 == self.pieces.len() {
                return u64::MAX;
            }
            self.place += 1;
        }
        float_to_whole(self.pieces[self.place].instant_ns(position))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "runs last less than 2^53 nanoseconds, and have fewer arrivals"
)]
pub fn whole_to_float(whole: u64) -> f64 {
    whole as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "instants are not negative, and a cast saturates"
)]
fn float_to_whole(float: f64) -> u64 {
    float as u64
}
