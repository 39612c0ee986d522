//! Part k of n parts of the rows, which are as equal as possible.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Part `number`, counted from 1, of `count` parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "(u64, u64)", into = "(u64, u64)")]
pub struct Part {
    number: u64,
    count: u64,
}

impl Part {
    /// The only part of one: all rows.
    pub const WHOLE: Self = Self {
        number: 1,
        count: 1,
    };

    /// Part `number` of `count`; `None` if there is no such part.
    pub fn new(number: u64, count: u64) -> Option<Self> {
        (1..=count)
            .contains(&number)
            .then_some(Self { number, count })
    }

    /// Divides this part into `sessions` consecutive parts; at least one.
    pub fn divided(self, sessions: u32) -> impl Iterator<Item = Self> {
        let sessions = sessions.max(1);
        (1..=sessions).map(move |number| Self {
            number: (self.number - 1) * u64::from(sessions) + u64::from(number),
            count: self.count * u64::from(sessions),
        })
    }

    /// The range of this part, in whole groups of `group` rows each; the last group may be smaller.
    pub fn range_of_groups(self, rows: u64, group: u64) -> Range<u64> {
        let groups = self.range(rows.div_ceil(group));
        groups.start.saturating_mul(group).min(rows)..groups.end.saturating_mul(group).min(rows)
    }

    /// The range of this part.
    pub fn range(self, rows: u64) -> Range<u64> {
        let bound = |number: u64| {
            let bound = u128::from(rows) * u128::from(number) / u128::from(self.count);
            u64::try_from(bound).expect("a part of a u64 fits into a u64")
        };
        bound(self.number - 1)..bound(self.number)
    }
}

impl Default for Part {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl TryFrom<(u64, u64)> for Part {
    type Error = String;

    fn try_from((number, count): (u64, u64)) -> Result<Self, String> {
        Self::new(number, count).ok_or_else(|| {
            format!("expected a part of 1 to {count}, found part {number} of {count}")
        })
    }
}

impl From<Part> for (u64, u64) {
    fn from(part: Part) -> Self {
        (part.number, part.count)
    }
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn parts_are_consecutive_and_complete() {
        for (rows, count) in [(10, 3), (2, 5), (0, 4), (u64::MAX, 7)] {
            let mut next = 0;
            for number in 1..=count {
                let part = Part::new(number, count).expect("a part");
                for part in part.divided(2) {
                    let range = part.range(rows);
                    assert_eq!(range.start, next);
                    next = range.end;
                }
            }
            assert_eq!(next, rows);
        }
        assert_eq!(Part::new(0, 3), None);
        assert_eq!(Part::new(4, 3), None);
    }
}
