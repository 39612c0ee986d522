//! pgbench scripts compile: its three built-in scripts and those of its manual.

use crate::support::{Client, one_row_reply, try_compile_with};
use assay_values::Value;

/// The built-in scripts: the first as in the manual; the others are parts of it.
const TPCB_LIKE: &str = "\
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
";

const SIMPLE_UPDATE: &str = "\
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
";

const SELECT_ONLY: &str = "\
\\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
";

fn statements(text: &str) -> usize {
    let given = [("scale", Value::Int(10))];
    let program = try_compile_with(text, &given).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program.statements.len()
}

#[test]
fn the_built_in_scripts_compile_and_their_bounds_are_constants() {
    assert_eq!(statements(TPCB_LIKE), 7);
    assert_eq!(statements(SIMPLE_UPDATE), 5);
    assert_eq!(statements(SELECT_ONLY), 1);
    let given = [("scale", Value::Int(10))];
    let (seen, _) = Client::with(TPCB_LIKE, &given).run_with(|_| one_row_reply());
    assert_eq!(seen.len(), 7);
    let explained = try_compile_with(SELECT_ONLY, &given).map(|program| program.explain());
    assert!(explained.is_ok_and(|text| text.contains(" 1000000 ") && !text.contains("Binary")));
}

#[test]
fn the_other_examples_of_the_manual_compile() {
    for (text, count) in [
        // Meta commands.
        (
            "UPDATE pgbench_accounts\n SET abalance = abalance + 5\n WHERE aid = 1\n RETURNING abalance \\gset\n\
          -- compound of two queries\nSELECT 1 \\;\nSELECT 2 AS two, 3 AS three \\gset p_\nSELECT :abalance, :p_two, :p_three;",
            4,
        ),
        (
            "\\set ntellers 10 * :scale\n\\set aid (1021 * random(1, 100000 * :scale)) % \\\n  (100000 * :scale) + 1\n\
          \\set divx CASE WHEN :ntellers <> 0 THEN :aid / :ntellers ELSE NULL END\nSELECT :divx;",
            1,
        ),
        ("\\sleep 10 ms\n\\sleep :scale us\n\\sleep 1\nSELECT 1;", 1),
        (
            "\\setshell variable_to_be_assigned command literal_argument :scale ::literal_starting_with_colon\n\
          \\shell command literal_argument :scale ::literal_starting_with_colon\nSELECT :variable_to_be_assigned;",
            1,
        ),
        (
            // The manual omits COMMIT, and pgbench then stops with an error.
            "\\startpipeline\nSELECT 1;\nBEGIN;\nSELECT 2;\nCOMMIT;\n\\endpipeline",
            4,
        ),
        (
            "\\if :scale\n\\set x 1\n\\elif :scale = 2 AND NOT :scale = 3\n\\set x 2\n\\else\n\\set x 3\n\\endif\nSELECT :x;",
            1,
        ),
        // Functions.
        (
            "\\set size 1000000\n\\set r random_zipfian(1, :size, 1.07)\n\\set k 1 + permute(:r, :size)\nSELECT :k;",
            1,
        ),
        (
            "\\set size 1000000\n\\set r random_zipfian(0, 100000000, 1.07)\n\\set k abs(hash(:r)) % 1000000\n\
          \\set k1 1 + permute(:r, :size, :default_seed + 123)\n\\set k2 1 + permute(:r, :size, :default_seed + 321)\n\
          SELECT :k, :k1, :k2;",
            1,
        ),
        (
            "\\set a debug(abs(-17))\n\\set b greatest(5, 4, 3, 2)\n\\set c mod(54, 32) # ~ 12 | 91\n\
          \\set d :a IS NOT NULL AND :b ISNULL\nSELECT :a, :b, :c, :d;",
            1,
        ),
        // Statements.
        (
            "select '12:34'::time, ':aid', \":aid\", $$:aid$$, e'\\':aid' -- :aid\n, array[1:2], x::int /* :aid */;",
            1,
        ),
        ("CREATE RULE r AS ON DELETE TO t DO (DELETE FROM a; DELETE FROM b);\nSELECT 1;", 2),
        (
            "SELECT extract(year FROM :scale::timestamp), substring('a' FROM :scale), 1 IS DISTINCT FROM :scale LIMIT :scale;",
            1,
        ),
        ("VACUUM;\nEND", 2),
    ] {
        assert_eq!(statements(text), count, "{text}");
    }
}
