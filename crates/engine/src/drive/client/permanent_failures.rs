//! Takes the ends of a client's transactions; returns whether their failures are permanent: no retry can help.

use assay_drivers::ErrorClass;

use crate::drive::shared::{FailuresOfAll, LEAST_NS};

/// The client ends after this many permanent failures in a row, even while others work: more would only use CPU time and fill the server's log.
const MOST_IN_A_ROW: u32 = 100;
/// After this many that the system has answered, a client of a closed loop pauses before each next transaction.
const UNPAUSED: u32 = 5;
const PAUSE_NS: u64 = 10_000_000;

/// The permanent failures of one client.
#[derive(Debug, Default)]
pub struct PermanentFailures {
    in_a_row: u32,
    /// When the first of them failed that the system has answered.
    since_ns: Option<u64>,
    has_succeeded: bool,
    ends_client: bool,
}

impl PermanentFailures {
    /// A transaction ended without failing.
    #[inline]
    pub fn not_failed(&mut self, of_all: &FailuresOfAll) {
        if !self.has_succeeded {
            of_all.not_permanent();
        }
        *self = Self {
            has_succeeded: true,
            ..Self::default()
        };
    }

    /// A transaction of this type failed; `has_executed`: a statement was sent. Returns whether it is the one that
    /// ends the client.
    pub fn failed(
        &mut self,
        (class, transaction_type): (&str, u32),
        has_executed: bool,
        now_ns: u64,
        of_all: &FailuresOfAll,
    ) -> bool {
        let is_own = class == ErrorClass::Script.word() && !has_executed;
        let is_permanent = is_own || (!self.has_succeeded && is_of_statement(class));
        if !is_permanent {
            (self.in_a_row, self.since_ns) = (0, None);
            of_all.not_permanent();
            return false;
        }
        self.in_a_row += 1;
        if !is_own {
            self.since_ns.get_or_insert(now_ns);
        }
        let lasted = |since_ns| now_ns.saturating_sub(since_ns) >= LEAST_NS;
        let did_end = self.ends_client;
        let is_hopeless = of_all.failed(transaction_type, self.in_a_row == 1, now_ns);
        self.ends_client =
            is_hopeless || (self.in_a_row >= MOST_IN_A_ROW && self.since_ns.is_none_or(lasted));
        self.ends_client && !did_end
    }

    /// How long the client waits before its next transaction: what fails thousands of times a second says no more, and
    /// fills the server's log.
    #[inline]
    pub fn pause_ns(&self) -> u64 {
        match self.in_a_row >= UNPAUSED && self.since_ns.is_some() {
            true => PAUSE_NS,
            false => 0,
        }
    }

    /// Whether the client must end.
    #[inline]
    pub fn end_the_client(&self) -> bool {
        self.ends_client
    }
}

/// Whether the statement itself is wrong, or not allowed.
fn is_of_statement(class: &str) -> bool {
    let wrong = [ErrorClass::Syntax, ErrorClass::UnknownObject, ErrorClass::Permission];
    wrong.iter().any(|one| one.word() == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of the failure that ends the first of this many clients, if the others do nothing.
    fn ends_after(
        failures: &mut PermanentFailures,
        (class, clients): (&str, u32),
        every_ns: u64,
    ) -> Option<u64> {
        let of_all = FailuresOfAll::new(clients, 1);
        (1..=1000).find(|place| {
            let has_executed = class != "script";
            failures.failed((class, 0), has_executed, place * every_ns, &of_all)
        })
    }

    fn that_has_succeeded() -> PermanentFailures {
        let mut failures = PermanentFailures::default();
        failures.not_failed(&FailuresOfAll::new(1, 1));
        failures
    }

    #[test]
    fn a_client_whose_script_never_reaches_the_system_ends_after_a_hundred() {
        let mut failures = that_has_succeeded();
        assert_eq!(ends_after(&mut failures, ("script", 2), 1), Some(100));
        assert!(failures.end_the_client());
    }

    #[test]
    fn a_wrong_statement_ends_a_client_after_a_hundred_and_a_second() {
        for (every_ns, last) in [(100_000_000, 100), (5_000_000, 201)] {
            let mut failures = PermanentFailures::default();
            let last_failure = ends_after(&mut failures, ("syntax", 2), every_ns);
            assert_eq!(last_failure, Some(last));
        }
    }

    #[test]
    fn a_client_pauses_after_a_few_wrong_statements_and_not_after_a_success() {
        let mut failures = PermanentFailures::default();
        let of_all = FailuresOfAll::new(2, 1);
        let pauses: Vec<u64> = (1..=6)
            .map(|at_ns| {
                failures.failed(("syntax", 0), true, at_ns, &of_all);
                failures.pause_ns()
            })
            .collect();
        assert_eq!(pauses, [0, 0, 0, 0, PAUSE_NS, PAUSE_NS]);
        failures.not_failed(&of_all);
        assert_eq!(failures.pause_ns(), 0);
    }

    #[test]
    fn where_all_clients_fail_a_few_failures_end_each() {
        let mut only = PermanentFailures::default();
        assert_eq!(
            ends_after(&mut only, ("unknown object", 1), 300_000_000),
            Some(5)
        );
        let of_all = FailuresOfAll::new(2, 2);
        let [mut one, mut other] = [(); 2].map(|()| PermanentFailures::default());
        let mut fail = |kind, seconds| {
            let of_client = if kind == 0 { &mut one } else { &mut other };
            of_client.failed(("syntax", kind), true, seconds * LEAST_NS, &of_all)
        };
        assert!(!fail(0, 1) && !fail(0, 9), "the other client may work");
        assert!(fail(1, 10), "both clients and both types have failed");
        assert!(fail(0, 11), "so the first one ends too");
    }

    #[test]
    fn one_success_or_another_error_keeps_the_client() {
        let mut failures = that_has_succeeded();
        let last_failure = ends_after(&mut failures, ("syntax", 1), 100_000_000);
        assert_eq!(last_failure, None);
        let mut failures = PermanentFailures::default();
        let of_all = FailuresOfAll::new(2, 1);
        for place in 0..1000 {
            let class = ["unknown object", "deadlock"][usize::from(place % 50 == 49)];
            assert!(!failures.failed((class, 0), true, place * 100_000_000, &of_all));
        }
        assert!(!failures.end_the_client());
    }
}
