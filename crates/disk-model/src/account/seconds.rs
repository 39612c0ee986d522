//! Takes the file of an account and a period; returns sums for each second and operation.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::account::rows::Rows;
use crate::account::rows::{Entry, Gap, Row};
use crate::error::DiskError;
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
    /// `read`, `write` or `flush`; `lost`: of any kind, without a row.
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

/// The seconds in which something ended, in their order, by the account in a file.
///
/// # Errors
///
/// The file cannot be read, or is no account.
pub fn seconds(path: &Path, period: Period) -> Result<Vec<Second>, DiskError> {
    let rows = Rows::open(path)?;
    let (monotonic_ns, realtime_ns) = (rows.monotonic_ns, rows.realtime_ns);
    // Both clocks run alike; the monotonic one began later.
    let since_1970 = |instant_ns: u64| realtime_ns + instant_ns.saturating_sub(monotonic_ns);
    let mut sums = Sums::of(period);
    for entry in rows {
        match entry? {
            Entry::Row(row) => sums.add(&row, since_1970(row.end_ns)),
            Entry::Lost(gap) => sums.lost(&gap, since_1970),
        }
    }
    Ok(sums.found.into_values().collect())
}

struct Sums {
    period: Period,
    found: BTreeMap<(u64, &'static str), Second>,
    /// The second of the last row; none where that is outside the period.
    last: Option<u64>,
}

impl Sums {
    fn of(period: Period) -> Self {
        Self {
            period,
            found: BTreeMap::new(),
            last: None,
        }
    }

    fn at(&mut self, second: u64, operation: &'static str) -> &mut Second {
        self.found.entry((second, operation)).or_insert(Second {
            second,
            operation,
            ..Second::default()
        })
    }

    fn add(&mut self, row: &Row, end_ns: u64) {
        if end_ns < self.period.from_ns || end_ns >= self.period.to_ns {
            self.last = None;
            return;
        }
        let second = (end_ns - self.period.from_ns) / 1_000_000_000;
        self.last = Some(second);
        let operation = match row.operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Flush => "flush",
        };
        let time_ns = row.end_ns.saturating_sub(row.arrival_ns);
        let sums = self.at(second, operation);
        sums.count += 1;
        sums.failed += u64::from(row.errno != 0);
        sums.bytes += u64::from(row.length);
        sums.time_ns += time_ns;
        sums.longest_ns = sums.longest_ns.max(time_ns);
        sums.late_ns += row.end_ns.saturating_sub(row.modelled_end_ns);
    }

    /// Rows without a time are missing where the row before them is. Of others the beginning and the end are
    /// known: all of them may have been in any period that these touch.
    fn lost(&mut self, gap: &Gap, since_1970: impl Fn(u64) -> u64) {
        let second = match gap.ended_ns {
            None => self.last,
            Some((first, last)) => {
                let Period { from_ns, to_ns } = self.period;
                let (first_ns, last_ns) = (since_1970(first), since_1970(last));
                (first_ns < to_ns && last_ns >= from_ns)
                    .then(|| first_ns.saturating_sub(from_ns) / 1_000_000_000)
            }
        };
        if let Some(second) = second {
            self.at(second, "lost").count += gap.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Period, seconds};
    use crate::account::rows;
    use crate::account::{Gap, Row};
    use crate::model::Operation;

    #[test]
    fn each_second_has_the_sums_of_what_ended_in_it() {
        let row = |operation, arrival_ns, end_ns, errno| {
            let row = Row {
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
            row.encode()
        };
        let gap = |count, ended_ns| Gap { count, ended_ns }.encode();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("account");
        let header = rows::header(1_000, 5_000_000_000);
        let bytes = [
            header.as_slice(),
            &row(Operation::Write, 1_100, 1_500, 0),
            &row(Operation::Write, 1_200, 900_001_000, 5),
            &row(Operation::Flush, 1_600, 1_100_001_000, 0),
            &gap(7, None),
            &row(Operation::Read, 1_700, 3_000_001_000, 0),
            &gap(5, Some((6_000_001_000, 8_000_001_000))),
        ];
        std::fs::write(&path, bytes.concat()).expect("written");
        let in_period = |from_ns, to_ns| {
            seconds(&path, Period { from_ns, to_ns })
                .expect("an account")
                .iter()
                .map(|sums| (sums.second, sums.operation, sums.count))
                .collect::<Vec<_>>()
        };
        let all =
            [(0, "write", 2), (1, "flush", 1), (1, "lost", 7), (3, "read", 1), (6, "lost", 5)];
        assert_eq!(in_period(5_000_000_000, u64::MAX), all);
        let part = [(0, "flush", 1), (0, "lost", 7), (0, "write", 1)];
        assert_eq!(in_period(5_500_000_000, 8_000_000_000), part);
        assert_eq!(in_period(8_000_000_000, 9_000_000_000), [(0, "read", 1)]);
        // A gap counts in full wherever a part of it may be.
        assert_eq!(in_period(12_000_000_000, u64::MAX), [(0, "lost", 5)]);

        let whole = Period {
            from_ns: 5_000_000_000,
            to_ns: u64::MAX,
        };
        let writes = seconds(&path, whole).expect("an account")[0];
        assert_eq!(writes.failed, 1);
        assert_eq!(writes.bytes, 16_384);
        assert_eq!(writes.late_ns, 20);
        assert_eq!(writes.time_ns, 400 + 899_999_800);
        assert_eq!(writes.longest_ns, 899_999_800);
    }
}
