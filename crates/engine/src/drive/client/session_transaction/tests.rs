use crate::drive::client::session_transaction::*;
use StatementKind::{Begin, Commit, Other, Rollback, Rows};
use TransactionStatus::{Failed, None as Ended, Open, Unknown};
use assay_drivers::{ErrorClass, Keep};

fn after(steps: &[(StatementKind, TransactionStatus)]) -> SessionTransaction {
    let mut transaction = SessionTransaction::new();
    for &(kind, status) in steps {
        let mut answer = Answer::new(Keep::Count);
        answer.transaction = status;
        transaction.sent(kind, Effect::Atomic);
        transaction.answered(&answer, None);
    }
    transaction
}

/// The last statement fails without an effect of its own, and leaves this status.
fn failed(
    steps: &[(StatementKind, TransactionStatus)],
    kind: StatementKind,
    status: TransactionStatus,
    has_committed: bool,
) -> SessionTransaction {
    let mut transaction = after(steps);
    let mut error = SystemError::new(ErrorClass::Deadlock, "", "a deadlock");
    let mut answer = Answer::new(Keep::Count);
    (answer.transaction, answer.has_committed) = (status, has_committed);
    transaction.sent(kind, Effect::Atomic);
    transaction.answered(&answer, Some(&mut error));
    transaction
}

#[test]
fn an_unanswered_statement_is_undone_only_if_it_cannot_have_committed() {
    let cases = [
        (&[][..], Begin, true),
        (&[], Rows, false),
        (&[(Begin, Open)], Rows, true),
        (&[(Begin, Open), (Rows, Open)], Other, false),
        (&[(Begin, Open), (Rows, Open)], Commit, false),
        (&[(Begin, Open), (Rows, Open)], Rollback, true),
        (&[(Begin, Open), (Rows, Failed)], Commit, true),
        (&[(Begin, Open), (Rows, Unknown)], Rows, false),
        // The procedure has committed, whatever its text.
        (&[(Begin, Open), (Other, Ended)], Rows, false),
        // The first of two transactions has been committed.
        (
            &[(Begin, Open), (Rows, Open), (Commit, Ended), (Begin, Open)],
            Rows,
            false,
        ),
        (
            &[
                (Begin, Open),
                (Rows, Open),
                (Rollback, Ended),
                (Begin, Open),
            ],
            Rows,
            true,
        ),
    ];
    for (steps, kind, expected) in cases {
        let mut transaction = after(steps);
        transaction.sent(kind, Effect::Atomic);
        assert_eq!(
            transaction.is_undone(),
            expected,
            "{steps:?}, then {kind:?}"
        );
    }
}

#[test]
fn an_error_that_leaves_a_statement_unknown_is_undone_with_its_transaction() {
    for (steps, kind, expected) in [
        (&[][..], Rows, Certainty::Unknown),
        (&[(Begin, Open)], Rows, Certainty::Undone),
        (&[(Begin, Open)], Commit, Certainty::Unknown),
    ] {
        let mut transaction = after(steps);
        let mut error =
            SystemError::new(ErrorClass::Timeout, "", "the statement timed out").unknown();
        let mut answer = Answer::new(Keep::Count);
        answer.transaction = transaction.status;
        transaction.sent(kind, Effect::Atomic);
        transaction.answered(&answer, Some(&mut error));
        assert_eq!(error.certainty, expected, "{steps:?}, then {kind:?}");
    }
}

#[test]
fn what_was_committed_before_an_error_stays() {
    let open = (Begin, Open);
    let cases = [
        // Its own failure leaves nothing.
        (&[][..], Rows, Ended, false, false),
        (&[], Other, Ended, false, false),
        (&[open, (Rows, Open)], Rows, Failed, false, false),
        (&[open, (Rows, Open)], Rows, Unknown, false, false),
        (&[open, (Rows, Open)], Commit, Ended, false, false),
        // The statement before it was a transaction of its own.
        (&[(Rows, Ended)], Rows, Ended, false, true),
        (&[(Rows, Ended), open], Rows, Failed, false, true),
        // COMMIT, also one that begins the next transaction, and one by a procedure.
        (
            &[open, (Rows, Open), (Commit, Ended)],
            Rows,
            Ended,
            false,
            true,
        ),
        (
            &[open, (Rows, Open), (Commit, Open)],
            Rows,
            Failed,
            false,
            true,
        ),
        (
            &[open, (Rows, Open), (Other, Ended)],
            Rows,
            Ended,
            false,
            true,
        ),
        // Nothing was changed before COMMIT.
        (&[open, (Commit, Ended)], Rows, Ended, false, false),
        // A second BEGIN commits in some systems.
        (&[open, (Rows, Open), open], Rows, Unknown, false, true),
        // Some systems have committed before the schema's change failed.
        (&[open, (Rows, Open)], Other, Unknown, false, true),
        // A text of several statements: COMMIT; BEGIN; and then the error.
        (&[open, (Rows, Open)], Other, Failed, true, true),
    ];
    for (steps, kind, status, has_committed, expected) in cases {
        let transaction = failed(steps, kind, status, has_committed);
        let found = transaction.may_be_durable();
        assert_eq!(found, expected, "{steps:?}, then {kind:?}: {status:?}");
    }
}

