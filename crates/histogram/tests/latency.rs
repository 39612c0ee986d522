//! The properties of a histogram: counts, percentiles, merging, and its interchange format; histograms of
//! several client machines merge to the same as one recorder of all samples.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use assay_histogram::{EncodedHistogram, LatencyHistogram, merge_encoded};

fn of(samples: impl IntoIterator<Item = u64>) -> LatencyHistogram {
    let mut times = LatencyHistogram::new();
    samples.into_iter().for_each(|sample| times.record(sample));
    times
}

/// The relative error allowed for every percentile: three significant digits.
fn assert_close(found: u64, expected: u64) {
    assert!(
        found.abs_diff(expected) * 1000 <= expected,
        "found {found}, expected {expected}"
    );
}

#[test]
fn percentiles_are_the_nearest_rank_to_three_digits() {
    let times = of((1..=1000).map(|millisecond| millisecond * 1_000_000));
    assert_eq!((times.count(), times.overflow()), (1000, 0));
    assert_eq!((times.min_ns(), times.max_ns()), (1_000_000, 1_000_000_000));
    assert!((times.mean_ns() - 500_500_000.0).abs() < 1e-6);
    for (percent, millisecond) in
        [(0.0, 1), (0.1, 1), (50.0, 500), (90.0, 900), (99.0, 990), (99.9, 999), (100.0, 1000)]
    {
        assert_close(percentile_ns(&times, percent), millisecond * 1_000_000);
    }
}

/// A bucket is at most a thousandth of its time wide, or one nanosecond.
#[test]
fn times_are_exact_to_a_nanosecond_below_two_microseconds_and_to_three_digits_above() {
    for exact_ns in [1, 7, 63, 999, 1_023, 2_047] {
        let times = of([exact_ns, exact_ns, 3_600_000_000_000]);
        assert_eq!(percentile_ns(&times, 50.0), exact_ns);
    }
    let mut time_ns = 1_000_u64;
    while time_ns < 3_600_000_000_000 {
        let times = of([time_ns, time_ns, 3_600_000_000_000]);
        assert_close(percentile_ns(&times, 50.0), time_ns);
        time_ns += time_ns / 7;
    }
}

/// Written by a version whose buckets were 512 ns wide below a millisecond.
#[test]
fn a_histogram_of_an_old_record_reads_as_it_was_reported() {
    const OLD: &str = "HISTFAAAAEN4nAE4AMf/HISTEwAAABAAAAAAAAAAAwAAAAAAAAPoAAADRjC4oAA/8AAAAAAAAK49EBI4EAoGCgYCAhUCQQLJuwcY";
    let old = LatencyHistogram::decode(OLD).unwrap();
    assert_eq!(old.count(), 4000);
    for (percent, reported_ns) in [(50.0, 511), (95.0, 511), (99.0, 2_047), (99.9, 4_607)] {
        assert_close(percentile_ns(&old, percent), reported_ns);
    }
    // The longest of them took 28,733 ns.
    assert!(old.max_ns().abs_diff(28_733) <= 512, "{}", old.max_ns());

    let mut both = of([100_000; 4000]);
    both.merge(&old);
    assert_eq!(both.count(), 8000);
    assert_close(percentile_ns(&both, 49.5), 2_047);
    assert_close(percentile_ns(&both, 51.0), 100_000);
    assert_eq!(percentile_ns(&both, 100.0), 100_000);
}

#[test]
fn an_empty_histogram_returns_zero() {
    let times = LatencyHistogram::new();
    assert_eq!((times.count(), times.min_ns(), times.max_ns()), (0, 0, 0));
    assert_eq!((percentile_ns(&times, 99.0), times.mean_ns()), (0, 0.0));
    assert_eq!(
        LatencyHistogram::decode(&times.encode()).unwrap().count(),
        0
    );
}

#[test]
fn one_sample_is_every_percentile_exactly() {
    let times = of([123_456_789]);
    for percent in [0.0, 50.0, 99.9, 100.0] {
        assert_eq!(percentile_ns(&times, percent), 123_456_789);
    }
}

#[test]
fn times_beyond_an_hour_are_counted() {
    let two_hours = 7_200_000_000_000;
    let times = of([5_000, two_hours]);
    assert_eq!(times.count(), 2);
    assert_eq!(times.overflow(), 1);
    assert_eq!(times.max_ns(), two_hours);
    assert_close(percentile_ns(&times, 100.0), two_hours / 2);
    let read = LatencyHistogram::decode(&times.encode()).unwrap();
    assert_eq!((read.count(), read.overflow()), (2, 1));
}

#[test]
fn merging_equals_recording_together() {
    let (odd, even): (Vec<u64>, Vec<u64>) = (1..5000_u64)
        .map(|step| step * step * 977)
        .partition(|sample| sample % 2 == 1);
    let mut merged = of(odd.iter().copied());
    merged.merge(&of(even.iter().copied()));
    let together = of(odd.into_iter().chain(even));
    assert_eq!(merged.encode(), together.encode());
    assert_eq!(merged.min_ns(), together.min_ns());
    assert_eq!(merged.max_ns(), together.max_ns());
    assert!((merged.mean_ns() - together.mean_ns()).abs() < 1e-6);
}

