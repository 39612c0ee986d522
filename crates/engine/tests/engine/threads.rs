//! Without a number asked for, one thread drives all clients until it is busy.

use assay_engine::Observation;
use serde_json::{Value, json};

use crate::serve::served;
use crate::support::{document, observe, outcomes};

/// How often a run is tried whose thread other processes may keep from being busy.
const TRIES: usize = 10;

/// A client program that works far longer than its server.
const WORKS: &str = "\\for i in 1..3000\n\\set x random(1, 1000)\n\\endfor\nSELECT :x;\n";

fn run_on(options: Value, script: &str, threads: u32, transactions: u64) -> Observation {
    let mut found = None;
    served("postgresql", options, |site: Value| {
        let more = json!({
            "clients": 8, "threads": threads, "protocol": "prepared",
            "stop": { "transactions": transactions },
        });
        found = Some(observe(&document(site, &[script], more)));
    });
    found.unwrap()
}

#[test]
fn one_thread_drives_clients_that_leave_it_idle_and_the_number_asked_for_is_obeyed() {
    for (threads, used) in [(0, 1), (3, 3)] {
        let run = run_on(json!({ "delay": "constant:5ms" }), "SELECT 1;", threads, 60);
        assert_eq!((run.threads, run.outcomes.ok), (used, 8 * 60));
    }
}

#[test]
fn a_busy_thread_hands_clients_over_and_no_transaction_is_lost() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    let is_spread = (0..TRIES).any(|_| {
        let run = run_on(json!({}), WORKS, 0, 400);
        assert_eq!(outcomes(&run), (8 * 400, 0, 0, 0));
        assert!(run.client_ends.iter().all(|end| end.transactions == 400));
        run.threads > 1
    });
    assert!(is_spread, "a busy thread has kept all clients");
    assert_eq!(run_on(json!({}), WORKS, 1, 400).threads, 1);
}
