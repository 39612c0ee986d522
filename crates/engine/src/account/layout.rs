//! The dimensions of the records: groups of clients, transaction types and statements.
//!
//! A transaction type is one script in one group of clients. Types are numbered group by group, so that
//! records are arrays.

use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Layout {
    /// By number.
    pub types: Arc<[TypeLayout]>,
    /// By number.
    pub groups: Arc<[GroupLayout]>,
    pub statements: usize,
    /// Whether answers are kept to be compared with those of other runs.
    pub compares_answers: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct TypeLayout {
    /// The number of its group.
    pub group: u32,
    pub is_open_loop: bool,
    /// A longer latency is late; `u64::MAX` if there is no limit.
    pub late_beyond_ns: u64,
}

#[derive(Clone, Debug)]
pub struct GroupLayout {
    pub name: String,
    /// Clients in this process.
    pub clients: u32,
    /// The numbers of its clients in all processes.
    pub client_numbers: Range<u32>,
    /// Whether the time of each pass is kept.
    pub keeps_pass_times: bool,
}

impl Layout {
    /// The number of the group that this client belongs to.
    pub fn group_of(&self, client: u32) -> usize {
        let is_its = |group: &GroupLayout| group.client_numbers.contains(&client);
        let group = self.groups.iter().position(is_its);
        group.expect("each client is in a group")
    }
}

#[cfg(test)]
impl Layout {
    /// Groups of this many clients, named by their numbers.
    pub fn of_clients(clients: &[u32]) -> Self {
        let mut first = 0;
        let groups = clients.iter().enumerate().map(|(number, clients)| {
            let client_numbers = first..first + clients;
            first = client_numbers.end;
            GroupLayout {
                name: number.to_string(),
                clients: *clients,
                client_numbers,
                keeps_pass_times: false,
            }
        });
        Self {
            types: Arc::new([]),
            groups: groups.collect(),
            statements: 0,
            compares_answers: false,
        }
    }
}
