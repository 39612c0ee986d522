//! What an observation will say of the clients, as far as it is known while they work.

use serde::Serialize;

use super::shared::Shared;
use crate::cost;
use crate::observation::{ClientCost, Outage};

/// Numbers have the names and the meaning of those of an observation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientsSoFar {
    /// Since the measurement began.
    pub elapsed_ns: u64,
    /// That drive clients.
    pub threads: usize,
    /// Its memory is left out.
    pub client_cost: ClientCost,
    /// The load of the machine in the last minute; `None` if the kernel does not report it.
    pub load_1min: Option<f64>,
    /// Statements of measured transactions that were answered, without what is under way.
    pub statements: u64,
    /// One that has not ended lasts until now.
    pub outages: Vec<Outage>,
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
        }
    }
}
