//! Takes the groups of a drive document; returns for each what its clients do and which numbers they have.

use std::collections::BTreeSet;
use std::ops::Range;

use assay_script::Program;
use assay_values::Random;

use crate::account::COMPARED_CLIENTS;
use crate::clock::nanoseconds;
use crate::document::{ArrivalDocument, ClientsDocument, DriveDocument, GroupDocument, Order};
use crate::drive::plan::route::{Route, routes};

/// The random stream of numbered transactions, separate from those of clients.
const NUMBERED: u64 = 0x6e75_6d62_6572_6564;

/// Clients with the same scripts and the same pace, ready to be driven.
pub struct Group {
    /// Its number among the groups, from 0.
    pub number: u32,
    pub name: String,
    /// Numbers of the program's scripts.
    pub scripts: Vec<u32>,
    /// The number of its first transaction type; it has one type for each of its scripts.
    pub first_type: u32,
    /// For a mix: the cumulative weights of the scripts.
    pub weights_so_far: Vec<i64>,
    /// The number of the group with whose last client its clients end.
    pub ends_with: Option<u32>,
    /// How its clients work.
    pub work: ClientsDocument,
    /// The seed of the values of numbered transactions.
    pub values_seed: u64,
    /// The error classes after which a transaction is retried.
    pub retried_classes: Vec<&'static str>,
    /// Statements of its scripts that sessions prepare before the run, in the order of the scripts.
    pub to_prepare: Vec<u32>,
    /// The sessions of each of its clients: one, or one for each kind of server that its scripts are sent to.
    pub routes: Vec<Route>,
    /// By the place of the script: the index of its route.
    pub route_of_scripts: Vec<u32>,
    /// Clients in this process.
    pub clients: u32,
    /// Clients in all processes together.
    pub of_clients: u32,
    /// The place of its first client among all clients of this process.
    pub first_place: u32,
    /// The number that the first of `of_clients` has among the clients of all groups and processes.
    pub first_number: u32,
    /// How many clients further on each arrival is dealt than the one before it.
    stride: u64,
}

impl Group {
    /// All groups of a document. `prepared`: the statements that sessions prepare, ascending.
    pub fn all(document: &DriveDocument, program: &Program, prepared: &[u32]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for group in document.groups().iter() {
            groups.push(Self::new(document, group, program, prepared, groups.last()));
        }
        groups
    }

    fn new(
        document: &DriveDocument,
        group: &GroupDocument,
        program: &Program,
        prepared: &[u32],
        before: Option<&Self>,
    ) -> Self {
        let place = |name: &String| {
            let is_it = |script: &assay_script::Script| script.name == *name;
            let found = program.scripts.iter().position(is_it);
            found.expect("the document was checked")
        };
        let scripts: Vec<usize> = match document.groups {
            Some(_) => group.scripts.iter().map(place).collect(),
            None => (0..program.scripts.len()).collect(),
        };
        let mut sum = 0;
        let weights_so_far = scripts.iter().map(|&script| {
            let own = &document.scripts[script];
            sum += i64::from(group.weight(&own.name, own.weight));
            sum
        });
        let weights_so_far = weights_so_far.collect();
        let prepared_by = |scripts: &[usize]| -> Vec<u32> {
            let script_of = |id: u32| program.statements[id as usize].script as usize;
            let is_ours = |id: &&u32| scripts.contains(&script_of(**id));
            prepared.iter().filter(is_ours).copied().collect()
        };
        let (routes, route_of_scripts) = routes(document, group, &scripts, prepared_by);
        Self {
            number: before.map_or(0, |before| before.number + 1),
            name: group.name.clone(),
            first_type: before.map_or(0, |before| before.first_type + before.type_count()),
            weights_so_far,
            ends_with: group.ends_with.as_ref().map(|name| {
                let groups = document.groups();
                let found = groups.iter().position(|other| other.name == *name);
                u32::try_from(found.expect("the document was checked")).expect("groups are few")
            }),
            work: group.work.clone(),
            values_seed: Random::derived(
                document.seed ^ NUMBERED,
                before.map_or(0, |before| u64::from(before.number) + 1),
            ),
            retried_classes: (group.work.retries.classes.iter())
                .map(|class| class.word())
                .collect(),
            to_prepare: prepared_by(&scripts),
            routes,
            route_of_scripts,
            clients: group.work.count(),
            of_clients: group.work.of_clients(),
            first_place: before.map_or(0, |before| before.first_place + before.clients),
            first_number: before.map_or(0, |before| before.first_number + before.of_clients),
            stride: match group.work.arrival {
                ArrivalDocument::Closed => 1,
                _ => stride(group.work.count(), group.work.of_clients()),
            },
            scripts: (scripts.iter())
                .map(|&script| u32::try_from(script).expect("there are fewer than 2^32 scripts"))
                .collect(),
        }
    }

