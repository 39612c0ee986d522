//! Without a number asked for, there is a thread for each processor, and at most one for each client.

use serde_json::{Value, json};

use crate::serve::served;
use crate::support::{document, observe};

#[test]
fn there_is_a_thread_for_each_processor_or_the_number_asked_for_and_never_more_than_clients() {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = u32::try_from(processors).expect("there are few");
    for (asked, clients, used) in [
        (0, 8, processors.min(8)),
        (0, 1_u32, 1),
        (1, 8, 1),
        (3, 8, 3),
        (3, 2, 2),
    ] {
        // Answers that come late leave each thread idle for nearly all of the time.
        served(
            "postgresql",
            json!({ "delay": "constant:2ms" }),
            |deployment: Value| {
                let more = json!({
                    "clients": clients, "threads": asked, "protocol": "prepared",
                    "stop": { "transactions": 20 },
                });
                let run = observe(&document(deployment, &["SELECT 1;"], more));
                assert_eq!(
                    (run.threads, run.outcomes.ok),
                    (used, u64::from(clients) * 20)
                );
            },
        );
    }
}
