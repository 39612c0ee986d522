//! Several processes drive parts of one numbered whole: together they do the same as a single process.

use std::ops::ControlFlow;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use assay_engine::{DriveDocument, EngineError, Observation, drive};
use serde_json::{Value, json};

use crate::serve::served;
use crate::support::{Values, check, document, driven, null_deployment, observe, parsed};

/// Every value that the clients of these parts drew, and the observation of each part. Each part is (first
/// client, clients); the parts run at the same time, as in several processes.
fn in_parts(
    deployment: &Value,
    parts: &[(u32, u32)],
    more: &Value,
) -> (Vec<String>, Vec<Observation>) {
    let values = Values::new();
    let script = format!(
        "\\set v random(1, 1000000)\n{}\nSELECT 1;",
        values.write(":v")
    );
    let part = |(first_client, clients): &(u32, u32)| {
        let mut document = document(deployment.clone(), &[&script, &script], more.clone());
        document["first_client"] = json!(first_client);
        document["clients"] = json!(clients);
        document["of_clients"] = json!(8);
        document["allow_shell"] = json!(true);
        document
    };
    let documents: Vec<Value> = parts.iter().map(part).collect();
    let observed = std::thread::scope(|scope| {
        let running: Vec<_> = (documents.iter())
            .map(|document| scope.spawn(|| observe(document)))
            .collect();
        let ended = running.into_iter().map(|thread| thread.join().unwrap());
        ended.collect()
    });
    (values.sorted(), observed)
}

#[test]
fn one_process_with_8_clients_and_four_with_2_draw_the_same() {
    let open = |kind: &str| json!({ "kind": kind, "offered_rate_per_s": 200 });
    let cases = [
        json!({ "stop": { "passes": 4 } }),
        json!({ "order": "mix", "stop": { "transactions": 8 } }),
        json!({ "order": "mix", "arrival": open("poisson"), "stop": { "transactions": 8 } }),
        json!({ "arrival": open("constant"), "stop": { "transactions": 8 } }),
        json!({ "stop": { "queue": 64 } }),
    ];
    for more in cases {
        served(
            "postgresql",
            json!({ "delay": "constant:3ms" }),
            |deployment| {
                let (alone, whole) = in_parts(&deployment, &[(0, 8)], &more);
                let four = [(0, 2), (2, 2), (4, 2), (6, 2)];
                let (together, parts) = in_parts(&deployment, &four, &more);
                assert_eq!(alone.len(), 64, "{more}");
                assert_eq!(together, alone, "{more}");
                // On a server with known delays every transaction takes at least as long.
                let [whole] = &whole[..] else {
                    panic!("{more}")
                };
                let counted: u64 = parts.iter().map(|part| part.all_ok.count).sum();
                assert_eq!((counted, whole.all_ok.count), (64, 64), "{more}");
                for part in parts.iter().chain([whole]) {
                    assert!(part.all_ok.latency.min_ns >= 3_000_000, "{more}");
                }
                let numbers: Vec<u32> = (parts.iter())
                    .flat_map(|part| part.client_ends.iter().map(|end| end.client))
                    .collect();
                assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
            },
        );
    }
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

#[test]
fn ready_clients_begin_at_the_given_instant() {
    for more in [
        json!({ "stop": { "transactions": 3 }, "clients": 4 }),
        json!({
            "stop": { "transactions": 3 }, "clients": 4,
            "arrival": { "kind": "constant", "offered_rate_per_s": 1000 },
        }),
    ] {
        // Never early; and on time in one of several attempts, since other processes may use all processors.
        let is_punctual = (0..100).any(|_| {
            let deployment = null_deployment("ready", json!({ "delay": "constant:1ms" }));
            late_ns(&parsed(&document(deployment, &["SELECT 1;"], more.clone()))) < 5_000_000
        });
        assert!(is_punctual);
    }
}

/// How late a run of twelve transactions begins after the given instant.
fn late_ns(document: &DriveDocument) -> i64 {
    let mut ready_calls = 0;
    let begin = unix_ns() + 400_000_000;
    let began = Instant::now();
    let run = drive(document, &mut |_| ControlFlow::Continue(()), &mut || {
        ready_calls += 1;
        ControlFlow::Continue(Some(begin))
    });
    let run = run.unwrap();
    check(&run);
    assert_eq!(ready_calls, 1);
    assert!(began.elapsed() >= Duration::from_millis(395));
    assert_eq!(run.outcomes.ok, 12);
    let late_ns = i64::try_from(run.started_unix_ns).unwrap() - i64::try_from(begin).unwrap();
    // The two clocks are read one after the other.
    assert!(late_ns > -5_000_000, "{late_ns}");
    late_ns
}

#[test]
fn nothing_is_run_if_the_caller_cancels_when_clients_are_ready() {
    let deployment = null_deployment("not ready", json!({}));
    let asked = document(deployment, &["SELECT 1;"], json!({}));
    let cancelled = drive(
        &parsed(&asked),
        &mut |_| ControlFlow::Continue(()),
        &mut || ControlFlow::Break(()),
    );
    assert!(matches!(cancelled, Err(EngineError::Interrupted)));
}

#[test]
fn clients_use_the_endpoints_in_turn_by_their_numbers() {
    served("postgresql", json!({}), |first| {
        let sessions = served("postgresql", json!({}), |second| {
            let mut deployment = first.clone();
            deployment["endpoints"] = json!([first, second, first]);
            deployment.as_object_mut().unwrap().remove("unix");
            // Clients 2 to 6 of ten: 4 is the only one with remainder 1.
            let more = json!({ "clients": 5, "first_client": 2, "of_clients": 10 });
            let run = driven(deployment, &["SELECT 1;"], more);
            assert_eq!(run.outcomes.ok, 5);
        })
        .sessions;
        assert_eq!(sessions, 1);
    });
}

/// Each client has a session at the primary and one at a replica, and each transaction goes where its script does: the
/// servers' own counts are those of the observation.
#[test]
fn scripts_go_to_the_endpoints_that_they_read_at() {
    for protocol in ["simple", "prepared"] {
        let mut replica = None;
        let primary = served("postgresql", json!({}), |first| {
            replica = Some(served("postgresql", json!({}), |second| {
                let mut deployment = first.clone();
                let (mut first, mut second) = (first.clone(), second.clone());
                first["is_replica"] = json!(false);
                second["is_replica"] = json!(true);
                deployment["endpoints"] = json!([first, second]);
                deployment.as_object_mut().unwrap().remove("unix");
                let more = json!({
                    "clients": 3, "order": "mix", "protocol": protocol, "read": { "B": "replica" },
                    "stop": { "transactions": 50 },
                });
                let scripts = ["SELECT 1;", "SELECT 2; SELECT 3; SELECT 4;"];
                let run = driven(deployment, &scripts, more);
                assert_eq!(run.outcomes.ok, 150);
                let [at_first, at_second] = &run.groups[0].endpoints[..] else {
                    panic!("there are two")
                };
                assert_eq!((at_first.clients, at_second.clients), (3, 3));
                assert_eq!(at_first.ok + at_second.ok, 150);
                assert!(at_first.ok > 0 && at_second.ok > 0);
                assert_eq!(run.outcomes_by_transaction[0].outcomes.ok, at_first.ok);
                assert_eq!(run.outcomes_by_transaction[1].outcomes.ok, at_second.ok);
            }));
        });
        assert_eq!((primary.sessions, replica.unwrap().sessions), (3, 3));
    }
}
