//! Takes the answers to one statement; returns how many rows they had, and the rows themselves of the first
//! transactions in a form that can be compared with another run, on any system.
//!
//! With one seed, the n-th transaction of a client asks the same in every run, however fast the system is. What
//! was answered to the first 1, 2, 4 … 64 of them is summed, so that runs of different lengths have a number of
//! transactions in common.

use assay_drivers::Answer;
use assay_values::RowsDigest;

/// How many transactions of a client are compared, or of the list that all clients share.
pub const COMPARED_TRANSACTIONS: u8 = 1 << (STAGES - 1);
/// The first so many clients of a group are compared, where each has its own transactions: with more, hashing would be
/// a large part of a short run, and what they ask would show no other data.
pub const COMPARED_CLIENTS: u32 = 8;
/// A client that has got so many rows to compare compares no further transaction: hashing takes time.
pub const COMPARED_ROWS: u64 = 100_000;
const STAGES: usize = 7;
/// Sums of rounded numbers differ by so much for each of them, and by this share of the sum.
const ROUNDED: (f64, f64) = (1e-4, 1e-9);

/// The number of transactions at each stage: 1, 2, 4 … 64.
pub fn stages() -> impl Iterator<Item = (usize, u64)> {
    (0..STAGES).map(|stage| (stage, 1 << stage))
}

/// The stage at which the transaction of this number is first included.
fn stage_of(number: u8) -> usize {
    (u8::BITS - number.leading_zeros()) as usize
}

/// Transactions that ended ok, of those that are compared, by the stage at which each is first included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Completed([u64; STAGES]);

/// The answers to one statement.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatementAnswers {
    /// Measured ones.
    pub answers: u64,
    /// Returned, or else changed.
    pub rows: u64,
    pub rows_squared: f64,
    /// Whether two answers to a statement without parameters were not the same.
    pub varies: bool,
    only: Option<FirstAnswers>,
    first: [FirstAnswers; STAGES],
}

/// What the first transactions were answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstAnswers {
    pub answers: u64,
    pub rows: u64,
    /// Equal where every transaction got the same rows, numbers with a fraction aside.
    pub digest: u64,
    /// Cells that are numbers with a fraction.
    pub fractions: u64,
    pub fraction_sum: f64,
}

impl Completed {
    pub fn add(&mut self, number: u8) {
        self.0[stage_of(number)] += 1;
    }

    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }

    /// How many there are up to a stage.
    pub fn until(&self, stage: usize) -> u64 {
        self.0[..=stage].iter().sum()
    }
}

impl StatementAnswers {
    /// Counts a measured answer.
    #[inline]
    pub fn count(&mut self, rows: u64) {
        self.answers += 1;
        self.rows += rows;
        #[expect(clippy::cast_precision_loss, reason = "it is for a variance")]
        let rows = rows as f64;
        self.rows_squared += rows * rows;
    }

    /// Adds an answer in the transaction of this number; `client` is 0 where clients share a list.
    pub fn compare(&mut self, answer: &Answer, number: u8, client: u32, has_parameters: bool) {
        let rows = rows_of(answer);
        let RowsDigest {
            digest,
            fractions,
            fraction_sum,
            ..
        } = answer.compared;
        let plain = FirstAnswers {
            answers: 1,
            rows,
            digest,
            fractions,
            fraction_sum,
        };
        if !has_parameters {
            self.varies |= *self.only.get_or_insert(plain) != plain;
        }
        let question = mixed(u64::from(number) ^ mixed(u64::from(client)));
        let digest = mixed(digest ^ mixed(rows ^ question));
        self.first[stage_of(number)].add(&FirstAnswers { digest, ..plain });
    }

    pub fn merge(&mut self, other: &Self) {
        self.answers += other.answers;
        self.rows += other.rows;
        self.rows_squared += other.rows_squared;
        self.varies |= other.varies;
        if let Some(theirs) = other.only {
            self.varies |= *self.only.get_or_insert(theirs) != theirs;
        }
        for (mine, theirs) in self.first.iter_mut().zip(&other.first) {
            mine.add(theirs);
        }
    }

