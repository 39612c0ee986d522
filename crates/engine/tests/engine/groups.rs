//! Groups of clients with different scripts and paces run at the same time, in one measured window, and each
//! has its own results.

use std::collections::BTreeMap;

use assay_engine::{GroupReport, Observation};
use serde_json::{Value, json};

use crate::support::{Values, document, driven, null_deployment, observe, refused_document};

/// A document of two scripts, `A` and `B`, with these groups.
fn grouped(deployment: Value, groups: Value, more: Value) -> Value {
    let mut document = document(deployment, &["SELECT 1;", "SELECT 2;\nSELECT 3;"], more);
    let keys = document.as_object_mut().unwrap();
    keys.remove("order");
    keys.remove("clients");
    if keys["stop"] == json!({ "passes": 1 }) {
        keys.remove("stop");
    }
    keys.insert("groups".to_owned(), groups);
    document
}

fn group<'o>(run: &'o Observation, name: &str) -> &'o GroupReport {
    let mut groups = run.groups.iter();
    groups.find(|group| group.name == name).unwrap()
}

/// `scheduled` of each transaction type.
fn scheduled(group: &GroupReport) -> BTreeMap<&str, u64> {
    let types = group.outcomes_by_transaction.iter();
    types
        .map(|report| (report.name.as_str(), report.outcomes.scheduled))
        .collect()
}

#[test]
fn each_group_has_its_own_scripts_clients_pace_and_results() {
    let deployment = null_deployment("groups", json!({ "delay": "constant:5ms" }));
    let groups = json!([
        {
            "name": "readers", "scripts": ["A", "B"], "clients": 3, "stop": { "passes": 4 },
        },
        {
            "name": "arriving", "scripts": ["A"], "clients": 2, "stop": { "transactions": 15 },
            "arrival": { "kind": "constant", "offered_rate_per_s": 100 },
            "latency_limit_s": 0.004,
        },
        {
            "name": "mixed", "scripts": ["A", "B"], "weights": { "A": 0 }, "order": "mix",
            "clients": 1, "think_time": "constant:20ms", "stop": { "transactions": 6 },
        },
    ]);
    let run = observe(&grouped(deployment, groups, json!({})));

    let readers = group(&run, "readers");
    assert_eq!(scheduled(readers), BTreeMap::from([("A", 12), ("B", 12)]));
    assert_eq!(readers.passes.as_ref().unwrap().count, 12);
    let arriving = group(&run, "arriving");
    assert_eq!(scheduled(arriving), BTreeMap::from([("A", 30)]));
    let ended = arriving.outcomes.ok;
    assert_eq!(ended + arriving.outcomes.skipped, 30);
    // Its latency limit applies to no other group.
    assert_eq!(arriving.outcomes.late, ended);
    assert_eq!(run.outcomes.late, ended);
    assert!(arriving.passes.is_none() && arriving.all_ok.schedule_lag.is_some());
    assert!(arriving.elapsed_ns > 280_000_000, "{}", arriving.elapsed_ns);
    let mixed = group(&run, "mixed");
    assert_eq!(scheduled(mixed), BTreeMap::from([("A", 0), ("B", 6)]));
    assert!(mixed.passes.is_none() && mixed.all_ok.schedule_lag.is_none());

    // The totals are sums over the groups.
    assert_eq!((run.clients, run.client_ends.len()), (6, 6));
    assert_eq!(run.outcomes.scheduled, 24 + 30 + 6);
    let all: u64 = run.groups.iter().map(|group| group.all_ok.count).sum();
    assert_eq!(run.all_ok.count, all);
    let of_type = |name: &str| {
        let mut types = run.outcomes_by_transaction.iter();
        types.find(|report| report.name == name).unwrap().outcomes
    };
    assert_eq!(of_type("A").scheduled, 12 + 30);
    assert_eq!(of_type("B").scheduled, 12 + 6);
    assert_eq!(run.passes.as_ref().unwrap().count, 12);
    assert_eq!(run.arrival.kind.word(), "mixed");
    assert_eq!(run.arrival.offered_rate_per_s, Some(100.0));
}

#[test]
fn a_document_without_groups_has_one() {
    let deployment = null_deployment("one group", json!({}));
    let run = driven(deployment, &["SELECT 1;"], json!({ "clients": 3 }));
    let [only] = &run.groups[..] else {
        panic!("{:?}", run.groups)
    };
    assert_eq!((only.name.as_str(), only.clients), ("", 3));
    assert_eq!(only.outcomes, run.outcomes);
}

