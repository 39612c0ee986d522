//! Takes the ends of a client's transactions; returns whether their failures are permanent: no retry can help.

use assay_drivers::ErrorClass;

/// The client ends after this many permanent failures in a row: more would only use CPU time and fill the server's log.
const MOST_IN_A_ROW: u32 = 100;
/// Failures of statements must also go on for this long: another client may create the missing object.
const LEAST_NS: u64 = 1_000_000_000;

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
    pub fn not_failed(&mut self) {
        *self = Self {
            has_succeeded: true,
            ..Self::default()
        };
    }

    /// A transaction failed; `has_executed`: a statement was sent. Returns whether it is the one that ends
    /// the client.
    pub fn failed(&mut self, class: &str, has_executed: bool, now_ns: u64) -> bool {
        let is_own = class == ErrorClass::Script.word() && !has_executed;
        let is_permanent = is_own || (!self.has_succeeded && is_of_statement(class));
        if !is_permanent {
            (self.in_a_row, self.since_ns) = (0, None);
            return false;
        }
        self.in_a_row += 1;
        if !is_own {
            self.since_ns.get_or_insert(now_ns);
        }
        let lasted = |since_ns| now_ns.saturating_sub(since_ns) >= LEAST_NS;
        let did_end = self.ends_client;
        self.ends_client = self.in_a_row >= MOST_IN_A_ROW && self.since_ns.is_none_or(lasted);
        self.ends_client && !did_end
    }

    /// Whether the client must end.
    #[must_use]
    #[inline]
    pub fn end_the_client(&self) -> bool {
        self.ends_client
    }
}

/// Whether the statement itself is wrong, or not allowed.
fn is_of_statement(class: &str) -> bool {
    let wrong = [
        ErrorClass::Syntax,
        ErrorClass::UnknownObject,
        ErrorClass::Permission,
    ];
    wrong.iter().any(|one| one.word() == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_after(failures: &mut PermanentFailures, class: &str, every_ns: u64) -> Option<u64> {
        (1..=1000).find(|place| failures.failed(class, class != "script", place * every_ns))
    }

    #[test]
    fn a_client_whose_script_never_reaches_the_system_ends_after_a_hundred() {
        let mut failures = PermanentFailures::default();
        failures.not_failed();
        assert_eq!(ends_after(&mut failures, "script", 1), Some(100));
        assert!(failures.end_the_client());
    }

    #[test]
    fn a_wrong_statement_ends_a_client_after_a_hundred_and_a_second() {
        for (every_ns, last) in [(100_000_000, 100), (5_000_000, 201)] {
            let mut failures = PermanentFailures::default();
            let found = ends_after(&mut failures, "syntax", every_ns);
            assert_eq!(found, Some(last));
        }
    }

    #[test]
    fn one_success_or_another_error_keeps_the_client() {
        let mut failures = PermanentFailures::default();
        failures.not_failed();
        assert_eq!(ends_after(&mut failures, "syntax", 100_000_000), None);
        let mut failures = PermanentFailures::default();
        for place in 0..1000 {
            let class = ["unknown object", "deadlock"][usize::from(place % 50 == 49)];
            assert!(!failures.failed(class, true, place * 100_000_000));
        }
        assert!(!failures.end_the_client());
    }
}
