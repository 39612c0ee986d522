//! Takes errors; gives how often each kind came, with the first message of each: nothing is hidden, and
//! a million errors take no more room than one.

use std::collections::HashMap;

use assay_drivers::SystemError;

use crate::observation::{Certainty, ErrorReport};

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

impl Entry {
    fn first(message: &str, at_ns: u64) -> Self {
        Self {
            message: message.to_owned(),
            count: 1,
            retried: 0,
            first_at_ns: at_ns,
        }
    }
}

impl ErrorLog {
    pub fn count(&mut self, error: &SystemError, transaction_type: Option<u32>, at_ns: u64) {
        let kind = Kind {
            class: error.class.word(),
            code: error.code.clone(),
            certainty: error.certainty.into(),
            transaction_type,
        };
        self.add(kind, Entry::first(&error.message, at_ns));
    }

    /// The same, where the class is only a word (an expectation of the script's own).
    pub fn count_words(
        &mut self,
        class: &'static str,
        code: &str,
        message: &str,
        certainty: assay_drivers::Certainty,
        transaction_type: Option<u32>,
        at_ns: u64,
    ) {
        let kind = Kind {
            class,
            code: code.to_owned(),
            certainty: certainty.into(),
            transaction_type,
        };
        self.add(kind, Entry::first(message, at_ns));
    }

    /// After an error of this kind, which has been counted, its transaction is tried again. What may have
    /// been done never is.
    pub fn retried(&mut self, class: &'static str, code: &str, transaction_type: u32) {
        let kind = Kind {
            class,
            code: code.to_owned(),
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
        add(&mut self.entries, kind, entry);
    }

    /// In the order in which each kind came first; times count from `began_ns`. Only kinds of which
    /// `is_wanted` says so, given their transaction type; those that have the same name, class, code and
    /// certainty are one.
    #[must_use]
    pub fn report(
        &self,
        name_of: impl Fn(u32) -> String,
        is_wanted: impl Fn(Option<u32>) -> bool,
        began_ns: u64,
    ) -> Vec<ErrorReport> {
        let mut named: HashMap<_, Entry> = HashMap::new();
        for (kind, entry) in &self.entries {
            if is_wanted(kind.transaction_type) {
                let name = kind.transaction_type.map(&name_of);
                let key = (kind.class, &kind.code, kind.certainty, name);
                add(&mut named, key, entry.clone());
            }
        }
        let mut sorted: Vec<_> = named.into_iter().collect();
        sorted.sort_by(|(one_key, one), (other_key, other)| {
            (one.first_at_ns, one_key).cmp(&(other.first_at_ns, other_key))
        });
        let report =
            |((class, code, certainty, transaction), entry): (Key<'_>, Entry)| ErrorReport {
                class,
                code: code.clone(),
                certainty,
                message: entry.message,
                count: entry.count,
                retried: entry.retried,
                transaction,
                first_at_ns: entry.first_at_ns.saturating_sub(began_ns),
            };
        sorted.into_iter().map(report).collect()
    }
}

/// Class, code, certainty and the transaction's name.
type Key<'a> = (&'static str, &'a String, Certainty, Option<String>);

fn add<K: Eq + std::hash::Hash>(entries: &mut HashMap<K, Entry>, key: K, entry: Entry) {
    entries
        .entry(key)
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