#[test]
fn a_statement_that_only_reads_leaves_nothing() {
    let mut transaction = SessionTransaction::new();
    transaction.sent(Rows, Effect::Nothing);
    transaction.answered(&Answer::new(Keep::Count), None);
    assert!(!transaction.may_be_durable());
    // The next attempt begins without what the last one had open.
    let mut transaction = failed(&[(Begin, Open), (Rows, Open)], Rows, Ended, false);
    transaction.begin();
    transaction.sent(Rows, Effect::Nothing);
    transaction.answered(&Answer::new(Keep::Count), None);
    assert!(!transaction.may_be_durable());
}

#[test]
fn a_pipeline_outside_a_transaction_is_committed_at_its_end_or_undone() {
    for (has_failed, has_committed, expected) in [
        (false, false, true),
        (true, false, false),
        (true, true, true),
    ] {
        let mut transaction = SessionTransaction::new();
        transaction.sent(Other, Effect::Atomic);
        transaction.answered_in_pipeline(Rows, Effect::Atomic, false);
        if has_committed {
            transaction.answered_in_pipeline(Commit, Effect::Atomic, true);
        }
        transaction.pipeline_ended(&Answer::new(Keep::Count), has_failed);
        assert_eq!(transaction.may_be_durable(), expected);
    }
}

/// `CALL` may commit, unless the server refuses that within its transaction.
#[test]
fn a_statement_that_may_commit_itself_may_leave_a_part() {
    let open = (Begin, Open);
    for (steps, status, expected) in [
        (&[][..], Ended, true),
        (&[open], Failed, false),
        // It has committed, and ended the transaction around it.
        (&[open], Ended, true),
        (&[open], Unknown, true),
    ] {
        for (effect, expected) in [(Effect::CommitsItself, expected), (Effect::Atomic, false)] {
            let mut transaction = after(steps);
            let mut answer = Answer::new(Keep::Count);
            answer.transaction = status;
            transaction.sent(Other, effect);
            let mut error = SystemError::new(ErrorClass::Constraint, "", "a duplicate");
            transaction.answered(&answer, Some(&mut error));
            let found = transaction.may_be_durable();
            assert_eq!(found, expected, "{steps:?}, then {status:?}, {effect:?}");
        }
    }
    for (effect, expected) in [(Effect::CommitsItself, true), (Effect::Atomic, false)] {
        let mut transaction = SessionTransaction::new();
        transaction.failed_in_pipeline(effect);
        assert_eq!(transaction.may_be_durable(), expected);
    }
}

#[test]
fn a_rollback_with_a_warning_has_left_changes() {
    for has_warnings in [false, true] {
        let mut transaction = after(&[(Begin, Open), (Rows, Open)]);
        let mut answer = Answer::new(Keep::Count);
        answer.has_warnings = has_warnings;
        transaction.sent(Rollback, Effect::Nothing);
        transaction.answered(&answer, None);
        assert_eq!(transaction.may_be_durable(), has_warnings);
    }
}

/// A table without transactions keeps the rows before the one that failed.
#[test]
fn a_statement_on_tables_without_transactions_may_leave_a_part() {
    for (steps, expected) in [(&[][..], true), (&[(Begin, Open)], false)] {
        let mut transaction = after(steps);
        let mut answer = Answer::new(Keep::Count);
        answer.transaction = Unknown;
        transaction.sent(Rows, Effect::Partial);
        let mut error = SystemError::new(ErrorClass::Constraint, "", "a duplicate");
        transaction.answered(&answer, Some(&mut error));
        assert_eq!(transaction.may_be_durable(), expected, "{steps:?}");
    }
}
