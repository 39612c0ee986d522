//! Takes a request's operation and how many are under way; returns what the way to the disk and back costs it.
//!
//! With more requests the way takes longer, as they share the processors. Between the points that were
//! measured the cost is a straight line.

use serde::Deserialize;

use crate::model::Operation;

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
    #[must_use]
    pub fn constant(cost_ns: u64) -> Self {
        let [read, write, flush] = std::array::from_fn(|_| PathCost(vec![(1.0, cost_ns)]));
        Self { read, write, flush }
    }

    /// In nanoseconds.
    #[must_use]
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
    use super::{PathCost, PathCosts};
    use crate::model::Operation;

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
