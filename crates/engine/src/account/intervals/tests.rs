use crate::account::intervals::*;
use crate::observation::Outcome;
use assay_histogram::{EncodedHistogram, LatencyHistogram};

#[test]
fn seconds_without_an_end_have_an_interval_and_late_samples_are_in_it() {
    let mut open = OpenSeconds::new(2);
    let mut series = Series::new(&Layout::of_clients(&[8, 2]));
    let end = |open: &mut OpenSeconds, group, outcome, since_ns, latency_ns| {
        let second = open.at(since_ns);
        second.completed(since_ns);
        second.group(group).ended(outcome, latency_ns);
    };
    end(&mut open, 0, Outcome::Ok, 100, 1_000_001);
    let late_ns = SECOND_NS * 3 + 5;
    end(&mut open, 1, Outcome::Failed, late_ns, 9_000_000);
    series.connected(50, &[8, 2]);
    series.connected(SECOND_NS * 2, &[8, 2]);
    series.connected(SECOND_NS * 2 + 1, &[5, 2]);
    open.close(2, &mut series);
    series.write_lines(2);
    let completed = series.take_completed();
    let completed = completed
        .iter()
        .map(|line| (line.second, line.ok, line.clients_connected));
    assert_eq!(
        completed.collect::<Vec<_>>(),
        [(0, 1, 8), (0, 0, 2), (1, 0, 8), (1, 0, 2)]
    );
    assert!(series.take_completed().is_empty());
    // Arrives after its second was written.
    end(&mut open, 0, Outcome::Ok, 200, 7_000_003);
    open.close(u64::MAX, &mut series);
    let (lines, gaps) = series.finish(late_ns);

    let of_group = |name: &'static str| {
        let lines = lines.iter().filter(move |line| line.group == name);
        let seen = lines.map(|line| (line.second, line.ok, line.failed, line.clients_connected));
        seen.collect::<Vec<_>>()
    };
    assert_eq!(
        of_group("0"),
        [(0, 2, 0, 8), (1, 0, 0, 8), (2, 0, 0, 5), (3, 0, 0, 5)]
    );
    assert_eq!(
        of_group("1"),
        [(0, 0, 0, 2), (1, 0, 0, 2), (2, 0, 0, 2), (3, 0, 1, 2)]
    );
    let mut whole = LatencyHistogram::new();
    whole.record(1_000_001);
    whole.record(7_000_003);
    assert_eq!(lines[0].latency, Some(EncodedHistogram::from(&whole)));
    assert_eq!(
        (lines[0].max_ns, lines[1].latency.as_ref()),
        (7_000_003, None)
    );
    let gap = gaps.iter().map(|gap| (gap.from_ns, gap.to_ns));
    assert_eq!(gap.collect::<Vec<_>>(), [(200, late_ns)]);
}
