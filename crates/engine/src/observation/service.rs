//! How evenly the clients were served over the measurement.

use schemars::JsonSchema;
use serde::Serialize;

/// How many measured transactions ended, with any outcome, for the client with the fewest, the median client
/// (of an even number, the mean of the two, rounded down) and the client with the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransactionsPerClient {
    /// Of the client with the fewest.
    pub least: u64,
    /// Of the median client.
    pub median: u64,
    /// Of the client with the most.
    pub most: u64,
}

impl TransactionsPerClient {
    pub(crate) fn of(mut counts: Vec<u64>) -> Self {
        counts.sort_unstable();
        let at = |place: usize| counts.get(place).copied().unwrap_or(0);
        let (lower, upper) = (at(counts.len().saturating_sub(1) / 2), at(counts.len() / 2));
        Self {
            least: counts.first().copied().unwrap_or(0),
            median: lower.midpoint(upper),
            most: counts.last().copied().unwrap_or(0),
        }
    }
}

/// Transactions that were running when the time limit ended the measurement. They were waited for; measured
/// ones are among the outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InFlight {
    /// How many there were.
    pub count: u64,
    /// How long the oldest of them had been running then; 0 if there was none.
    pub oldest_ns: u64,
    /// How many of these had begun in the warm-up: they are in no other figure.
    pub begun_in_warm_up: u64,
}

/// Transactions that began in the warm-up and were running when the measurement began. They are in no other
/// figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CarriedOver {
    /// How many there were.
    pub count: u64,
    /// The total time of the longest of them.
    pub longest_ns: u64,
}

/// Little's law for a closed loop: clients = throughput × (latency + pause). If `clients_by_law` is less than
/// `clients`, the figures do not cover all of the clients' time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LittlesLaw {
    /// Running clients, on average over the measurement: one that ends early counts for less.
    pub clients: f64,
    /// Measured transactions that ended, with any outcome, per second of the measurement.
    pub throughput_per_s: f64,
    /// The mean latency of these.
    pub latency_ns: f64,
    /// The mean time between two of them: pauses, and any other time without a transaction.
    pub pause_ns: f64,
    /// Throughput × (latency + pause), in clients.
    pub clients_by_law: f64,
}

impl LittlesLaw {
    /// `at_work_ns` is the time of all clients in the measurement; `in_transactions_ns` of it was spent in
    /// the transactions that ended, and `between_ns` in pauses. `None` if no time passed.
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    pub(crate) fn new(
        elapsed_ns: u64,
        at_work_ns: u64,
        ended: u64,
        in_transactions_ns: f64,
        between_ns: u64,
    ) -> Option<Self> {
        if elapsed_ns == 0 {
            return None;
        }
        let each = |total_ns: f64| {
            if ended == 0 { 0.0 } else { total_ns / ended as f64 }
        };
        let throughput_per_ns = ended as f64 / elapsed_ns as f64;
        let latency_ns = each(in_transactions_ns);
        let pause_ns = each(between_ns as f64);
        Some(Self {
            clients: at_work_ns as f64 / elapsed_ns as f64,
            throughput_per_s: throughput_per_ns * 1e9,
            latency_ns,
            pause_ns,
            clients_by_law: throughput_per_ns * (latency_ns + pause_ns),
        })
    }
}

/// A time in which the system stalled or the process was suspended, since the start of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Standstill {
    /// When it began.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        let median = |counts: &[u64]| TransactionsPerClient::of(counts.to_vec()).median;
        assert_eq!(median(&[88_084, 41_979]), 65_031);
        assert_eq!(median(&[9, 1, 4]), 4);
        assert_eq!(median(&[7]), 7);
        assert_eq!(median(&[]), 0);
    }
}
