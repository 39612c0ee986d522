//! Histograms of several client machines merge to the same as one recorder of all samples.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use assay_histogram::{EncodedHistogram, LatencyHistogram, merge_encoded};

const TWO_HOURS_NS: u64 = 7_200_000_000_000;

fn of(samples: &[u64]) -> LatencyHistogram {
    let mut times = LatencyHistogram::new();
    samples.iter().for_each(|sample| times.record(*sample));
    times
}

/// Odd lengths, so that neither the minimum nor the maximum lies on the edge of a bucket; some beyond an hour.
fn samples() -> Vec<u64> {
    let mut samples: Vec<u64> = (1..10_000_u64).map(|step| step * step * 977 + 13).collect();
    samples.extend([TWO_HOURS_NS + 1, TWO_HOURS_NS + 7]);
    samples
}

#[test]
fn an_encoded_histogram_is_decoded_exactly() {
    let times = of(&samples());
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
    let whole = EncodedHistogram::from(&of(&samples));
    for machines in [2, 3, 7] {
        let mut parts = vec![EncodedHistogram::from(&of(&[]))];
        for machine in 0..machines {
            let own: Vec<u64> = samples
                .iter()
                .copied()
                .skip(machine)
                .step_by(machines)
                .collect();
            parts.push(EncodedHistogram::from(&of(&own)));
        }
        let merged = merge_encoded(&parts).unwrap();
        assert_eq!(EncodedHistogram::from(&merged), whole);
    }
}

#[test]
fn parts_that_contradict_their_cells_are_rejected() {
    let good = EncodedHistogram::from(&of(&[5, 6, 7]));
    for (bad, reason) in [
        (
            EncodedHistogram {
                count: 4,
                ..good.clone()
            },
            "the count 4",
        ),
        (
            EncodedHistogram {
                overflow: 1,
                ..good.clone()
            },
            "overflow 1",
        ),
        (
            EncodedHistogram {
                min_ns: 9,
                ..good.clone()
            },
            "min_ns 9",
        ),
        (
            EncodedHistogram {
                histogram: "?".to_owned(),
                ..good.clone()
            },
            "base64",
        ),
    ] {
        let message = merge_encoded(&[good.clone(), bad]).unwrap_err().to_string();
        assert!(
            message.contains(reason) && message.contains("part 2"),
            "{message}"
        );
    }
}