    /// Whether its transactions are those that scripts of other groups queue.
    pub fn is_deferred(&self) -> bool {
        self.work.arrival == ArrivalDocument::Deferred
    }

    pub fn is_open_loop(&self) -> bool {
        self.work.arrival != ArrivalDocument::Closed
    }

    /// Whether its clients go through the scripts in order, each at its own pace.
    pub fn has_passes(&self) -> bool {
        self.work.order() == Order::Sequence
            && !self.is_open_loop()
            && self.work.stop.queue.is_none()
    }

    /// Whether the time of each pass is kept: where a pass is no more than a transaction, only if passes were asked for.
    pub fn keeps_pass_times(&self) -> bool {
        self.has_passes() && (self.scripts.len() > 1 || self.work.stop.passes.is_some())
    }

    /// Of a longer latency the transaction is late; without a limit, none is.
    pub fn latency_limit_ns(&self) -> u64 {
        self.work.latency_limit_s.map_or(u64::MAX, nanoseconds)
    }

    /// The numbers of its clients among the clients of all groups and processes.
    pub fn client_numbers(&self) -> Range<u32> {
        self.first_number..self.first_number + self.of_clients
    }

    /// How many transaction types it has.
    pub fn type_count(&self) -> u32 {
        u32::try_from(self.scripts.len()).expect("there are fewer than 2^32 scripts")
    }

    /// The number that the client at this place of the process has among the clients of all groups and
    /// processes.
    pub fn client_number(&self, place: u32) -> u32 {
        self.first_number + self.work.first_client + (place - self.first_place)
    }

    /// The index of the route of a script by its place in the group.
    #[inline]
    pub fn route_of(&self, script_place: u32) -> u32 {
        self.route_of_scripts[script_place as usize]
    }

    /// The indices of all endpoints that its clients use, ascending.
    pub fn endpoints(&self) -> BTreeSet<u32> {
        let all = self.routes.iter().flat_map(|route| &route.endpoints);
        all.copied().collect()
    }

    /// How many of its clients in this process use an endpoint.
    pub fn clients_at(&self, endpoint: u32) -> u32 {
        let places = self.first_place..self.first_place + self.clients;
        let is_there = |&place: &u32| {
            let client = self.client_number(place);
            (self.routes.iter()).any(|route| route.endpoint_of(client) == endpoint)
        };
        u32::try_from(places.filter(is_there).count()).expect("they are some of its clients")
    }

    /// Whether the client with this number, among the clients of all groups and processes, belongs to it.
    pub fn has_client(&self, number: u32) -> bool {
        self.client_numbers().contains(&number)
    }

    /// The client of this process, counted within the group, that runs the transaction with this number:
    /// transactions are dealt round-robin to the clients of all processes. `None`: a client of another
    /// process runs it.
    pub fn client_of(&self, transaction: u64) -> Option<u32> {
        let of_clients = u64::from(self.of_clients);
        let slot = (transaction % of_clients) * self.stride % of_clients;
        let slot = u32::try_from(slot).expect("it is less than the clients");
        slot.checked_sub(self.work.first_client)
            .filter(|client| *client < self.clients)
    }

    /// The number, in the list of all processes, of the `taken`-th transaction of this process.
    pub fn number_of(&self, taken: u64) -> u64 {
        let clients = u64::from(self.clients);
        let rounds = taken / clients;
        rounds * u64::from(self.of_clients) + u64::from(self.work.first_client) + taken % clients
    }

    /// Whether the answers of the client with this number are compared with other runs', where it has transactions of
    /// its own: one of the first of all processes.
    pub fn compares_client(&self, number: u32) -> bool {
        number - self.first_number < COMPARED_CLIENTS
    }

    /// How many such clients are in this process; 0 where clients share a list.
    pub fn compared_clients(&self) -> u32 {
        if self.work.stop.queue.is_some() || self.is_open_loop() {
            return 0;
        }
        let first_left = COMPARED_CLIENTS.saturating_sub(self.work.first_client);
        first_left.min(self.clients)
    }

    /// How many of the first `count` transactions are compared in this process: those of each client that is, or of the
    /// list that all clients share.
    pub fn of_first(&self, count: u64) -> u64 {
        if self.work.stop.queue.is_none() && !self.is_open_loop() {
            return count * u64::from(self.compared_clients());
        }
        let ours = (0..count).filter(|number| self.client_of(*number).is_some());
        ours.count() as u64
    }

    /// The part of [`Group::to_prepare`] that one script needs.
    pub fn to_prepare_for(&self, program: &Program, script: u32) -> &[u32] {
        let ids = &program.scripts[script as usize].statement_ids;
        let from = self.to_prepare.partition_point(|id| *id < ids.start);
        let to = self.to_prepare.partition_point(|id| *id < ids.end);
        &self.to_prepare[from..to]
    }

