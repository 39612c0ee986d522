//! Takes the loss and the return of clients' sessions; returns how many clients are connected, and the times
//! in which no client was served. These events are rare: all threads share one log.

use crate::account::Layout;
use crate::observation::Outage;

/// An outage lasts from the loss of the last session to the first transaction that ends `ok` in a new one.
#[derive(Debug)]
pub struct Outages {
    groups: Vec<OfGroup>,
    /// Clients that have ended, for any reason.
    ended: u32,
    since_ns: Option<u64>,
    outages: Vec<Outage>,
}

#[derive(Debug)]
struct OfGroup {
    clients: u32,
    /// Clients that have lost their sessions and try to reconnect.
    reconnecting: u32,
    /// Clients that have ended without a session.
    gone: u32,
}

impl Outages {
    pub fn new(layout: &Layout) -> Self {
        let groups = layout.groups.iter().map(|group| OfGroup {
            clients: group.clients,
            reconnecting: 0,
            gone: 0,
        });
        Self {
            groups: groups.collect(),
            ended: 0,
            since_ns: None,
            outages: Vec::new(),
        }
    }

    /// Clients of each group that have a session, or had one when they ended.
    pub fn connected(&self) -> Vec<u32> {
        let of_group = |group: &OfGroup| group.clients - group.reconnecting - group.gone;
        self.groups.iter().map(of_group).collect()
    }

    /// A client of a group has lost its session and will try to reconnect.
    pub fn lost(&mut self, group: u32, at_ns: u64) {
        self.groups[group as usize].reconnecting += 1;
        self.note_if_all_lost(at_ns);
    }

    /// A client has a session again.
    pub fn returned(&mut self, group: u32) {
        self.groups[group as usize].reconnecting -= 1;
    }

    /// A transaction of a client that had reconnected has ended `ok`.
    pub fn served(&mut self, at_ns: u64) {
        if let Some(from_ns) = self.since_ns.take() {
            let to_ns = at_ns;
            self.outages.push(Outage { from_ns, to_ns });
        }
    }

    /// A client has ended; `is_gone`: without a session; `is_away`: while it tried to reconnect.
    pub fn ended(&mut self, group: u32, at_ns: u64, is_reconnecting: bool, is_gone: bool) {
        self.ended += 1;
        let group = &mut self.groups[group as usize];
        group.reconnecting -= u32::from(is_reconnecting);
        group.gone += u32::from(is_gone);
        self.note_if_all_lost(at_ns);
    }

    fn note_if_all_lost(&mut self, at_ns: u64) {
        let sum = |of: fn(&OfGroup) -> u32| self.groups.iter().map(of).sum::<u32>();
        let (clients, reconnecting) = (sum(|group| group.clients), sum(|group| group.reconnecting));
        if reconnecting > 0 && reconnecting + self.ended == clients && self.since_ns.is_none() {
            self.since_ns = Some(at_ns);
        }
    }

    /// All outages of a measurement between these instants, counted from its start. An outage that has not
    /// ended lasts to the end.
    pub fn between(&self, began_ns: u64, ended_ns: u64) -> Vec<Outage> {
        let not_ended = self.since_ns.map(|from_ns| Outage {
            from_ns,
            to_ns: ended_ns,
        });
        let outages = self.outages.iter().copied().chain(not_ended);
        let since = |at_ns: u64| at_ns.clamp(began_ns, ended_ns.max(began_ns)) - began_ns;
        let clipped = outages.map(|outage| Outage {
            from_ns: since(outage.from_ns),
            to_ns: since(outage.to_ns),
        });
        clipped
            .filter(|outage| outage.from_ns < outage.to_ns)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_begins_with_the_last_loss_and_ends_with_the_first_transaction() {
        let mut log = Outages::new(&Layout::of_clients(&[1, 2]));
        log.ended(0, 900, false, false);
        log.lost(1, 1_000);
        assert_eq!(log.connected(), [1, 1]);
        log.lost(1, 1_200);
        assert_eq!(log.connected(), [1, 0]);
        log.returned(1);
        // Reconnected, and lost again before any transaction: the same outage.
        log.lost(1, 1_500);
        log.returned(1);
        log.returned(1);
        log.served(2_000);
        assert_eq!(log.connected(), [1, 2]);
        log.lost(1, 3_000);
        log.ended(1, 4_000, true, true);
        log.lost(1, 5_000);
        assert_eq!(log.connected(), [1, 0]);
        let outage = |from_ns, to_ns| Outage { from_ns, to_ns };
        assert_eq!(
            log.between(500, 6_000),
            [outage(700, 1_500), outage(4_500, 5_500)],
            "the second one has not ended"
        );
    }
}