#[test]
fn an_error_in_a_group_names_its_key() {
    let good = json!([
        { "name": "x", "scripts": ["A"], "clients": 1, "stop": { "passes": 1 } },
        { "name": "y", "scripts": ["B"], "clients": 1, "stop": { "passes": 1 } },
    ]);
    let deployment = || null_deployment("wrong groups", json!({}));
    #[rustfmt::skip]
    let cases = [
        ("/1/scripts", json!(["C"]), "groups[1].scripts"),
        ("/1/scripts", json!([]), "groups[1].scripts"),
        ("/1/weights", json!({ "A": 1 }), "groups[1].weights"),
        ("/0/clients", json!(0), "groups[0].clients"),
        ("/0/of_clients", json!(0), "groups[0].of_clients"),
        ("/0/stop", json!({}), "groups[0].stop"),
        ("/0/stop", json!({ "duration_s": 1 }), "groups[0].stop.duration_s"),
        ("/0/stop", json!({ "queue": 1, "passes": 1 }), "groups[0].stop.queue"),
        ("/0/stop", json!({ "queue": 0 }), "groups[0].stop"),
        ("/1/name", json!("x"), "groups[1].name"),
        ("/1/arrival", json!({ "kind": "deferred" }), "groups[1].stop"),
        ("/0/order", json!("mix"), "groups[0].stop.passes"),
    ];
    for (pointer, value, expected) in cases {
        let mut groups = good.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        groups.pointer_mut(parent).unwrap()[key] = value;
        let message = refused_document(&grouped(deployment(), groups, json!({})));
        let key = format!("`{expected}`");
        assert!(message.contains(&key), "{pointer}: {message}");
    }
    for (more, expected) in [
        (json!({ "think_time": "constant:1ms" }), "`think_time`"),
        (json!({ "stop": { "transactions": 1 } }), "`stop`"),
    ] {
        let message = refused_document(&grouped(deployment(), good.clone(), more));
        assert!(message.contains(expected), "{message}");
    }
    let message = refused_document(&grouped(deployment(), json!([]), json!({})));
    assert!(message.contains("`groups`"), "{message}");
}

#[test]
fn clients_share_a_list_of_numbered_transactions_whose_values_depend_on_the_number() {
    let run = |clients: u32, delay: &str, more: Value| {
        let values = Values::new();
        let options = json!({ "delay": delay });
        let deployment = null_deployment(&format!("queue {clients} {delay}"), options);
        let script = format!(
            "\\set v random(1, 1000000)\n{}\nSELECT 1;",
            values.write(":transaction_number:v")
        );
        let mut more = more;
        more["clients"] = json!(clients);
        more["allow_shell"] = json!(true);
        let run = driven(deployment, &[&script, &script], more);
        (values.sorted(), run)
    };
    for order in ["sequence", "mix"] {
        let list = json!({ "order": order, "stop": { "queue": 40 } });
        let (alone, _) = run(1, "constant:0ms", list.clone());
        let (shared, observed) = run(4, "uniform:0ms..3ms", list);
        assert_eq!(alone.len(), 40);
        assert_eq!(shared, alone, "{order}");
        assert_eq!(observed.outcomes.ok, 40);
        // No client is bound to a part of the list.
        assert!(observed.passes.is_none());
    }
}

/// Hashing of all clients' first answers would be a large part of a short run with many clients.
#[test]
fn answers_of_the_first_clients_of_each_group_are_compared() {
    let deployment = null_deployment("compared", json!({}));
    let groups = json!([
        { "name": "many", "scripts": ["A"], "clients": 20, "stop": { "transactions": 3 } },
        { "name": "few", "scripts": ["A", "B"], "clients": 3, "stop": { "transactions": 4 } },
        {
            "name": "listed", "scripts": ["B"], "clients": 9, "stop": { "queue": 70 },
        },
    ]);
    let run = observe(&grouped(
        deployment,
        groups,
        json!({ "compare_answers": true }),
    ));
    let firsts = |transaction: &str| {
        let reports = run.answers.iter();
        let mut of_it = reports.filter(|report| report.transaction == transaction);
        let firsts = of_it.next().unwrap().first.iter();
        let of_each = firsts.map(|first| (first.transactions, first.clients, first.answers));
        of_each.collect::<Vec<_>>()
    };
    // The third of the many is their last, and the few alternate between A and B.
    assert_eq!(firsts("A"), [(1, 11, 11), (2, 11, 19)]);
    assert_eq!(firsts("B"), [(1, 3, 1), (2, 3, 5), (4, 3, 10)]);
}
