//! Takes a group of a drive document; returns its routes: the sessions that each of its clients has, and which
//! of them its scripts use.

use crate::document::{DriveDocument, GroupDocument, Read};

/// A session that each client of a group has: where it is opened, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The indices of the endpoints that clients use for it, each in turn; at least one.
    pub endpoints: Vec<u32>,
    /// Statements that the session prepares before the run, in the order of the scripts.
    pub to_prepare: Vec<u32>,
}

impl Route {
    /// The index of the endpoint that the client with this number uses.
    #[inline]
    pub fn endpoint_of(&self, client: u32) -> u32 {
        self.endpoints[client as usize % self.endpoints.len()]
    }
}

/// The routes of a group with these scripts of the document, and by script the index of its own: scripts that use
/// the same endpoints share one. `prepared_by` returns the statements of scripts that are prepared.
pub fn routes(
    document: &DriveDocument,
    group: &GroupDocument,
    scripts: &[usize],
    prepared_by: impl Fn(&[usize]) -> Vec<u32>,
) -> (Vec<Route>, Vec<u32>) {
    let mut used: Vec<(Vec<u32>, Vec<usize>)> = Vec::new();
    let mut of_scripts = Vec::new();
    for &script in scripts {
        let read = group.work.read.of(&document.scripts[script].name);
        let endpoints = endpoints_of(document, read);
        let known = used.iter().position(|(known, _)| *known == endpoints);
        let route = known.unwrap_or_else(|| {
            used.push((endpoints, Vec::new()));
            used.len() - 1
        });
        used[route].1.push(script);
        of_scripts.push(u32::try_from(route).expect("there are three at most"));
    }
    let routes = used.into_iter().map(|(endpoints, scripts)| Route {
        endpoints,
        to_prepare: prepared_by(&scripts),
    });
    (routes.collect(), of_scripts)
}

fn endpoints_of(document: &DriveDocument, read: Read) -> Vec<u32> {
    let all = document.deployment.iter().flat_map(|one| &one.endpoints);
    let used = (0u32..)
        .zip(all)
        .filter(|(_, endpoint)| read.uses(endpoint.is_replica));
    let used: Vec<u32> = used.map(|(index, _)| index).collect();
    if used.is_empty() { vec![0] } else { used }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "in a test a panic is the message")]
mod tests {
    use crate::document::DriveDocument;
    use crate::drive::plan::Plan;
    use crate::drive::plan::group::Group;

    /// A group that writes with A and one that reads with A and B, at a primary and two replicas.
    fn document(read: &str) -> String {
        let endpoint = |port: u16, is_replica: bool| {
            format!(
                r#"{{"driver": "null", "host": "h", "port": {port}, "is_replica": {is_replica}}}"#
            )
        };
        let endpoints = [endpoint(1, false), endpoint(2, true), endpoint(3, true)].join(", ");
        format!(
            r#"{{"seed": 1, "stop": {{"duration_s": 1}}, "protocol": "prepared", "scripts": [
            {{"name": "A", "path": "A", "text": "SELECT 1;"}}, {{"name": "B", "path": "B", "text": "SELECT 2;"}}],
            "deployment": {{"driver": "null", "host": "h", "port": 1, "endpoints": [{endpoints}]}},
            "groups": [{{"name": "writers", "scripts": ["A"], "clients": 2}},
            {{"name": "readers", "scripts": ["A", "B"], "clients": 5, "read": {read}}}]}}"#
        )
    }

    fn plan(read: &str) -> Plan {
        Plan::new(&DriveDocument::parse(&document(read)).unwrap()).unwrap()
    }

    /// By client: the endpoints of its sessions.
    fn used(plan: &Plan) -> Vec<Vec<u32>> {
        let clients = (0..plan.clients).map(|place| (plan.group_at(place), place));
        let endpoints = clients.map(|(group, place)| {
            let client = group.client_number(place);
            let each = group.routes.iter().map(|route| route.endpoint_of(client));
            each.collect()
        });
        endpoints.collect()
    }

    fn at_each(group: &Group) -> [u32; 3] {
        [0, 1, 2].map(|endpoint| group.clients_at(endpoint))
    }

    /// Clients take the endpoints of their group in turn, and each endpoint has transaction types of its own.
    #[test]
    fn clients_use_the_endpoints_that_their_group_reads_at_in_turn() {
        let replica = plan("\"replica\"");
        let expected: [&[u32]; 7] = [&[0], &[0], &[1], &[2], &[1], &[2], &[1]];
        assert_eq!(used(&replica), expected);
        let [writers, readers] = &replica.groups[..] else {
            panic!("there are two")
        };
        assert_eq!((at_each(writers), at_each(readers)), ([2, 0, 0], [0, 3, 2]));
        assert_eq!((replica.types_at_each(), replica.types.len()), (3, 9));
        assert_eq!(replica.at_all_endpoints(1).collect::<Vec<_>>(), [1, 4, 7]);
        assert_eq!((replica.at_first(7), replica.type_name(8)), (1, "B"));
        assert_eq!(replica.endpoints[2].name, "h:3");

        let any = plan("\"any\"");
        let expected: [&[u32]; 7] = [&[0], &[0], &[2], &[0], &[1], &[2], &[0]];
        assert_eq!(used(&any), expected);
        let no_replicas =
            document("\"replica\"").replace("\"is_replica\": true", "\"is_replica\": false");
        let refused = DriveDocument::parse(&no_replicas).unwrap_err().to_string();
        assert!(refused.contains("groups[1].read"), "{refused}");
    }

    /// A client whose scripts go to different kinds of servers has a session at one of each kind, which prepares only
    /// what is sent there.
    #[test]
    fn scripts_that_go_elsewhere_have_a_session_of_their_own() {
        let plan = plan(r#"{"B": "replica"}"#);
        let expected: [&[u32]; 7] = [&[0], &[0], &[0, 1], &[0, 2], &[0, 1], &[0, 2], &[0, 1]];
        assert_eq!(used(&plan), expected);
        let readers = &plan.groups[1];
        assert_eq!(at_each(readers), [5, 3, 2]);
        assert_eq!((readers.route_of(0), readers.route_of(1)), (0, 1));
        let prepared: Vec<_> = readers.routes.iter().map(|one| &one.to_prepare).collect();
        assert_eq!(prepared, [&[0], &[1]]);
        assert_eq!(plan.sessions(), 2 + 2 * 5);

        let unknown = document(r#"{"C": "replica"}"#);
        let refused = DriveDocument::parse(&unknown).unwrap_err().to_string();
        assert!(refused.contains("groups[1].read"), "{refused}");
    }
}
