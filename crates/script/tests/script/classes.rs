//! The names of the error classes are exactly those of the drivers.

use assay_drivers::ErrorClass;
use assay_script::{FURTHER_CLASSES, STATEMENT_CLASSES};
use std::collections::BTreeSet;

#[test]
fn the_names_are_those_of_the_drivers() {
    let of_scripts: BTreeSet<&str> = STATEMENT_CLASSES
        .iter()
        .chain(FURTHER_CLASSES)
        .copied()
        .collect();
    let of_drivers: BTreeSet<&str> = ErrorClass::ALL.into_iter().map(ErrorClass::word).collect();
    assert_eq!(of_scripts, of_drivers);
}

#[test]
fn only_classes_of_statement_errors_may_be_expected() {
    // What another client's statement does is nothing that a script expects.
    let own = [
        ErrorClass::Expectation,
        ErrorClass::Script,
        ErrorClass::WrongStatement,
    ];
    let statement: BTreeSet<&str> = ErrorClass::ALL
        .into_iter()
        .filter(|class| !class.ends_the_session() && !own.contains(class))
        .map(ErrorClass::word)
        .collect();
    assert_eq!(
        STATEMENT_CLASSES.iter().copied().collect::<BTreeSet<_>>(),
        statement
    );
}
