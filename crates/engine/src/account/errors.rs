//! Takes errors; gives how often each kind came, with the first message of each: nothing is hidden, and
//! a million errors take no more room than one.

use std::collections::HashMap;

use assay_drivers::{Certainty, SystemError};

use crate::observation::ErrorReport;

#[derive(Debug, Default)]
pub struct ErrorLog {
    entries: HashMap<Kind, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    class: &'static str,
    code: String,
    certainty: Certainty,
    /// None while connecting.
    transaction_type: Option<u32>,
}

#[derive(Clone, Debug)]
struct Entry {
    message: String,
    count: u64,
    retried: u64,
    first_at_ns: u64,
}

impl ErrorLog {
    pub fn count(&mut self, error: &SystemError, transaction_type: Option<u32>, at_ns: u64) {
        self.count_words(
            error.class.word(),
            &error.code,
            &error.message,
            error.certainty,
            transaction_type,
            at_ns,
        );
    }

    /// The same, where the class is only a word (an expectation of the script's own).
    pub fn count_words(
        &mut self,
        class: &'static str,
        code: &str,
        message: &str,
        certainty: Certainty,
        transaction_type: Option<u32>,
        at_ns: u64,
    ) {
        let kind = Kind {
            class,
            code: code.to_owned(),
            certainty,
            transaction_type,
        };
        let entry = Entry {
            message: message.to_owned(),
            count: 1,
            retried: 0,
            first_at_ns: at_ns,
        };
        self.add(kind, entry);
    }

    /// After an error of this kind, which has been counted, its transaction is tried again.
    pub fn retried(&mut self, class: &'static str, code: &str, transaction_type: u32) {
        let kind = Kind {
            class,
            code: code.to_owned(),
            // What is unknown is never tried again.
            certainty: Certainty::Undone,
            transaction_type: Some(transaction_type),
        };
        if let Some(entry) = self.entries.get_mut(&kind) {
            entry.retried += 1;
        }
    }

    pub fn merge(&mut self, other: Self) {
        for (kind, entry) in other.entries {
            self.add(kind, entry);
        }
    }

    fn add(&mut self, kind: Kind, entry: Entry) {
        self.entries
            .entry(kind)
            .and_modify(|known| {
                known.count += entry.count;
                known.retried += entry.retried;
                if entry.first_at_ns < known.first_at_ns {
                    known.first_at_ns = entry.first_at_ns;
                    known.message.clone_from(&entry.message);
                }
            })
            .or_insert(entry);
    }

    /// In the order in which each kind came first; times count from `began_ns`.
    #[must_use]
    pub fn report(self, type_name: impl Fn(u32) -> String, began_ns: u64) -> Vec<ErrorReport> {
        let mut entries: Vec<_> = self.entries.into_iter().collect();
        entries.sort_by(|(a, one), (b, other)| {
            (one.first_at_ns, a.class, &a.code).cmp(&(other.first_at_ns, b.class, &b.code))
        });
        entries
            .into_iter()
            .map(|(kind, entry)| ErrorReport {
                class: kind.class,
                code: kind.code,
                certainty: kind.certainty.word(),
                message: entry.message,
                count: entry.count,
                retried: entry.retried,
                transaction: kind.transaction_type.map(&type_name),
                first_at_ns: entry.first_at_ns.saturating_sub(began_ns),
            })
            .collect()
    }
}
