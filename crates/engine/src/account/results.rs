//! Takes the answers to one statement; returns whether they agree. If clients get different answers from data
//! that does not change, the system under test is wrong, however fast it is.

/// How many different answers to one statement a thread distinguishes. Any further ones count as different.
const KEPT: usize = 32;

/// The answers seen so far, for each statement whose answers are compared.
#[derive(Debug, Default)]
pub struct ResultLog {
    statements: Vec<Answers>,
}

/// The different answers to one statement, in the order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    seen: Vec<Seen>,
    others: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    rows: u64,
    digest: u64,
    count: u64,
    first_client: u32,
    first_at_ns: u64,
}

/// How far the answers to one statement agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    pub rows: u64,
    pub digest: u64,
    pub answers: u64,
    pub differing: u64,
    pub first_difference: Option<String>,
}

impl ResultLog {
    pub fn new(statements: usize) -> Self {
        Self {
            statements: vec![Answers::default(); statements],
        }
    }

    #[inline]
    pub fn count(&mut self, statement: u32, rows: u64, digest: u64, client: u32, at_ns: u64) {
        let answers = &mut self.statements[statement as usize];
        let seen = Seen {
            rows,
            digest,
            count: 1,
            first_client: client,
            first_at_ns: at_ns,
        };
        answers.add(seen);
    }

    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.statements.iter_mut().zip(&other.statements) {
            theirs.seen.iter().for_each(|seen| mine.add(*seen));
            mine.others += theirs.others;
        }
    }

    /// For the statements that were answered.
    pub fn agreements(&self) -> impl Iterator<Item = (usize, Agreement)> {
        let all = self.statements.iter().enumerate();
        all.filter_map(|(number, answers)| Some((number, answers.agreement()?)))
    }
}

impl Answers {
    #[inline]
    fn add(&mut self, new: Seen) {
        let is_same = |known: &&mut Seen| (known.rows, known.digest) == (new.rows, new.digest);
        if let Some(known) = self.seen.iter_mut().find(is_same) {
            known.count += new.count;
            if new.first_at_ns < known.first_at_ns {
                (known.first_at_ns, known.first_client) = (new.first_at_ns, new.first_client);
            }
        } else if self.seen.len() < KEPT {
            self.seen.push(new);
        } else {
            self.others += new.count;
        }
    }

    fn agreement(&self) -> Option<Agreement> {
        let first = self.seen.iter().min_by_key(|seen| seen.first_at_ns)?;
        let is_other = |seen: &&Seen| (seen.rows, seen.digest) != (first.rows, first.digest);
        let second = self
            .seen
            .iter()
            .filter(is_other)
            .min_by_key(|seen| seen.first_at_ns);
        let answers = self.seen.iter().map(|seen| seen.count).sum::<u64>() + self.others;
        Some(Agreement {
            rows: first.rows,
            digest: first.digest,
            answers,
            differing: answers - first.count,
            first_difference: second.map(|second| {
                format!(
                    "client {} got {}, client {} got {}",
                    first.first_client,
                    first.describe(),
                    second.first_client,
                    second.describe()
                )
            }),
        })
    }
}

impl Seen {
    fn describe(&self) -> String {
        format!("{} rows with the digest {:016x}", self.rows, self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared_with_the_earliest_of_all_threads() {
        let (mut one, mut other) = (ResultLog::new(1), ResultLog::new(1));
        one.count(0, 5, 0xa, 1, 300);
        one.count(0, 5, 0xa, 1, 400);
        one.count(0, 5, 0xb, 1, 500);
        other.count(0, 5, 0xb, 2, 100);
        other.count(0, 5, 0xa, 2, 200);
        one.merge(&other);
        let (_, agreement) = one.agreements().next().expect("there were answers");

        assert_eq!(agreement.digest, 0xb);
        assert_eq!(agreement.answers, 5);
        assert_eq!(agreement.differing, 3);
        let difference = agreement.first_difference.expect("answers differ");
        assert!(
            difference.starts_with("client 2 got 5 rows with the digest 000000000000000b"),
            "{difference}"
        );
        assert!(
            difference.contains("client 2 got 5 rows with the digest 000000000000000a"),
            "{difference}"
        );
    }

    #[test]
    fn more_different_answers_than_are_kept_are_still_counted() {
        let mut log = ResultLog::new(1);
        for digest in 0..1000 {
            log.count(0, 1, digest, 0, digest);
        }
        let (_, agreement) = log.agreements().next().expect("there were answers");
        assert_eq!((agreement.answers, agreement.differing), (1000, 999));
    }
}