    /// What the transactions up to a stage were answered.
    pub fn until(&self, stage: usize) -> FirstAnswers {
        let mut sum = FirstAnswers::default();
        for part in &self.first[..=stage] {
            sum.add(part);
        }
        sum
    }
}

impl FirstAnswers {
    fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.rows += other.rows;
        self.digest = self.digest.wrapping_add(other.digest);
        self.fractions += other.fractions;
        self.fraction_sum += other.fraction_sum;
    }
}

impl PartialEq for FirstAnswers {
    fn eq(&self, other: &Self) -> bool {
        let (each, share) = ROUNDED;
        #[expect(clippy::cast_precision_loss, reason = "it is for a tolerance")]
        let near = each * self.fractions as f64 + share * self.fraction_sum.abs();
        (self.answers, self.rows, self.digest, self.fractions)
            == (other.answers, other.rows, other.digest, other.fractions)
            && (self.fraction_sum - other.fraction_sum).abs() <= near
    }
}

/// The rows that were returned, or else changed.
#[inline]
pub fn rows_of(answer: &Answer) -> u64 {
    if answer.rows > 0 {
        answer.rows
    } else {
        answer.affected
    }
}

// Takes what the statements of each transaction answered; returns a sum per transaction type that is equal for
// two runs if every transaction got the same rows in both. Who ran a transaction of a shared list, and when, does
// not matter.

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
    use super::{AnswerSum, Answered, StatementAnswers, stage_of};
    use assay_drivers::{Answer, Keep};

    fn answer(cells: &[&str]) -> Answer {
        let mut answer = Answer::new(Keep::Compare);
        for cell in cells {
            answer.begin_row();
            answer.cell(Some(cell.as_bytes()));
            answer.end_row();
        }
        answer
    }

    #[test]
    fn stages_double() {
        let stages: Vec<_> = [0, 1, 2, 3, 4, 7, 8, 63].map(stage_of).into();
        assert_eq!(stages, [0, 1, 2, 2, 3, 3, 4, 6]);
    }

    #[test]
    fn a_run_that_got_further_agrees_up_to_where_the_other_ended() {
        let (mut slow, mut fast) = (StatementAnswers::default(), StatementAnswers::default());
        for (number, name) in (0..4).zip(["a", "b", "c", "d"]) {
            fast.compare(&answer(&[name]), number, 0, true);
            if number < 2 {
                slow.compare(&answer(&[name]), number, 0, true);
            }
        }
        assert_eq!(slow.until(1), fast.until(1));
        assert_ne!(slow.until(2), fast.until(2));
    }

    #[test]
    fn other_rows_in_the_same_number_are_seen_and_their_order_is_not() {
        let first = |cells: &[&str]| {
            let mut answers = StatementAnswers::default();
            answers.compare(&answer(cells), 0, 0, true);
            answers.until(0)
        };
        assert_eq!(first(&["a", "b", "1.50"]), first(&["1.5", "b", "a"]));
        assert_ne!(first(&["a", "b"]), first(&["a", "c"]));
        assert_ne!(first(&["1.5"]), first(&["1.6"]));
    }

    #[test]
    fn a_statement_without_parameters_with_two_answers_varies() {
        let mut answers = StatementAnswers::default();
        answers.compare(&answer(&["12:00:01"]), 0, 0, false);
        assert!(!answers.varies);
        answers.compare(&answer(&["12:00:02"]), 1, 0, false);
        assert!(answers.varies);
    }

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
        for other in
            [[(0, 2, 0xb), (1, 3, 0xa)], [(0, 3, 0xa), (1, 2, 0xc)], [(0, 2, 0xa), (1, 3, 0xb)]]
        {
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
