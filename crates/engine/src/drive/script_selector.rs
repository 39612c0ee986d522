//! Takes an order of scripts; gives one client, or the arrivals of an open loop, the next script to run.

use assay_values::Random;

use super::group::Group;
use super::plan::Plan;
use crate::document::Order;

/// Keeps the choice of scripts apart from the scripts' own random numbers: with another mix each script
/// still computes the same values.
const CHOICES: u64 = 0x6d69_785f_6f72_6465;
/// The streams that no client has, one for each group, downwards.
const ARRIVALS: u64 = u64::MAX;

/// Which script comes next for one client.
#[derive(Clone, Debug)]
pub enum ScriptSelector {
    /// The place of the next script in the group's sequence.
    Sequence(u32),
    /// A stream of random numbers of its own.
    Mix(Random),
}

/// A script, and where it stands in its pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextScript {
    /// Its number in the program.
    pub script: u32,
    pub transaction_type: u32,
    pub opens_pass: bool,
    pub closes_pass: bool,
}

impl NextScript {
    /// The script at this place of a group, outside any pass.
    #[must_use]
    pub fn at(group: &Group, place: u32) -> Self {
        Self {
            script: group.scripts[place as usize],
            transaction_type: group.first_type + place,
            opens_pass: false,
            closes_pass: false,
        }
    }
}

impl ScriptSelector {
    /// Of the client with this number.
    #[must_use]
    pub fn new(plan: &Plan, group: &Group, client: u32) -> Self {
        Self::by_stream(plan, group, client.into())
    }

    /// The choices of an open loop, which are the arrivals' and not the clients': which client is free for
    /// which of them depends on the system under test.
    #[must_use]
    pub fn of_arrivals(plan: &Plan, group: &Group) -> Self {
        Self::by_stream(plan, group, ARRIVALS - u64::from(group.number))
    }

    fn by_stream(plan: &Plan, group: &Group, number: u64) -> Self {
        match group.order {
            Order::Sequence => Self::Sequence(0),
            Order::Mix => Self::Mix(Random::stream(plan.seed ^ CHOICES, number)),
        }
    }

    pub fn next(&mut self, group: &Group) -> NextScript {
        match self {
            Self::Sequence(next) => {
                let place = *next;
                let is_last = place + 1 == group.type_count();
                *next = if is_last { 0 } else { place + 1 };
                NextScript {
                    opens_pass: place == 0,
                    closes_pass: is_last,
                    ..NextScript::at(group, place)
                }
            }
            Self::Mix(stream) => NextScript::at(group, drawn(group, stream)),
        }
    }
}

/// The script of one transaction of a list that all clients share: it follows the number.
#[must_use]
pub fn script_of_number(plan: &Plan, group: &Group, number: u64) -> NextScript {
    let place = match group.order {
        Order::Sequence => {
            let place = number % u64::from(group.type_count());
            u32::try_from(place).expect("it is less than the scripts")
        }
        Order::Mix => {
            let seed = Random::derived(plan.seed ^ CHOICES, ARRIVALS - u64::from(group.number));
            drawn(group, &mut Random::stream(seed, number))
        }
    };
    NextScript::at(group, place)
}

/// The place of a script, by the weights of a mix.
fn drawn(group: &Group, stream: &mut Random) -> u32 {
    let total = group.weights_so_far.last().copied().unwrap_or(1);
    let ticket = stream.between(1, total);
    let place = group.weights_so_far.partition_point(|sum| *sum < ticket);
    u32::try_from(place).expect("there are fewer scripts than that")
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
