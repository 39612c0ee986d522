//! Takes the answers to one statement; returns how many rows they had, and the rows themselves of the first
//! transactions in a form that can be compared with another run, on any system.
//!
//! With one seed, the n-th transaction of a client asks the same in every run, however fast the system is. What
//! was answered to the first 1, 2, 4 … 64 of them is summed, so that runs of different lengths have a number of
//! transactions in common.

use assay_drivers::Answer;
use assay_values::RowsDigest;

use crate::account::answer_sums::mixed;

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
    #[must_use]
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
    #[must_use]
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
#[must_use]
pub fn rows_of(answer: &Answer) -> u64 {
    if answer.rows > 0 {
        answer.rows
    } else {
        answer.affected
    }
}

#[cfg(test)]
mod tests {
    use super::{StatementAnswers, stage_of};
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
}
