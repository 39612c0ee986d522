//! Takes an order of scripts; gives one client, or the arrivals of an open loop, the next script to run.

use assay_values::Random;

use super::plan::Plan;
use crate::document::Order;

/// Keeps the choice of scripts apart from the scripts' own random numbers: with another mix each script
/// still computes the same values.
const CHOICES: u64 = 0x6d69_785f_6f72_6465;
/// The stream that no client has.
const ARRIVALS: u64 = u64::MAX;

/// Which script comes next for one client.
#[derive(Clone, Debug)]
pub enum ScriptSelector {
    /// The place of the next script in the sequence.
    Sequence(u32),
    /// A stream of random numbers of its own.
    Mix(Random),
}

/// A script, and where it stands in its pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextScript {
    pub script: u32,
    pub opens_pass: bool,
    pub closes_pass: bool,
}

impl ScriptSelector {
    #[must_use]
    pub fn new(plan: &Plan, client: u32) -> Self {
        Self::by_stream(plan, client.into())
    }

    /// The choices of an open loop, which are the arrivals' and not the clients': which client is free for
    /// which of them depends on the system under test.
    #[must_use]
    pub fn of_arrivals(plan: &Plan) -> Self {
        Self::by_stream(plan, ARRIVALS)
    }

    fn by_stream(plan: &Plan, number: u64) -> Self {
        match plan.order {
            Order::Sequence => Self::Sequence(0),
            Order::Mix => Self::Mix(Random::stream(plan.seed ^ CHOICES, number)),
        }
    }

    pub fn next(&mut self, plan: &Plan) -> NextScript {
        match self {
            Self::Sequence(place) => {
                let script = *place;
                let is_last = script as usize + 1 == plan.program.scripts.len();
                *place = if is_last { 0 } else { script + 1 };
                NextScript {
                    script,
                    opens_pass: script == 0,
                    closes_pass: is_last,
                }
            }
            Self::Mix(stream) => {
                let total = plan.weights_so_far.last().copied().unwrap_or(1);
                let ticket = stream.between(1, total);
                let script = plan.weights_so_far.partition_point(|sum| *sum < ticket);
                let script = u32::try_from(script).expect("there are fewer scripts than that");
                NextScript {
                    script,
                    opens_pass: false,
                    closes_pass: false,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_draw_different_streams_and_each_the_same_again() {
        let draw = |seed, client| {
            let mut stream = Random::stream(seed ^ CHOICES, client);
            (0..4).map(|_| stream.between(0, 999)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
        // The sum of seed and client alone must not decide.
        assert_ne!(draw(1, 1), draw(2, 0));
    }
}
