//! Expressions mean what they mean in pgbench: its own words for over a thousand of them stand in
//! `pgbench/expressions.txt`, recorded from pgbench 15 by `pgbench/record.py`.

mod support;

use support::value_of;

/// Where ours is an addition, or a failure in place of an accident (see the reference).
const OURS: &[&str] = &[
    "abs(TRUE)",
    "TRUE = TRUE",
    "1 < 2 = TRUE",
    "TRUE > FALSE",
    "int('5')",
    "(7) << 44 + (2 << 20)",
    // Draws of another stream.
    "random_gaussian(1, 10, 2)",
];

/// What pgbench prints, and what our value must be.
fn is_same(printed: &str, found: &Result<String, String>) -> bool {
    let Ok(found) = found else {
        return printed == "error";
    };
    match printed.split_once(' ') {
        None => printed == "null" && found == "NULL",
        Some(("double", number)) => {
            let number = number.replace("Infinity", "inf");
            // It prints 15 digits.
            match (number.parse::<f64>(), found.parse::<f64>()) {
                (Ok(one), Ok(other)) if one.is_finite() => {
                    found.contains(['.', 'e']) && (one - other).abs() <= one.abs() * 1e-14
                }
                (Ok(one), Ok(other)) => one == other || (one.is_nan() && other.is_nan()),
                _ => false,
            }
        }
        Some((_, value)) => found == value,
    }
}

#[test]
fn expressions_have_the_values_that_pgbench_gives_them() {
    let recorded = include_str!("pgbench/expressions.txt");
    let mut different = Vec::new();
    for line in recorded.lines() {
        let (expression, printed) = line.split_once('\t').expect("a tab divides the two");
        let found = value_of(expression, &[]);
        if !OURS.contains(&expression) && !is_same(printed, &found) {
            different.push(format!(
                "{expression}\n  pgbench: {printed}\n  ours: {found:?}"
            ));
        }
    }
    assert!(recorded.lines().count() > 1000);
    assert!(different.is_empty(), "{}", different.join("\n"));
}
