//! The error classes that a script may expect.

use assay_script::STATEMENT_CLASSES;
use assay_values::ErrorClass;
use std::collections::BTreeSet;

#[test]
fn only_classes_of_statement_errors_may_be_expected() {
    // What another client's statement does is nothing that a script expects.
    let own = [ErrorClass::Expectation, ErrorClass::Script, ErrorClass::WrongStatement];
    let statement: BTreeSet<&str> = ErrorClass::ALL
        .into_iter()
        .filter(|class| !class.ends_the_session() && !own.contains(class))
        .map(ErrorClass::word)
        .collect();
    assert_eq!(STATEMENT_CLASSES.iter().copied().collect::<BTreeSet<_>>(), statement);
}
