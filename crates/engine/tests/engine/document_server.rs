//! A protocol whose statements are documents, with transactions that begin with their first statement: requests
//! that need no server are answered at once, and cost neither a round trip nor a wait.

use serde_json::{Value, json};

use crate::serve::served;
use crate::support::rows::loaded;
use crate::support::{document, observe, outcomes, session, the_error};

const PROTOCOL: &str = "mongodb";
const TRANSACTION: &str = r#"
\set id random(1, 9)
\begin
{"update": "t", "updates": [{"q": {"a": :id}, "u": {"$inc": {"b": 1}}}]}
{"find": "t", "filter": {"a": :id}}
\expect rows 3
\commit
"#;

fn documents(deployment: Value, more: Value) -> Value {
    let mut document = document(deployment, &[TRANSACTION], more);
    document["lexer"] = json!("json");
    document
}

#[test]
fn a_transaction_begins_without_a_round_trip() {
    for protocol in ["simple", "extended", "prepared"] {
        let served = served(PROTOCOL, json!({ "rows": "3" }), |mut deployment| {
            deployment["options"] = json!({ "batch_size": "2", "write_concern": "majority" });
            let more = json!({ "clients": 20, "protocol": protocol, "stop": { "passes": 5 } });
            let run = observe(&documents(deployment, more));
            assert_eq!(outcomes(&run), (100, 0, 0, 0), "{:?}", run.errors);
        });
        // The update, the find and the commit: the server never hears of the beginning, and gives the second batch
        // without executing anything.
        assert_eq!(served.statements, 300, "{protocol}");
    }
}

/// The third statement fails in a transaction; after its rollback the next transactions succeed.
#[test]
fn a_transaction_that_failed_is_rolled_back_and_tried_again() {
    let options = json!({ "rows": "3", "fail": "serialization@#2" });
    let served = served(PROTOCOL, options, |deployment| {
        let retries = json!({ "most": 3, "classes": ["serialization"] });
        let more = json!({ "retries": retries, "stop": { "passes": 2 } });
        let run = observe(&documents(deployment, more));
        assert_eq!(outcomes(&run), (2, 0, 0, 0), "{:?}", run.errors);
        assert_eq!(run.outcomes.retries, 1);
        assert_eq!(the_error(&run).class, "serialization");
    });
    // Two of the attempt that failed and its rollback, then three of each transaction.
    assert_eq!(served.statements, 3 + 6);
}

#[test]
fn rows_are_loaded_by_inserts_of_many_documents() {
    let served = served(PROTOCOL, json!({}), |deployment| {
        let mut session = session(&deployment);
        session.execute(r#"{"create": "t"}"#).unwrap();
        let bulk = r#"{"insert": "t", "fields": ["n", "t"]}"#;
        let report = loaded(&deployment, "t", bulk, 100_000).unwrap();
        let table = &report.tables[0];
        assert_eq!((table.rows, table.affected), (100_000, 100_000));
        let answer = session.execute(r#"{"count": "t"}"#).unwrap();
        assert_eq!(answer.kept[0][0].as_deref(), Some(&b"100000"[..]));
    });
    assert!(served.statements < 100, "{}", served.statements);
}
