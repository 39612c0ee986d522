//! When a stall or a failure happens: at a statement, at a time, or at random.

use std::time::Duration;

use assay_values::{Random, duration};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trigger {
    /// The session's statement of this number, counted from 1.
    Statement(u64),
    /// The first statement at this age of the deployment or later; once per session.
    At(Duration),
    /// An `At` that has fired in this session.
    Past,
    /// Each statement with this probability.
    Share(f64),
}

impl Trigger {
    /// `#10`, `5s` or `0.01`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(number) = text.strip_prefix('#') {
            return number
                .parse()
                .ok()
                .filter(|&number| number > 0)
                .map(Self::Statement);
        }
        match text.parse() {
            Ok(share) => (0.0..=1.0).contains(&share).then_some(Self::Share(share)),
            Err(_) => duration(text).map(Self::At),
        }
    }

    /// Whether it fires at this statement of the session, at this age of the deployment.
    pub(super) fn fires(&mut self, statement: u64, age: Duration, random: &mut Random) -> bool {
        match *self {
            Self::Statement(number) => statement == number,
            Self::At(from) => {
                let fires = age >= from;
                if fires {
                    *self = Self::Past;
                }
                fires
            }
            Self::Past => false,
            Self::Share(share) => random.unit() < share,
        }
    }
}
