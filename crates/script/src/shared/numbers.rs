//! Takes which client takes a number, and how its transaction ended; returns numbers that no two clients have, and up to
//! which one all are of transactions that ended `ok`.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The numbers that all clients of a run share, by the name of the variable that `\next` stores them in.
#[derive(Debug, Default)]
pub struct SharedNumbers {
    counters: Vec<Counter>,
    /// How many numbers are in transactions that have not ended.
    taken: AtomicUsize,
}

#[derive(Debug)]
struct Counter {
    name: String,
    /// All numbers below it are of transactions that ended `ok`.
    acknowledged: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The lowest number that was never taken.
    next: u64,
    /// Numbers of transactions that were undone: they are taken again, so that no number stays away.
    returned: BTreeSet<u64>,
    /// Acknowledged numbers above one that is not.
    ahead: BTreeSet<u64>,
    /// The numbers of each client's current transaction.
    taken: HashMap<u32, Vec<u64>>,
}

/// How the transaction ended that took a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOutcome {
    /// It ended `ok`.
    Acknowledged,
    /// Its effect is undone: another one may have the number.
    Returned,
    /// It is unknown whether it has had an effect: no other one may have the number, and no client may rely on it.
    Unknown,
}

/// How far a counter has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The variable of `\next`.
    pub name: String,
    /// Above every number that was taken.
    pub taken: u64,
    /// All numbers below it are acknowledged.
    pub acknowledged: u64,
}

impl Counter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedNumbers {
    /// The counter of that name.
    pub(crate) fn counter(&mut self, name: &str) -> usize {
        let found = self.counters.iter().position(|one| one.name == name);
        found.unwrap_or_else(|| {
            self.counters.push(Counter {
                name: name.to_owned(),
                acknowledged: AtomicU64::new(0),
                state: Mutex::default(),
            });
            self.counters.len() - 1
        })
    }

    pub(crate) fn name(&self, counter: usize) -> &str {
        &self.counters[counter].name
    }

    /// The lowest number that is free.
    pub(crate) fn take(&self, counter: usize, client: u32) -> u64 {
        let mut state = self.counters[counter].state();
        let number = state.returned.pop_first().unwrap_or(state.next);
        state.next = state.next.max(number + 1);
        state.taken.entry(client).or_default().push(number);
        self.taken.fetch_add(1, Ordering::Relaxed);
        number
    }

    pub(crate) fn acknowledged(&self, counter: usize) -> u64 {
        self.counters[counter].acknowledged.load(Ordering::Acquire)
    }

    /// The client's transaction has ended, after its last attempt.
    pub fn ended(&self, client: u32, outcome: NumberOutcome) {
        if self.taken.load(Ordering::Relaxed) == 0 {
            return;
        }
        for counter in &self.counters {
            let mut state = counter.state();
            let numbers = match state.taken.get_mut(&client) {
                Some(taken) if !taken.is_empty() => std::mem::take(taken),
                _ => continue,
            };
            self.taken.fetch_sub(numbers.len(), Ordering::Relaxed);
            match outcome {
                NumberOutcome::Acknowledged => state.ahead.extend(numbers),
                NumberOutcome::Returned => state.returned.extend(numbers),
                NumberOutcome::Unknown => {}
            }
            let mut acknowledged = counter.acknowledged.load(Ordering::Relaxed);
            while state.ahead.remove(&acknowledged) {
                acknowledged += 1;
            }
            counter.acknowledged.store(acknowledged, Ordering::Release);
        }
    }

    /// Goes on where an earlier run on the same data ended; a name that no script uses is ignored.
    pub fn go_on(&self, from: &Reached) {
        if let Some(counter) = self.counters.iter().find(|one| one.name == from.name) {
            counter.state().next = from.taken;
            counter
                .acknowledged
                .store(from.acknowledged, Ordering::Release);
        }
    }

    /// Each counter that has given a number.
    #[must_use]
    pub fn reached(&self) -> Vec<Reached> {
        let all = self.counters.iter().map(|counter| Reached {
            name: counter.name.clone(),
            taken: counter.state().next,
            acknowledged: counter.acknowledged.load(Ordering::Acquire),
        });
        all.filter(|one| one.taken > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{NumberOutcome, SharedNumbers};

    #[test]
    fn what_is_acknowledged_has_no_gap() {
        let mut numbers = SharedNumbers::default();
        let counter = numbers.counter("n");
        assert_eq!(numbers.counter("n"), counter);
        let taken: Vec<u64> = (0..4).map(|client| numbers.take(counter, client)).collect();
        assert_eq!(taken, [0, 1, 2, 3]);
        numbers.ended(1, NumberOutcome::Acknowledged);
        assert_eq!(numbers.acknowledged(counter), 0, "0 has not ended");
        numbers.ended(0, NumberOutcome::Acknowledged);
        assert_eq!(numbers.acknowledged(counter), 2);
        numbers.ended(2, NumberOutcome::Returned);
        numbers.ended(3, NumberOutcome::Acknowledged);
        assert_eq!(numbers.acknowledged(counter), 2);
        assert_eq!(numbers.take(counter, 5), 2, "a returned number comes first");
        numbers.ended(5, NumberOutcome::Acknowledged);
        assert_eq!(numbers.acknowledged(counter), 4);
    }

    #[test]
    fn what_is_behind_an_unknown_end_is_never_relied_on() {
        let mut numbers = SharedNumbers::default();
        let counter = numbers.counter("n");
        numbers.take(counter, 0);
        numbers.ended(0, NumberOutcome::Unknown);
        numbers.take(counter, 0);
        numbers.ended(0, NumberOutcome::Acknowledged);
        let reached = numbers.reached();
        assert_eq!((reached[0].taken, reached[0].acknowledged), (2, 0));
        let mut later = SharedNumbers::default();
        let counter = later.counter("n");
        later.go_on(&reached[0]);
        assert_eq!(later.take(counter, 0), 2);
        assert_eq!(later.acknowledged(counter), 0);
    }
}
