//! Takes an order of scripts; returns the next script of a client or of an open loop's next arrival.

use assay_values::Random;

use crate::document::Order;
use crate::drive::plan::Plan;
use crate::drive::plan::group::Group;

/// The random stream of script choices, separate from the scripts' own: a different mix leaves the values of
/// each script unchanged.
const CHOICES: u64 = 0x6d69_785f_6f72_6465;
/// The streams of arrivals, one for each group, downwards from here: no client has these numbers.
const ARRIVALS: u64 = u64::MAX;

/// Selects the next script of a client or of arrivals.
#[derive(Clone, Debug)]
pub enum ScriptSelector {
    /// The place of the next script in the group's sequence.
    Sequence(u32),
    /// Its own stream of random numbers.
    Mix(Random),
    /// The same, and the cards that are left of its deck.
    Deck(Random, Vec<u32>),
}

/// A script, and its position in its pass.
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
    pub fn at(group: &Group, place: u32) -> Self {
        Self {
            script: group.scripts[place as usize],
            transaction_type: group.first_type + place,
            opens_pass: false,
            closes_pass: false,
        }
    }

    /// The same with a number of its type that is so much higher.
    #[must_use]
    #[inline]
    pub fn later_by(self, types: u32) -> Self {
        Self {
            transaction_type: self.transaction_type + types,
            ..self
        }
    }
}

impl ScriptSelector {
    /// For the client with this number.
    pub fn new(plan: &Plan, group: &Group, client: u32) -> Self {
        Self::by_stream(plan, group, client.into())
    }

    /// For the arrivals of an open loop. The choices do not follow the clients: which client is free for an
    /// arrival depends on the system under test.
    pub fn of_arrivals(plan: &Plan, group: &Group) -> Self {
        Self::by_stream(plan, group, ARRIVALS - u64::from(group.number))
    }

    fn by_stream(plan: &Plan, group: &Group, number: u64) -> Self {
        let choices = || Random::stream(plan.seed ^ CHOICES, number);
        match group.work.order() {
            Order::Sequence => Self::Sequence(0),
            Order::Mix => Self::Mix(choices()),
            Order::Deck => Self::Deck(choices(), Vec::new()),
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
            Self::Deck(stream, left) => {
                if left.is_empty() {
                    *left = deck(group);
                }
                NextScript::at(group, drawn_card(left, stream))
            }
        }
    }
}

/// The script of a transaction in a list that all clients share, selected by the transaction's number.
pub fn script_of_number(plan: &Plan, group: &Group, number: u64) -> NextScript {
    let place = match group.work.order() {
        Order::Sequence => {
            let place = number % u64::from(group.type_count());
            u32::try_from(place).expect("it is less than the scripts")
        }
        Order::Mix => {
            let seed = Random::derived(plan.seed ^ CHOICES, ARRIVALS - u64::from(group.number));
            drawn(group, &mut Random::stream(seed, number))
        }
        Order::Deck => {
            let seed = Random::derived(plan.seed ^ CHOICES, ARRIVALS - u64::from(group.number));
            let mut left = deck(group);
            let cards = left.len() as u64;
            let mut stream = Random::stream(seed, number / cards);
            for _ in 0..number % cards {
                drawn_card(&mut left, &mut stream);
            }
            drawn_card(&mut left, &mut stream)
        }
    };
    NextScript::at(group, place)
}

/// The place of a script, drawn by the weights of a mix.
fn drawn(group: &Group, stream: &mut Random) -> u32 {
    let total = group.weights_so_far.last().copied().unwrap_or(1);
    let ticket = stream.between(1, total);
    let place = group.weights_so_far.partition_point(|sum| *sum < ticket);
    u32::try_from(place).expect("there are fewer scripts than that")
}

/// A card for each unit of weight: the place of its script.
fn deck(group: &Group) -> Vec<u32> {
    let mut before = 0;
    let mut cards = Vec::new();
    for (place, &sum) in (0..).zip(&group.weights_so_far) {
        cards.extend((before..sum).map(|_| place));
        before = sum;
    }
    cards
}

/// Takes a random card out of those that are left.
fn drawn_card(left: &mut Vec<u32>, stream: &mut Random) -> u32 {
    let last = i64::try_from(left.len()).expect("a deck is small") - 1;
    let card = usize::try_from(stream.between(0, last)).expect("it is a place in the deck");
    left.swap_remove(card)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_draw_different_and_repeatable_streams() {
        let draw = |seed, client| {
            let mut stream = Random::stream(seed ^ CHOICES, client);
            (0..4).map(|_| stream.between(0, 999)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
        // Seeds and clients with the same sum must differ.
        assert_ne!(draw(1, 1), draw(2, 0));
    }
}