    /// All transactions of its clients in this process, if that is known beforehand.
    pub fn scheduled(&self) -> Option<u64> {
        if self.ends_with.is_some() || self.is_deferred() {
            return None;
        }
        if let Some(queue) = self.work.stop.queue {
            let (of_clients, clients) = (u64::from(self.of_clients), u64::from(self.clients));
            let rest = (queue % of_clients).saturating_sub(self.work.first_client.into());
            return Some(queue / of_clients * clients + rest.min(clients));
        }
        let scripts = self.scripts.len() as u64;
        let of_passes = self
            .work
            .stop
            .passes
            .map(|passes| passes.saturating_mul(scripts));
        let of_client = match (of_passes, self.work.stop.transactions) {
            (Some(one), Some(other)) => one.min(other),
            (one, other) => one.or(other)?,
        };
        Some(of_client.saturating_mul(self.clients.into()))
    }
}

/// In one process 1. Where a process has some of the clients in a row, arrivals go around them in steps of the
/// golden section: of any arrivals in a row every process gets its share, within one or two, and in as many as
/// there are clients exactly its share. Otherwise each process would have to keep the rate of all in turn.
fn stride(clients: u32, of_clients: u32) -> u64 {
    if clients == of_clients {
        return 1;
    }
    let all = u64::from(of_clients);
    let section = all * 618 / 1000;
    (section.max(1)..all)
        .find(|step| greatest_common_divisor(*step, all) == 1)
        .unwrap_or(1)
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        greatest_common_divisor(other, one % other)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "in a test a panic is the message")]
mod tests {
    use crate::document::DriveDocument;
    use crate::drive::plan::Plan;

    /// Two groups that are spread over several processes; this one has some of their clients.
    fn plan() -> Plan {
        let text = r#"{
            "scripts": [
                {"name": "A", "path": "A", "text": "SELECT :a;"},
                {"name": "B", "path": "B", "text": "SELECT :b;"}
            ],
            "variables": {"a": 1, "b": 2}, "seed": 1, "protocol": "prepared",
            "groups": [
                {"name": "one", "scripts": ["A"], "clients": 2, "first_client": 1, "of_clients": 5,
                 "stop": {"queue": 12}},
                {"name": "two", "scripts": ["B", "A"], "clients": 3, "stop": {"passes": 7}}
            ]
        }"#;
        Plan::new(&DriveDocument::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn clients_types_and_statements_belong_to_their_groups() {
        let plan = plan();
        let [one, two] = &plan.groups[..] else {
            panic!("there are two")
        };
        let numbers: Vec<u32> = (0..plan.clients)
            .map(|place| plan.group_at(place).client_number(place))
            .collect();
        assert_eq!(numbers, [1, 2, 5, 6, 7]);
        assert_eq!((plan.clients, plan.of_clients), (5, 8));
        let types: Vec<_> = (plan.types.iter())
            .map(|kind| (kind.group, kind.script))
            .collect();
        assert_eq!(types, [(0, 0), (1, 1), (1, 0)]);
        assert_eq!(
            (&one.to_prepare[..], &two.to_prepare[..]),
            (&[0][..], &[0, 1][..])
        );
        assert_eq!(two.to_prepare_for(&plan.program, 1), [1]);
    }

    /// Of 1,000 clients in four processes each gets a quarter of any 40 arrivals, one or two more or fewer.
    #[test]
    fn arrivals_are_spread_over_processes() {
        let part = |first: u32| {
            let text = format!(
                r#"{{"scripts": [{{"name": "A", "path": "A", "text": "SELECT 1;"}}], "seed": 1, "order": "mix",
                "arrival": {{"kind": "constant", "offered_rate_per_s": 100}}, "stop": {{"duration_s": 1}},
                "clients": 250, "first_client": {first}, "of_clients": 1000}}"#
            );
            Plan::new(&DriveDocument::parse(&text).unwrap()).unwrap()
        };
        let parts = [part(0), part(250), part(500), part(750)];
        let holders = |number: u64| {
            let holds = |plan: &&Plan| plan.groups[0].client_of(number).is_some();
            parts.iter().filter(holds).count()
        };
        assert!((0..3000).all(|number| holders(number) == 1));
        for plan in &parts {
            let ours = |from: u64| {
                let numbers = from..from + 40;
                numbers
                    .filter(|number| plan.groups[0].client_of(*number).is_some())
                    .count()
            };
            assert!((0..2000).all(|from| (8..=12).contains(&ours(from))));
        }
    }

    #[test]
    fn a_numbered_list_goes_round_the_clients_of_all_processes() {
        let plan = plan();
        let one = &plan.groups[0];
        let ours: Vec<u64> = (0..12).filter(|k| one.client_of(*k).is_some()).collect();
        assert_eq!(ours, [1, 2, 6, 7, 11]);
        let taken: Vec<u64> = (0..5).map(|taken| one.number_of(taken)).collect();
        assert_eq!(taken, ours);
        assert_eq!(one.scheduled(), Some(5));
        assert_eq!(plan.scheduled(), Some(5 + 3 * 2 * 7));
    }
}
