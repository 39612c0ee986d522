//! A system with documents instead of SQL and without transactions, behind the same contract.

use assay_engine::{Certainty, EngineError};
use serde_json::{Value, json};

use crate::support::{document, observe, outcomes, refused, session, the_error};

fn deployment(name: &str, options: Value) -> Value {
    let mut options = options;
    options["deployment"] = json!(name);
    json!({ "driver": "null_documents", "options": options })
}

fn documents(deployment: Value, texts: &[&str], more: Value) -> Value {
    let mut documents = document(deployment, texts, more);
    documents["lexer"] = json!("json");
    documents["identifiers"] = json!({ "table": ["a", "it's \"b\""] });
    documents
}

#[test]
fn documents_are_driven_by_every_protocol_and_values_arrive_as_json() {
    let text = r#"
\set table 1
\set id 7 * 6
\set name 'it''s "so"'
{"insert": :{table}, "documents": [{"id": :id}, {"id": null}]}
\expect rows 2
{"count": :{table}}
\expect value :counted
{"find": :{table}, "where": {"id": :id, "name": :name}} \gset
\expect value :found
"#;
    for (number, protocol) in ["simple", "extended", "prepared"].into_iter().enumerate() {
        let name = format!("documents {protocol}");
        let deployment = deployment(&name, json!({ "rows": "1" }));
        let mut session = session(&deployment);
        session.execute(r#"{"create": "it's \"b\""}"#).unwrap();
        let found =
            r#"{"asked":{"find":"it's \"b\"","where":{"id":42,"name":"it's \"so\""}},"n":1}"#;
        let run = observe(&documents(
            deployment,
            &[text],
            json!({ "protocol": protocol, "seed": number, "variables": { "counted": 2, "found": found } }),
        ));
        assert_eq!(outcomes(&run), (1, 0, 0, 0), "{protocol}: {:?}", run.errors);
    }
}

/// Without transactions no rollback is sent: a failed statement is the last one of its transaction.
#[test]
fn without_transactions_nothing_is_sent_after_a_failure() {
    let options = json!({ "fail": "constraint@#1", "lose": "#2" });
    let deployment = deployment("no rollback", options);
    let text = "{\"update\": \"a\"}\n";
    let more = json!({ "stop": { "passes": 2 } });
    let run = observe(&documents(deployment, &[text], more));
    // If a rollback were sent, the session would be lost in it, and nothing would be unknown.
    assert_eq!(outcomes(&run), (0, 0, 1, 1));
}

#[test]
fn an_abort_needs_no_transaction() {
    let run = observe(&documents(
        deployment("abort", json!({})),
        &["{\"update\": \"a\"}\n\\abort\n"],
        json!({ "stop": { "passes": 3 } }),
    ));
    assert_eq!(outcomes(&run), (0, 3, 0, 0));
}

#[test]
fn a_statement_that_begins_a_transaction_is_an_error_with_its_place() {
    let text = "{\"count\": \"a\"}\n  \\begin\n{\"count\": \"a\"}\n\\commit\n";
    let error = refused(&documents(
        deployment("refused", json!({})),
        &[text],
        json!({}),
    ));
    let EngineError::Script(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!((error.line, error.column), (2, 3));
    assert!(error.message.contains("has no transactions"), "{error}");
}

#[test]
fn an_unknown_document_is_an_error_of_the_system() {
    let more = json!({});
    let run = observe(&documents(
        deployment("unknown", json!({})),
        &["{\"fly\": 1}"],
        more,
    ));
    assert_eq!(outcomes(&run), (0, 0, 1, 0));
    let error = the_error(&run);
    assert_eq!(error.class, "syntax");
    assert_eq!(error.certainty, Certainty::Undone);
    assert!(
        error.message.contains("expected one of the keys find"),
        "{error:?}"
    );
}
