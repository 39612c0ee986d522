//! Takes the ends of all clients and the times without progress; returns how evenly the clients were served.

use crate::account::{Durations, End, TimeSpan, Waits};
use crate::drive::plan::group::Group;
use crate::drive::report::transactions::Recorded;
use crate::observation::{
    CarriedOver, InFlight, Interval, LittlesLaw, Standstill, TransactionsPerClient,
};

const SECOND_NS: u64 = 1_000_000_000;

pub fn per_client(ends: &[End]) -> TransactionsPerClient {
    TransactionsPerClient::of(ends.iter().map(|end| end.transactions).collect())
}

pub fn in_flight(ends: &[End]) -> InFlight {
    let mut sum = InFlight::default();
    for under_way in ends.iter().filter_map(|end| end.worktime.in_flight) {
        sum.count += 1;
        sum.oldest_ns = sum.oldest_ns.max(under_way.age_ns);
        sum.begun_in_warm_up += u64::from(!under_way.is_measured);
    }
    sum
}

pub fn carried_over(ends: &[End]) -> CarriedOver {
    let mut sum = CarriedOver::default();
    for length_ns in ends.iter().filter_map(|end| end.worktime.carried_over_ns) {
        sum.count += 1;
        sum.longest_ns = sum.longest_ns.max(length_ns);
    }
    sum
}

/// For a closed loop whose measurement lasted from `began_ns` to `last_ns`.
pub fn littles_law(
    recorded: &Recorded<'_>,
    ends: &[End],
    (began_ns, last_ns): (u64, u64),
) -> Option<LittlesLaw> {
    if recorded.plan.has_open_loop() {
        return None;
    }
    let all = all_ended(recorded);
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    let in_transactions_ns = all.latency().mean_ns() * all.count() as f64;
    let at_work = ends.iter().map(|end| end.at_ns.saturating_sub(began_ns));
    LittlesLaw::new(
        last_ns.saturating_sub(began_ns),
        at_work.sum(),
        all.count(),
        in_transactions_ns,
        ends.iter().map(|end| end.worktime.between_ns).sum(),
    )
}

/// The stalls, and the part of `suspensions` that lies in the measurement.
pub fn standstills(
    recorded: &Recorded<'_>,
    waits: Waits,
    (gaps, suspensions): (&[TimeSpan], &[TimeSpan]),
    (began_ns, last_ns): (u64, u64),
) -> (Vec<Standstill>, Vec<Standstill>) {
    let elapsed = TimeSpan { from_ns: 0, to_ns: last_ns.saturating_sub(began_ns) };
    let suspended: Vec<_> = suspensions
        .iter()
        .filter_map(|span| {
            let since_began = TimeSpan {
                from_ns: span.from_ns.saturating_sub(began_ns),
                to_ns: span.to_ns.saturating_sub(began_ns),
            };
            since_began.common(&elapsed)
        })
        .collect();
    let median_ns = |transaction_type| {
        let times = recorded.durations_of_type(transaction_type);
        times.latency().percentile_ns(50.0).unwrap_or(0)
    };
    let stalled = waits.stalls(gaps, &suspended, began_ns, median_ns);
    let reported = |spans: Vec<TimeSpan>| spans.iter().map(Standstill::from).collect();
    (reported(stalled), reported(suspended))
}

/// Adds to each second how long it was stalled or suspended; adds the seconds after the last in which a
/// transaction ended.
pub fn mark(
    intervals: &mut Vec<Interval>,
    groups: &[Group],
    stalls: &[Standstill],
    suspensions: &[Standstill],
) {
    let all = stalls.iter().chain(suspensions);
    let last_ns = all.map(|standstill| standstill.to_ns).max().unwrap_or(0);
    let written = intervals.last().map_or(0, |line| line.second + 1);
    for second in written..last_ns.div_ceil(SECOND_NS) {
        for group in groups {
            let before = intervals.len().checked_sub(groups.len());
            let clients_connected = before.map_or(0, |at| intervals[at].clients_connected);
            intervals.push(Interval {
                second,
                group: group.name.clone(),
                clients_connected,
                ..Interval::default()
            });
        }
    }
    for line in intervals {
        let second =
            TimeSpan { from_ns: line.second * SECOND_NS, to_ns: (line.second + 1) * SECOND_NS };
        let within_ns = |standstills: &[Standstill]| {
            let parts = standstills
                .iter()
                .filter_map(|standstill| TimeSpan::from(standstill).common(&second));
            parts.map(|part| part.length_ns()).sum()
        };
        line.stalled_ns = within_ns(stalls);
        line.suspended_ns = within_ns(suspensions);
    }
}

fn all_ended(recorded: &Recorded<'_>) -> Durations {
    let mut all = Durations::default();
    for (number, _) in (0u32..).zip(&recorded.plan.types) {
        all.merge(&recorded.durations_of_type(number));
    }
    all
}

impl From<&TimeSpan> for Standstill {
    fn from(span: &TimeSpan) -> Self {
        Self { from_ns: span.from_ns, to_ns: span.to_ns }
    }
}

impl From<&Standstill> for TimeSpan {
    fn from(standstill: &Standstill) -> Self {
        Self { from_ns: standstill.from_ns, to_ns: standstill.to_ns }
    }
}
