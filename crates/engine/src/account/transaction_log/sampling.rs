//! Takes the seed of a run and which transaction it is; says whether the transaction is in the sample of the log.

use assay_values::Random;

/// Which transaction it is, whatever the timing: in a schedule or a list its number, else its client's.
#[derive(Clone, Copy, Debug)]
pub enum Identity {
    /// Group and number.
    Numbered(u32, u64),
    /// Client, and how many it had begun.
    OfClient(u32, u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    seed: u64,
    /// `None`: all.
    below: Option<u64>,
}

impl Sampling {
    pub fn new(seed: u64, share: f64) -> Self {
        // Another number than that of any client's or transaction's stream.
        let seed = Random::derived(seed, u64::MAX);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "of 0..1, and a float saturates"
        )]
        let below = (share < 1.0).then(|| (share * 2f64.powi(64)) as u64);
        Self { seed, below }
    }

    #[inline]
    pub fn has(self, identity: Identity) -> bool {
        let Some(below) = self.below else {
            return true;
        };
        let (stream, number) = match identity {
            Identity::Numbered(group, number) => (u64::from(group), number),
            Identity::OfClient(client, number) => (u64::from(client) + (1 << 32), number),
        };
        Random::derived(Random::derived(self.seed, stream), number) < below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_decided_by_the_seed_and_the_transaction_alone() {
        let of = |seed, share| {
            let sampling = Sampling::new(seed, share);
            let each = (0..100_000).map(move |number| {
                sampling.has(match number % 2 {
                    0 => Identity::OfClient(3, number),
                    _ => Identity::Numbered(0, number),
                })
            });
            each.collect::<Vec<_>>()
        };
        let kept = of(7, 0.01);
        assert_eq!(kept, of(7, 0.01));
        assert_ne!(kept, of(8, 0.01));
        let count = kept.iter().filter(|is_kept| **is_kept).count();
        assert!((900..1100).contains(&count), "{count}");
        assert!(of(7, 1.0).into_iter().all(|is_kept| is_kept));
    }
}
