//! Takes a drive document; returns an error if its keys contradict each other.

use std::collections::BTreeMap;

use crate::EngineError;
use crate::document::drive::DriveDocument;
use crate::document::group::{ClientsDocument, GroupDocument, Order, StopDocument};
use crate::document::pace::ArrivalDocument;

/// The cards of a deck: one is shuffled for each client, or for each transaction of a shared list.
const MOST_CARDS: u64 = 10_000;

impl DriveDocument {
    /// Checks keys against each other.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        let wrong = |key: &str, expected: &str| {
            Err(EngineError::Document(format!(
                "the drive document, key `{key}`: {expected}"
            )))
        };
        let Some(groups) = &self.groups else {
            if self.scripts.is_empty() {
                return wrong("scripts", "expected at least one script");
            }
            if self.work.order.is_none() {
                return wrong("order", "expected `sequence`, `mix` or `deck`, or `groups`");
            }
            if self.work.clients.is_none() {
                return wrong("clients", "expected the number of clients, or `groups`");
            }
            return GroupDocument::only(self).check(self, "");
        };
        if groups.is_empty() {
            return wrong("groups", "expected at least one group");
        }
        if let Some(key) = self.work.present() {
            return wrong(key, "expected this key in each of the `groups`");
        }
        for (place, group) in groups.iter().enumerate() {
            if groups[..place].iter().any(|other| other.name == group.name) {
                return wrong(
                    &format!("groups[{place}].name"),
                    "expected a name that no other group has",
                );
            }
            group.check(self, &format!("groups[{place}]."))?;
            let Some(name) = &group.ends_with else {
                continue;
            };
            let ends_by_itself = |other: &GroupDocument| {
                other.name == *name && other.name != group.name && other.ends_with.is_none()
            };
            if !groups.iter().any(ends_by_itself) {
                return wrong(
                    &format!("groups[{place}].ends_with"),
                    "expected the name of another group, which ends by itself",
                );
            }
            if group.work.arrival != ArrivalDocument::Closed {
                return wrong(
                    &format!("groups[{place}].ends_with"),
                    "an open loop ends by its arrivals; expected none",
                );
            }
        }
        let (deferred, others): (Vec<_>, Vec<_>) =
            groups.iter().partition(|group| group.is_deferred());
        if deferred.len() > 1 || others.is_empty() {
            return wrong(
                "groups",
                "expected at most one group with deferred arrivals, beside one that queues them",
            );
        }
        let clients = groups
            .iter()
            .map(|group| u64::from(group.work.of_clients()));
        if clients.sum::<u64>() > u64::from(u32::MAX) {
            return wrong("groups", "expected at most 4294967295 clients in total");
        }
        Ok(())
    }
}

impl GroupDocument {
    /// The group of a document without `groups`.
    pub(super) fn only(document: &DriveDocument) -> Self {
        Self {
            name: String::new(),
            scripts: (document.scripts.iter())
                .map(|script| script.name.clone())
                .collect(),
            weights: BTreeMap::new(),
            ends_with: None,
            work: ClientsDocument {
                stop: StopDocument {
                    duration_s: None,
                    ..document.work.stop
                },
                ..document.work.clone()
            },
        }
    }

    /// Checks keys against each other; `at` is the path of the group's keys.
    fn check(&self, document: &DriveDocument, at: &str) -> Result<(), EngineError> {
        let wrong = |key: &str, expected: &str| {
            Err(EngineError::Document(format!(
                "the drive document, key `{at}{key}`: {expected}"
            )))
        };
        let work = &self.work;
        let stop = &work.stop;
        if self.scripts.is_empty() {
            return wrong("scripts", "expected at least one script");
        }
        let Some(clients) = work.clients else {
            return wrong("clients", "expected the number of clients");
        };
        if clients == 0 {
            return wrong("clients", "expected at least 1, found 0");
        }
        if u64::from(work.of_clients()) < u64::from(work.first_client) + u64::from(clients) {
            return wrong(
                "of_clients",
                "expected at least `first_client` + `clients`: these clients are a part of them",
            );
        }
        if let Some(deployment) = &document.deployment
            && !deployment.endpoints.is_empty()
            && (self.scripts.iter()).any(|script| {
                let read = work.read.of(script);
                !(deployment.endpoints.iter()).any(|one| read.uses(one.is_replica))
            })
        {
            return wrong("read", "expected an endpoint of this kind, found none");
        }
        if stop.duration_s.is_some() {
            return wrong(
                "stop.duration_s",
                "expected next to `groups`: all groups are measured at the same time",
            );
        }
        if self.is_deferred() && *stop != StopDocument::default() {
            return wrong(
                "stop",
                "a group with deferred arrivals ends when nothing can be queued any more; expected none",
            );
        }
        let has_limit = stop.passes.is_some()
            || stop.transactions.is_some()
            || stop.queue.is_some()
            || self.ends_with.is_some()
            || self.is_deferred();
        if !has_limit && document.work.stop.duration_s.is_none() {
            return wrong(
                "stop",
                "expected one of `passes`, `transactions`, `queue`, `duration_s`",
            );
        }
        if [stop.passes, stop.transactions, stop.queue].contains(&Some(0)) {
            return wrong("stop", "expected at least 1, found 0");
        }
        if stop.queue.is_some() && (stop.passes.is_some() || stop.transactions.is_some()) {
            return wrong(
                "stop.queue",
                "the clients share one list of transactions; expected no `passes` and no `transactions`",
            );
        }
        if work.order() != Order::Sequence {
            if stop.passes.is_some() {
                return wrong(
                    "stop.passes",
                    "a mix has no passes; expected `order` to be `sequence`",
                );
            }
            let own = |name: &String| document.script(name).map_or(0, |script| script.weight);
            let weights = self
                .scripts
                .iter()
                .map(|name| u64::from(self.weight(name, own(name))));
            let total: u64 = weights.sum();
            if total == 0 {
                return wrong("scripts", "expected one weight above 0 for a mix");
            }
            if work.order() == Order::Deck && total > MOST_CARDS {
                let expected =
                    format!("expected at most {MOST_CARDS} cards in a deck, found {total}");
                return wrong("weights", &expected);
            }
        }
        if work.arrival != ArrivalDocument::Closed {
            if stop.passes.is_some() {
                return wrong(
                    "stop.passes",
                    "an open loop has no passes; expected `transactions` or `duration_s`",
                );
            }
            if let Some(pause) = work.pause() {
                return wrong(pause, "an open loop has no pauses; expected none");
            }
        }
        self.check_names(document, at)
    }

    /// Checks that the document has the scripts of this group, and that weights and `read` name only those.
    fn check_names(&self, document: &DriveDocument, at: &str) -> Result<(), EngineError> {
        let unknown = |key: &str, name: &str| {
            let known: Vec<_> = (document.scripts.iter())
                .map(|script| script.name.as_str())
                .collect();
            Err(EngineError::Document(format!(
                "the drive document, key `{at}{key}`: expected names of its scripts ({}), found `{name}`",
                known.join(", ")
            )))
        };
        if let Some(name) = (self.scripts.iter()).find(|name| document.script(name).is_none()) {
            return unknown("scripts", name);
        }
        if let Some(name) = (self.weights.keys()).find(|name| !self.scripts.contains(name)) {
            return unknown("weights", name);
        }
        if let Some(name) = (self.work.read.scripts()).find(|name| !self.scripts.contains(name)) {
            return unknown("read", name);
        }
        Ok(())
    }
}
