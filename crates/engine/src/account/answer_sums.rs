//! Takes what the statements of each transaction answered; returns a sum per transaction type that is equal for
//! two runs if every transaction got the same rows in both. Who ran a transaction of a shared list, and when, does
//! not matter.

/// The rows that the statements of one transaction have returned so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    rows: u64,
    /// The sum of the rows' hashes.
    digest: u64,
}

/// The answers of all transactions of one type that ended ok.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerSum {
    pub transactions: u64,
    pub rows: u64,
    pub digest: u64,
}

impl Answered {
    #[inline]
    pub fn add(&mut self, rows: u64, digest: u64) {
        self.rows += rows;
        self.digest = self.digest.wrapping_add(digest);
    }
}

impl AnswerSum {
    /// Adds the transaction of this number and client: equal answers to other questions make another sum.
    #[inline]
    pub fn add(&mut self, answered: &Answered, number: u64, client: u32) {
        let question = mixed(number ^ mixed(u64::from(client)));
        let answer = mixed(answered.digest ^ mixed(answered.rows ^ question));
        self.transactions += 1;
        self.rows += answered.rows;
        self.digest = self.digest.wrapping_add(answer);
    }

    pub fn merge(&mut self, other: &Self) {
        self.transactions += other.transactions;
        self.rows += other.rows;
        self.digest = self.digest.wrapping_add(other.digest);
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), behind its first step: 0 has an image too.
pub(super) fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::{AnswerSum, Answered};

    fn sum(transactions: &[(u64, u64, u64)]) -> AnswerSum {
        let mut sum = AnswerSum::default();
        for &(number, rows, digest) in transactions {
            let mut answered = Answered::default();
            answered.add(rows, digest);
            sum.add(&answered, number, 0);
        }
        sum
    }

    #[test]
    fn a_sum_depends_on_who_got_which_answer_and_not_on_the_order() {
        let whole = sum(&[(0, 3, 0xa), (1, 2, 0xb)]);
        assert_eq!(whole, sum(&[(1, 2, 0xb), (0, 3, 0xa)]));
        for other in [
            [(0, 2, 0xb), (1, 3, 0xa)],
            [(0, 3, 0xa), (1, 2, 0xc)],
            [(0, 2, 0xa), (1, 3, 0xb)],
        ] {
            assert_ne!(whole.digest, sum(&other).digest);
        }
    }

    #[test]
    fn sums_of_two_threads_are_added() {
        let mut one = sum(&[(0, 3, 0xa)]);
        one.merge(&sum(&[(1, 2, 0xb)]));
        assert_eq!(one, sum(&[(0, 3, 0xa), (1, 2, 0xb)]));
    }

    #[test]
    fn clients_with_lists_of_their_own_are_distinguished() {
        let (mut one, mut other) = (AnswerSum::default(), AnswerSum::default());
        one.add(&Answered::default(), 0, 1);
        other.add(&Answered::default(), 1, 0);
        assert_ne!(one, other);
    }
}
