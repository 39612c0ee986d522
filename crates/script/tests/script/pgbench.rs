//! Expressions have the same values as in pgbench: `pgbench/expressions.txt` has pgbench's results for over a
//! thousand expressions, recorded from pgbench 15 by `pgbench/record.py`.

use crate::support::value_of;

/// Expressions that are additions, or errors here and undefined in pgbench (see the reference).
const OURS: &[&str] = &[
    "abs(TRUE)",
    "TRUE = TRUE",
    "1 < 2 = TRUE",
    "TRUE > FALSE",
    "int('5')",
    "(7) << 44 + (2 << 20)",
    // Zipf distributions that pgbench does not draw.
    "random_zipfian(1, 4, 1)",
    "random_zipfian(1, 4, 1.0009)",
    // Random numbers of another generator.
    "random_gaussian(1, 10, 2)",
];

/// Whether pgbench's output and Assay's value are equal.
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
                (Ok(left), Ok(right)) if left.is_finite() => {
                    found.contains(['.', 'e']) && (left - right).abs() <= left.abs() * 1e-14
                }
                (Ok(left), Ok(right)) => left == right || (left.is_nan() && right.is_nan()),
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
        let (expression, printed) = line.split_once('\t').expect("a tab separates the two");
        let found = value_of(expression, &[]);
        if !OURS.contains(&expression) && !is_same(printed, &found) {
            different.push(format!("{expression}\n  pgbench: {printed}\n  assay: {found:?}"));
        }
    }
    assert!(recorded.lines().count() > 1000);
    assert!(different.is_empty(), "{}", different.join("\n"));
}
