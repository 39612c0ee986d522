//! Takes the rows of an account and a period; returns sums for each second and operation.

use std::collections::BTreeMap;

use serde::Serialize;

use super::reader::Account;
use crate::model::Operation;

/// A period in nanoseconds since 1970, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Seconds are counted from here.
    pub from_ns: u64,
    /// Requests that ended from here on are left out.
    pub to_ns: u64,
}

/// What ended in a second. Times are those from the arrival at the disk to its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Second {
    /// Counted from the beginning of the period.
    pub second: u64,
    /// `read`, `write` or `flush`.
    pub operation: &'static str,
    /// Requests, failed ones included.
    pub count: u64,
    /// Of these, with an error.
    pub failed: u64,
    /// Read or written.
    pub bytes: u64,
    /// Sum of the times.
    pub time_ns: u64,
    /// The longest time.
    pub longest_ns: u64,
    /// Sum of the time that answers came later than the model ended them.
    pub late_ns: u64,
}

/// The seconds in which something ended, in their order.
#[must_use]
pub fn seconds(account: &Account, period: Option<Period>) -> Vec<Second> {
    let period = period.unwrap_or(Period {
        from_ns: account.realtime_ns,
        to_ns: u64::MAX,
    });
    let mut found: BTreeMap<(u64, &'static str), Second> = BTreeMap::new();
    for row in &account.rows {
        // Both clocks run alike; the monotonic one began later.
        let end_ns = account.realtime_ns + row.end_ns.saturating_sub(account.monotonic_ns);
        if end_ns < period.from_ns || end_ns >= period.to_ns {
            continue;
        }
        let second = (end_ns - period.from_ns) / 1_000_000_000;
        let operation = match row.operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Flush => "flush",
        };
        let sums = found.entry((second, operation)).or_insert(Second {
            second,
            operation,
            ..Second::default()
        });
        let time_ns = row.end_ns.saturating_sub(row.arrival_ns);
        sums.count += 1;
        sums.failed += u64::from(row.errno != 0);
        sums.bytes += u64::from(row.length);
        sums.time_ns += time_ns;
        sums.longest_ns = sums.longest_ns.max(time_ns);
        sums.late_ns += row.end_ns.saturating_sub(row.modelled_end_ns);
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::{Period, seconds};
    use crate::account::{Account, Row};
    use crate::model::Operation;

    #[test]
    fn each_second_has_the_sums_of_what_ended_in_it() {
        let row = |operation, arrival_ns, end_ns, errno| Row {
            operation,
            offset: 0,
            length: if operation == Operation::Flush {
                0
            } else {
                8192
            },
            arrival_ns,
            start_ns: arrival_ns,
            modelled_end_ns: end_ns - 10,
            end_ns,
            errno,
        };
        let account = Account {
            monotonic_ns: 1_000,
            realtime_ns: 5_000_000_000,
            rows: vec![
                row(Operation::Write, 1_100, 1_500, 0),
                row(Operation::Write, 1_200, 900_001_000, 5),
                row(Operation::Flush, 1_600, 1_100_001_000, 0),
                row(Operation::Read, 1_700, 3_000_001_000, 0),
            ],
            lost: 0,
            is_cut: false,
        };
        let all = seconds(&account, None);
        let found: Vec<_> = all
            .iter()
            .map(|sums| (sums.second, sums.operation, sums.count))
            .collect();
        assert_eq!(found, [(0, "write", 2), (1, "flush", 1), (3, "read", 1)]);
        let writes = all[0];
        assert_eq!(
            (writes.failed, writes.bytes, writes.late_ns),
            (1, 16_384, 20)
        );
        assert_eq!(writes.time_ns, 400 + 899_999_800);
        assert_eq!(writes.longest_ns, 899_999_800);
        let period = Period {
            from_ns: 5_500_000_000,
            to_ns: 8_000_000_000,
        };
        let part = seconds(&account, Some(period));
        let found: Vec<_> = part
            .iter()
            .map(|sums| (sums.second, sums.operation, sums.count))
            .collect();
        assert_eq!(found, [(0, "flush", 1), (0, "write", 1)]);
    }
}
