//! Takes how many requests are under way; returns what the way to the disk and back costs each of them.
//!
//! With more requests the way takes longer, as they share the processors. Between the points that were
//! measured the cost is a straight line.

use serde::Deserialize;

/// Requests under way, and nanoseconds.
type Point = (f64, u64);

/// What the way costs: nothing at first.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<Point>")]
pub struct PathCost(Vec<Point>);

impl PathCost {
    /// The same, however many requests are under way.
    #[must_use]
    pub fn constant(cost_ns: u64) -> Self {
        Self(vec![(1.0, cost_ns)])
    }

    /// In nanoseconds.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small numbers, none of them negative"
    )]
    pub fn at(&self, under_way: usize) -> u64 {
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
    use super::PathCost;

    #[test]
    fn the_cost_is_a_line_between_the_points_and_constant_beyond_them() {
        let read = |text: &str| serde_json::from_str::<PathCost>(text);
        let cost = read("[[2, 100], [12, 300]]").expect("points");
        let found: Vec<u64> = [1, 2, 7, 12, 40].map(|count| cost.at(count)).into();
        assert_eq!(found, [100, 100, 200, 300, 300]);
        assert_eq!(PathCost::constant(7).at(5), 7);
        assert_eq!(PathCost::default().at(5), 0);
        for wrong in [
            "[[2, 1], [2, 1]]",
            "[[0.5, 1]]",
            "[[3, 1], [2, 1]]",
            "[[1, -1]]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
