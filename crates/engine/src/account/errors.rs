//! Takes errors; returns how often each kind occurred, with the first message of each. No error is hidden,
//! and a million errors take no more memory than one.

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
    /// `None` while connecting.
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

    /// The same for an error that the script itself raised.
    pub fn count_script_error(
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

    /// The transaction is retried after an error of this kind, which was counted before. A transaction that
    /// may have been committed is never retried.
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

    /// The selected kinds, in the order of their first occurrence; times count from `began_ns`. `is_selected`
    /// gets the transaction type. Kinds with the same name, class, code and certainty are merged.
    pub fn report(
        &self,
        name_of: impl Fn(u32) -> String,
        is_selected: impl Fn(Option<u32>) -> bool,
        began_ns: u64,
    ) -> Vec<ErrorReport> {
        let mut named: HashMap<_, Entry> = HashMap::new();
        for (kind, entry) in &self.entries {
            if is_selected(kind.transaction_type) {
                let name = kind.transaction_type.map(&name_of);
                let key = (kind.class, &kind.code, kind.certainty, name);
                add(&mut named, key, entry.clone());
            }
        }
        let mut sorted: Vec<_> = named.into_iter().collect();
        sorted.sort_by(|(left_key, left), (right_key, right)| {
            (left.first_at_ns, left_key).cmp(&(right.first_at_ns, right_key))
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
