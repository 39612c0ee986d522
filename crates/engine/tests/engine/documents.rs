//! An invalid document is rejected with the name of the wrong key.

use assay_engine::{LoadDocument, Session};
use serde_json::{Value, json};

use crate::support::{deployed, document, null_deployment, refused_document};

#[test]
fn the_error_names_the_wrong_key() {
    let good = document(
        null_deployment("documents", json!({})),
        &["SELECT 1;"],
        json!({}),
    );
    let with = |pointer: &str, value: Value| {
        let mut wrong = good.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        wrong.pointer_mut(parent).unwrap()[key] = value;
        refused_document(&wrong)
    };
    for (pointer, value, expected) in [
        ("/clients", json!("eight"), "clients"),
        ("/clients", json!(0), "clients"),
        ("/cleints", json!(8), "cleints"),
        ("/deployment/port", json!(70000), "deployment.port"),
        (
            "/deployment/connect_timeout_s",
            json!(-1),
            "deployment.connect_timeout_s",
        ),
        ("/deployment/tls", json!("sometimes"), "deployment.tls"),
        ("/stop", json!({}), "stop"),
        ("/stop/duration_s", json!(0), "stop.duration_s"),
        ("/order", json!("mix"), "stop.passes"),
        ("/scripts", json!([]), "scripts"),
        ("/variables", json!([1]), "variables"),
    ] {
        let message = with(pointer, value);
        assert!(
            message.contains(&format!("`{expected}`")),
            "{pointer}: {message}"
        );
    }
}

#[test]
fn null_equals_an_absent_key() {
    let deployment = json!({
        "driver": "null", "unix": null, "host": null, "port": null, "file": null, "user": null,
        "password": null, "database": null, "tls": null, "ca_file": null,
        "session_statements": null, "connect_timeout_s": null, "options": null,
    });
    let deployment = deployed(&deployment);
    assert_eq!(deployment.connect_timeout().as_secs(), 30);
    let load = json!({ "deployment": { "driver": "null" }, "tables": [], "before": null, "on_error": null });
    LoadDocument::parse(&load.to_string()).unwrap();
}

#[test]
fn a_password_is_not_printed() {
    let deployment = json!({ "driver": "null", "password": "hunter2" });
    let deployment = deployed(&deployment);
    assert!(!format!("{deployment:?}").contains("hunter2"));
}

#[test]
fn an_unknown_driver_is_reported_with_the_known_ones() {
    let deployment = deployed(&json!({ "driver": "dbase" }));
    let message = Session::open(&deployment).err().unwrap().to_string();
    assert!(message.contains("`dbase`"), "{message}");
    assert!(message.contains("null"), "{message}");
}
