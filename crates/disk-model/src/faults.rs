//! Takes rules from outside; says which requests fail, and when the disk is full.

use serde::Deserialize;

use crate::error::DiskError;
use crate::model::Operation;
use crate::model::Random;

/// Which requests fail with an I/O error: those that meet all conditions that are given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `read`, `write` or `flush`; all if it is missing.
    kind: Option<Kind>,
    /// First byte of a range that the request touches. A flush touches none.
    offset: Option<u64>,
    /// Bytes of the range; to the end of the disk if it is missing.
    length: Option<u64>,
    /// The n-th of the requests that meet the conditions above, from 1.
    nth: Option<u64>,
    /// The chance of each, from 0 to 1.
    probability: Option<f64>,
    /// Of the chances.
    #[serde(default)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Read,
    Write,
    Flush,
}

#[derive(Debug)]
struct Armed {
    rule: Rule,
    seen: u64,
    random: Random,
}

/// Why a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An I/O error (EIO).
    Error,
    /// No space left (ENOSPC).
    Full,
}

/// The faults of a disk; none at first.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Vec<Armed>,
    /// Bytes that can still be written; none if there is no limit.
    room_bytes: Option<u64>,
    /// Whether a write has found no room since the room was set.
    pub has_been_full: bool,
}

impl Faults {
    /// Replaces all rules.
    pub fn set_rules(&mut self, rules: Vec<Rule>) -> Result<(), DiskError> {
        for rule in &rules {
            if rule.nth == Some(0) {
                return Err(DiskError::argument(
                    "nth: expected a number from 1, found 0",
                ));
            }
            if let Some(chance) = rule.probability
                && !(0.0..=1.0).contains(&chance)
            {
                return Err(DiskError::argument(format!(
                    "probability: expected 0 to 1, found {chance}"
                )));
            }
        }
        let armed = rules.into_iter().map(|rule| Armed {
            seen: 0,
            random: Random::new(rule.seed),
            rule,
        });
        self.rules = armed.collect();
        Ok(())
    }

    /// After so many more written bytes the disk is full; none lifts that.
    pub fn set_full(&mut self, after_bytes: Option<u64>) {
        self.room_bytes = after_bytes;
        self.has_been_full = false;
    }

    /// Whether and how a request fails.
    pub fn check(&mut self, operation: Operation, offset: u64, length: u64) -> Option<Fault> {
        let mut is_failing = false;
        for armed in &mut self.rules {
            is_failing |= armed.hits(operation, offset, length);
        }
        if is_failing {
            return Some(Fault::Error);
        }
        if operation == Operation::Write
            && let Some(room_bytes) = &mut self.room_bytes
        {
            match room_bytes.checked_sub(length) {
                Some(rest) => *room_bytes = rest,
                None => {
                    self.has_been_full = true;
                    return Some(Fault::Full);
                }
            }
        }
        None
    }
}

impl Armed {
    fn hits(&mut self, operation: Operation, offset: u64, length: u64) -> bool {
        let rule = &self.rule;
        let own = match operation {
            Operation::Read => Kind::Read,
            Operation::Write => Kind::Write,
            Operation::Flush => Kind::Flush,
        };
        if rule.kind.is_some_and(|kind| kind != own) {
            return false;
        }
        if rule.offset.is_some() || rule.length.is_some() {
            let start = rule.offset.unwrap_or(0);
            let end = rule
                .length
                .map_or(u64::MAX, |length| start.saturating_add(length));
            if own == Kind::Flush || offset >= end || offset + length <= start {
                return false;
            }
        }
        self.seen += 1;
        if rule.nth.is_some_and(|nth| nth != self.seen) {
            return false;
        }
        match rule.probability {
            Some(chance) => self.random.fraction() < chance,
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Faults};
    use crate::model::Operation::{Flush, Read, Write};

    fn faults(rules: &str) -> Faults {
        let mut faults = Faults::default();
        let rules = serde_json::from_str(rules).expect("rules");
        faults.set_rules(rules).expect("possible");
        faults
    }

    #[test]
    fn a_rule_fails_the_requests_that_meet_all_its_conditions() {
        let mut range = faults(r#"[{"kind": "read", "offset": 4096, "length": 4096}]"#);
        assert_eq!(range.check(Read, 0, 4096), None);
        assert_eq!(range.check(Read, 0, 4097), Some(Fault::Error));
        assert_eq!(range.check(Read, 8191, 1), Some(Fault::Error));
        assert_eq!(range.check(Read, 8192, 1), None);
        assert_eq!(range.check(Write, 4096, 1), None);
        let mut third = faults(r#"[{"kind": "flush", "nth": 3}]"#);
        let found: Vec<bool> = (0..5).map(|_| third.check(Flush, 0, 0).is_some()).collect();
        assert_eq!(found, [false, false, true, false, false]);
        let mut chance = faults(r#"[{"probability": 0.25, "seed": 5}]"#);
        let count = (0..10_000)
            .filter(|_| chance.check(Read, 0, 1).is_some())
            .count();
        assert!((2_300..2_700).contains(&count), "{count}");
    }

    #[test]
    fn a_full_disk_refuses_writes_beyond_its_room_and_nothing_else() {
        let mut faults = Faults::default();
        faults.set_full(Some(10_000));
        assert_eq!(faults.check(Write, 0, 8192), None);
        assert!(!faults.has_been_full);
        assert_eq!(faults.check(Write, 0, 8192), Some(Fault::Full));
        assert!(faults.has_been_full);
        assert_eq!(faults.check(Read, 0, 8192), None);
        assert_eq!(faults.check(Write, 0, 1000), None);
        faults.set_full(None);
        assert!(!faults.has_been_full);
        assert_eq!(faults.check(Write, 0, 8192), None);
    }
}
