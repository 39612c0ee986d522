//! The words of error classes here are those of the drivers, all of them and no others.

use assay_drivers::ErrorClass;
use assay_script::{FURTHER_CLASSES, STATEMENT_CLASSES};
use std::collections::BTreeSet;

#[test]
fn the_words_are_those_of_the_drivers() {
    let ours: BTreeSet<&str> = STATEMENT_CLASSES
        .iter()
        .chain(FURTHER_CLASSES)
        .copied()
        .collect();
    let theirs: BTreeSet<&str> = ErrorClass::ALL.into_iter().map(ErrorClass::word).collect();
    assert_eq!(ours, theirs);
}

#[test]
fn only_a_class_that_a_statement_can_have_may_be_expected() {
    let own = [ErrorClass::Expectation, ErrorClass::Script];
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
