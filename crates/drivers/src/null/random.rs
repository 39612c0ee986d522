//! A small random stream for each session: `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014).

#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Streams of different sessions of a seed begin far from one another.
    pub(super) fn new(seed: u64, session: u64) -> Self {
        Self(Self(seed).next() ^ Self(!session).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// At least 0, below 1.
    pub(super) fn unit(&mut self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "53 bits are what a double holds"
        )]
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        unit
    }

    /// Of the standard normal distribution (Box and Muller, 1958).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}
