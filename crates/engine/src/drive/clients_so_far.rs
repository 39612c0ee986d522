//! What an observation will say of the clients, as far as it is known while they work.

use std::collections::BTreeMap;

use serde::Serialize;

use super::shared::Shared;
use crate::cost;
use crate::observation::{ClientCost, Outage};

/// Of more clients it is not said how many transactions each has ended: it would be long, once a second.
const MOST_CLIENTS: usize = 10_000;

/// Numbers have the names and the meaning of those of an observation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientsSoFar {
    /// Since the measurement began.
    pub elapsed_ns: u64,
    /// That drive clients.
    pub threads: usize,
    /// Without its memory. How long threads waited is extrapolated for some seconds where there are very many.
    pub client_cost: ClientCost,
    /// The load of the machine in the last minute; `None` if the kernel does not report it.
    pub load_1min: Option<f64>,
    /// Statements of measured transactions that were answered, without what is under way.
    pub statements: u64,
    /// One that has not ended lasts until now.
    pub outages: Vec<Outage>,
    /// By group: the measured transactions of each client that works or is done, as they were a moment ago. Empty in an
    /// open loop, where clients have as many as there are arrivals while they are free.
    pub transactions: BTreeMap<String, Vec<u64>>,
}

impl ClientsSoFar {
    /// `client_cost`: since the measurement began; `measured`: from when to when it lasts so far.
    #[must_use]
    pub fn of(
        shared: &Shared,
        threads: usize,
        client_cost: ClientCost,
        (began_ns, now_ns): (u64, u64),
    ) -> Self {
        let statements = shared.buffers.iter().map(|buffer| buffer.statements.get());
        Self {
            elapsed_ns: now_ns - began_ns,
            threads,
            client_cost,
            load_1min: cost::load_1min(),
            statements: statements.sum(),
            outages: shared.outages().between(began_ns, now_ns),
            transactions: transactions(shared),
        }
    }
}

fn transactions(shared: &Shared) -> BTreeMap<String, Vec<u64>> {
    let mut by_group: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let each = shared.client_counts.each();
    if each.len() <= MOST_CLIENTS && !shared.plan.has_open_loop() {
        for (&client, count) in each.iter() {
            let group = &shared.plan.group_of(client).name;
            match by_group.get_mut(group) {
                Some(counts) => counts.push(count.get()),
                None => drop(by_group.insert(group.clone(), vec![count.get()])),
            }
        }
    }
    by_group
}
