//! Values that are neither numbers nor texts: sent in the system's own types, and read back with the same
//! type.

use serde_json::{Value, json};

use crate::support::{document, observe, outcomes};

/// Inserts a row into `kinds (d, t, ts, n, b, doc)`, reads it into variables, and finds it by these; with and
/// without fractions of a second. `cast` is what the system needs after a document to compare it.
pub fn are_sent_and_read_back(deployment: &Value, cast: &str) {
    let text = format!(
        r#"
\set d date(date('2024-02-28') + :transaction_number)
\set t time('23:59:57.25')
\set ts timestamp(concat(:d, ' 17:53:38.', :transaction_number))
\set n decimal('12345678.90')
\set b bytes('00ff5c27')
\set doc document('id', 7, 'at', list(1, 'it''s'))
INSERT INTO kinds (d, t, ts, n, b, doc) VALUES (:d, :t, :ts, :n, :b, :doc{cast});
\expect rows 1
SELECT d AS read_d, t AS read_t, ts AS read_ts, n AS read_n, b AS read_b FROM kinds WHERE d = :d;
\gset
SELECT count(*) FROM kinds
 WHERE d = :read_d AND t = :read_t AND ts = :read_ts AND n = :read_n AND b = :read_b;
\expect value 1
SELECT doc FROM kinds WHERE d = :d;
\gset path $.at[1] name
SELECT count(*) FROM kinds WHERE b = :b AND 'it''s' = :name;
\expect value 1 + :transaction_number
\set is_kept CASE WHEN :read_d + 1 = date(:d + 1) AND :read_n = :n AND :read_b = :b AND :read_t = :t THEN 1 ELSE 0 END
SELECT count(*) FROM kinds WHERE d = :d AND 1 = :is_kept;
\expect value 1
"#
    );
    for protocol in ["prepared", "extended"] {
        let clear = document(deployment.clone(), &["DELETE FROM kinds;"], json!({}));
        assert_eq!(outcomes(&observe(&clear)), (1, 0, 0, 0));
        let run = observe(&document(
            deployment.clone(),
            &[&text],
            json!({ "protocol": protocol, "stop": { "passes": 3 } }),
        ));
        assert_eq!(
            outcomes(&run),
            (3, 0, 0, 0),
            "{protocol}: {:#?}",
            run.errors
        );
    }
}
