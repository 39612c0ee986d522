//! Takes what clients say of losing their sessions and of coming back; gives how many have one, and the
//! times in which nobody was served. These are rare events: all threads share one log.

use crate::observation::Outage;

/// From the loss of the last session to the first transaction that ends `ok` in a new one.
#[derive(Debug)]
pub struct Outages {
    clients: u32,
    /// Have lost their sessions and try to come back.
    away: u32,
    /// Have come to the end of their work, one way or the other.
    ended: u32,
    /// Of these, without a session.
    gone: u32,
    since_ns: Option<u64>,
    outages: Vec<Outage>,
}

impl Outages {
    #[must_use]
    pub fn new(clients: u32) -> Self {
        Self {
            clients,
            away: 0,
            ended: 0,
            gone: 0,
            since_ns: None,
            outages: Vec::new(),
        }
    }

    /// Clients that have a session, or had it up to the end of their work.
    #[must_use]
    pub fn connected(&self) -> u32 {
        self.clients - self.away - self.gone
    }

    /// A client has lost its session and will try to come back.
    pub fn lost(&mut self, at_ns: u64) {
        self.away += 1;
        self.look(at_ns);
    }

    /// It has a session again.
    pub fn returned(&mut self) {
        self.away -= 1;
    }

    /// A transaction of a client that had been away has ended `ok`.
    pub fn served(&mut self, at_ns: u64) {
        if let Some(from_ns) = self.since_ns.take() {
            let to_ns = at_ns;
            self.outages.push(Outage { from_ns, to_ns });
        }
    }

    /// A client's work has ended; with `is_gone` for want of a session, which it was `is_away` to seek.
    pub fn ended(&mut self, at_ns: u64, is_away: bool, is_gone: bool) {
        self.ended += 1;
        self.away -= u32::from(is_away);
        self.gone += u32::from(is_gone);
        self.look(at_ns);
    }

    fn look(&mut self, at_ns: u64) {
        if self.away > 0 && self.away + self.ended == self.clients && self.since_ns.is_none() {
            self.since_ns = Some(at_ns);
        }
    }

    /// All outages of a measurement that began and ended at these instants, counted from its beginning.
    /// One that nothing has ended lasts to the end.
    #[must_use]
    pub fn finish(&mut self, began_ns: u64, ended_ns: u64) -> Vec<Outage> {
        self.served(ended_ns);
        let outages = std::mem::take(&mut self.outages).into_iter();
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
        let mut log = Outages::new(3);
        log.ended(900, false, false);
        log.lost(1_000);
        assert_eq!(log.connected(), 2);
        log.lost(1_200);
        assert_eq!(log.connected(), 1);
        log.returned();
        // Back, and lost again before anything came of it: the same outage.
        log.lost(1_500);
        log.returned();
        log.returned();
        log.served(2_000);
        assert_eq!(log.connected(), 3);
        log.lost(3_000);
        log.ended(4_000, true, true);
        log.lost(5_000);
        assert_eq!(log.connected(), 1);
        let outage = |from_ns, to_ns| Outage { from_ns, to_ns };
        assert_eq!(
            log.finish(500, 6_000),
            [outage(700, 1_500), outage(4_500, 5_500)]
        );
    }
}
