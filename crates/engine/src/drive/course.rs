//! Takes an order of scripts; gives one client the next script to run.

use crate::document::Order;

use super::plan::Plan;

/// Which script comes next for one client.
#[derive(Clone, Debug)]
pub enum Course {
    /// The place of the next script in the sequence.
    Sequence(u32),
    /// The client's own stream of random numbers.
    Mix(Stream),
}

/// A script, and where it stands in its pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    pub script: u32,
    pub opens_pass: bool,
    pub closes_pass: bool,
}

impl Course {
    #[must_use]
    pub fn new(plan: &Plan, client: u32) -> Self {
        match plan.order {
            Order::Sequence => Self::Sequence(0),
            Order::Mix => Self::Mix(Stream::new(plan.seed, client)),
        }
    }

    pub fn next(&mut self, plan: &Plan) -> Turn {
        match self {
            Self::Sequence(place) => {
                let script = *place;
                let is_last = script as usize + 1 == plan.program.scripts.len();
                *place = if is_last { 0 } else { script + 1 };
                Turn {
                    script,
                    opens_pass: script == 0,
                    closes_pass: is_last,
                }
            }
            Self::Mix(stream) => {
                let total = plan.weights_so_far.last().copied().unwrap_or(1);
                let ticket = stream.below(total);
                let script = plan.weights_so_far.partition_point(|sum| *sum <= ticket);
                let script = u32::try_from(script).expect("there are fewer scripts than that");
                Turn {
                    script,
                    opens_pass: false,
                    closes_pass: false,
                }
            }
        }
    }
}

/// Random numbers for the choice of scripts, apart from those of the scripts themselves: with another
/// mix each script still computes the same values. SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, fig. 14).
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    fn new(seed: u64, client: u32) -> Self {
        // One draw between mixing in the seed and the client keeps neighbours far apart.
        let mut stream = Self {
            state: seed ^ 0x6d69_785f_6f72_6465,
        };
        stream.state = stream.next().wrapping_add(u64::from(client) + 1);
        stream.state = stream.next();
        stream
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `bound`. The high half of a product: for sums of
    /// weights its bias is below one in 2^32.
    fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(bound);
        u64::try_from(product >> 64).expect("it is below the bound")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_draw_different_streams_and_each_the_same_again() {
        let draw = |seed, client| {
            let mut stream = Stream::new(seed, client);
            (0..4).map(|_| stream.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
        // The sum of seed and client alone must not decide.
        assert_ne!(draw(1, 1), draw(2, 0));
    }
}