#[test]
fn the_interchange_text_keeps_the_distribution() {
    let times = of((1..100_000_u64).map(|step| step * 7_919));
    let text = times.encode();
    assert!(
        text.starts_with("HISTF"),
        "other tools recognize the format by this: {}",
        &text[..8]
    );
    let read = LatencyHistogram::decode(&text).unwrap();
    assert_eq!(read.count(), times.count());
    assert_eq!(read.encode(), text);
    for percent in [50.0, 90.0, 99.0, 99.9, 100.0] {
        assert_close(
            percentile_ns(&read, percent),
            percentile_ns(&times, percent),
        );
    }
    assert!((read.mean_ns() / times.mean_ns() - 1.0).abs() < 0.001);
}

#[test]
fn clearing_removes_all_samples() {
    let mut times = of([1_000_000, 9_999_999_999_999]);
    times.clear();
    assert_eq!(times.encode(), LatencyHistogram::new().encode());
    assert_eq!((times.count(), times.overflow(), times.max_ns()), (0, 0, 0));
}

#[test]
fn an_invalid_text_is_rejected_with_a_reason() {
    for (text, reason) in [("***", "base64"), ("aGVsbG8gd29ybGQ=", "HDR histogram V2"), ("", "V2")]
    {
        let message = LatencyHistogram::decode(text).unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    }
}

/// Of a histogram without anything that was never answered.
fn percentile_ns(times: &LatencyHistogram, percent: f64) -> u64 {
    times.percentile_ns(percent).unwrap()
}

#[test]
fn what_was_never_answered_is_above_every_percentile() {
    let mut times = of((1..=40).map(|millisecond| millisecond * 1_000_000));
    times.add_unanswered(60);
    assert_eq!((times.count(), times.unanswered()), (40, 60));
    assert_close(percentile_ns(&times, 20.0), 20_000_000);
    assert_close(percentile_ns(&times, 40.0), 40_000_000);
    assert_eq!(times.percentile_ns(40.1), None);
    assert_eq!(times.percentile_ns(99.0), None);
    let mut all = of([]);
    all.merge(&times);
    all.merge(&times);
    assert_eq!((all.count(), all.unanswered()), (80, 120));
    assert_eq!(all.percentile_ns(50.0), None);
    let mut none = of([]);
    none.add_unanswered(1);
    assert_eq!(none.percentile_ns(50.0), None);
}

const TWO_HOURS_NS: u64 = 7_200_000_000_000;

/// Odd lengths, so that neither the minimum nor the maximum lies on the edge of a bucket; some beyond an hour.
fn samples() -> Vec<u64> {
    let mut samples: Vec<u64> = (1..10_000_u64).map(|step| step * step * 977 + 13).collect();
    samples.extend([TWO_HOURS_NS + 1, TWO_HOURS_NS + 7]);
    samples
}

#[test]
fn an_encoded_histogram_is_decoded_exactly() {
    let times = of(samples());
    let encoded = EncodedHistogram::from(&times);
    let text = serde_json::to_string(&encoded).unwrap();
    let read: EncodedHistogram = serde_json::from_str(&text).unwrap();
    let back = read.decode().unwrap();
    assert_eq!(back.min_ns(), 990);
    assert_eq!(back.max_ns(), TWO_HOURS_NS + 7);
    assert_eq!(back.sum_ns(), samples().iter().sum::<u64>());
    assert_eq!((back.count(), back.overflow()), (10_001, 2));
    assert_eq!(EncodedHistogram::from(&back), encoded);
}

#[test]
fn the_parts_merge_to_the_whole() {
    let samples = samples();
    let whole = EncodedHistogram::from(&of(samples.iter().copied()));
    for machines in [2, 3, 7] {
        let mut parts = vec![EncodedHistogram::from(&of([]))];
        for machine in 0..machines {
            let own = samples.iter().copied().skip(machine).step_by(machines);
            parts.push(EncodedHistogram::from(&of(own)));
        }
        let merged = merge_encoded(&parts).unwrap();
        assert_eq!(EncodedHistogram::from(&merged), whole);
    }
}

#[test]
fn parts_that_contradict_their_cells_are_rejected() {
    let good = EncodedHistogram::from(&of([5, 6, 7]));
    #[rustfmt::skip]
    let cases = [
        (EncodedHistogram { count: 4, ..good.clone() }, "the count 4"),
        (EncodedHistogram { overflow: 1, ..good.clone() }, "overflow 1"),
        (EncodedHistogram { min_ns: 9, ..good.clone() }, "min_ns 9"),
        (EncodedHistogram { histogram: "?".to_owned(), ..good.clone() }, "base64"),
    ];
    for (bad, reason) in cases {
        let message = merge_encoded(&[good.clone(), bad]).unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
        assert!(message.contains("part 2"), "{message}");
    }
}
