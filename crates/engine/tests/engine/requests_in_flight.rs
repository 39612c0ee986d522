//! A protocol that has many requests under way on one connection: rows of a load, pipelines, and the next page
//! of an answer.

use std::ops::ControlFlow;

use assay_engine::{EngineError, LoadDocument, LoadReport, load};
use serde_json::{Value, json};

use crate::serve::served;
use crate::support::rows::Counting;
use crate::support::{document, observe, outcomes};

const PROTOCOL: &str = "cassandra";

fn try_load(deployment: &Value, rows: u64) -> Result<LoadReport, EngineError> {
    let bulk = "INSERT INTO t (n, t) VALUES (?, ?)";
    let table = json!({ "name": "t", "bulk": bulk, "form": "native" });
    let document = json!({ "deployment": deployment, "tables": [table] }).to_string();
    let document = LoadDocument::parse(&document).unwrap();
    let mut source = Counting::new(1, rows);
    load(&document, &mut source, &mut |_| ControlFlow::Continue(()))
}

/// Far more rows than can be under way: the load waits for answers.
#[test]
fn every_row_of_a_load_is_acknowledged() {
    let served = served(PROTOCOL, json!({}), |deployment| {
        let report = try_load(&deployment, 100_000).unwrap();
        let table = &report.tables[0];
        assert_eq!((table.rows, table.affected), (100_000, 100_000));
    });
    assert_eq!(served.statements, 100_000);
}

#[test]
fn a_row_that_fails_ends_the_load_early() {
    let served = served(
        PROTOCOL,
        json!({ "fail": "resources@#5000" }),
        |deployment| {
            let error = try_load(&deployment, 1_000_000).unwrap_err();
            let EngineError::System(error, _) = error else {
                panic!("{error:?}")
            };
            assert_eq!(error.class.word(), "resources");
        },
    );
    assert!(served.statements < 100_000, "{}", served.statements);
}

#[test]
fn a_pipeline_is_answered_in_order_and_page_by_page() {
    let script = "\\startpipeline\nINSERT INTO t VALUES (:client_id);\nSELECT a FROM t WHERE b = :client_id;\n\\endpipeline\n";
    let served = served(PROTOCOL, json!({ "rows": "25" }), |mut deployment| {
        deployment["options"] = json!({ "page_size": "10" });
        for protocol in ["extended", "prepared"] {
            let more = json!({ "clients": 3, "protocol": protocol, "stop": { "passes": 5 } });
            let run = observe(&document(deployment.clone(), &[script], more));
            assert_eq!(outcomes(&run), (15, 0, 0, 0), "{protocol}");
            assert_eq!(run.statements, 30, "{protocol}");
        }
    });
    assert_eq!(served.statements, 60);
}

#[test]
fn an_option_that_the_driver_does_not_have_is_refused_before_any_session() {
    let deployment = json!({ "driver": PROTOCOL, "host": "127.0.0.1", "port": 1,
                       "options": { "consistency": "most" } });
    let error = try_load(&deployment, 1).unwrap_err();
    let EngineError::Document(message) = error else {
        panic!("{error:?}")
    };
    assert!(message.contains("key `options`"), "{message}");
    assert!(message.contains("expected one of any, one,"), "{message}");
}
