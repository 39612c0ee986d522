//! Takes what a transaction asks of its session, and where the session stands after each answer; gives whether
//! it must be rolled back, and whether the end of the session undoes it.

use assay_drivers::{Answer, Certainty, SystemError, TransactionStatus};
use assay_script::StatementKind;

/// What the system has of a client's transaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionTransaction {
    /// As the driver reported it behind the last answer.
    status: TransactionStatus,
    /// The statement that has no answer yet.
    asked: Option<StatementKind>,
    /// More than the beginning of a transaction was asked for.
    has_asked_for_work: bool,
    /// Something may stay even if the session ends here.
    may_be_durable: bool,
}

impl SessionTransaction {
    /// A new session.
    pub fn new() -> Self {
        Self::default()
    }

    /// The client begins its next transaction, in the same session.
    pub fn begin(&mut self) {
        *self = Self {
            status: self.status,
            ..Self::default()
        };
    }

    /// A statement is sent.
    #[inline]
    pub fn asked(&mut self, kind: StatementKind) {
        self.asked = Some(kind);
        self.has_asked_for_work |= kind != StatementKind::Begin;
    }

    /// It was answered; `error` is that of the answer. What an error leaves unknown of a statement is undone
    /// where the transaction around it is still to be rolled back.
    #[inline]
    pub fn answered(&mut self, answer: &Answer, error: Option<&mut SystemError>) {
        let kind = self.asked.take();
        let before = std::mem::replace(&mut self.status, answer.transaction);
        let may_be_done = match error {
            None => true,
            Some(error) if error.certainty == Certainty::Unknown => {
                if is_undone_with(before, kind) {
                    error.certainty = Certainty::Undone;
                }
                error.certainty == Certainty::Unknown
            }
            // Of several statements in one text only the last has failed.
            Some(_) => kind == Some(StatementKind::Other),
        };
        let is_of_none = matches!(kind, Some(StatementKind::Begin | StatementKind::Rollback));
        let is_ended = self.status == TransactionStatus::None;
        self.may_be_durable |= may_be_done && is_ended && !is_of_none;
    }

    /// Whether the next transaction must not begin before this one is rolled back.
    #[must_use]
    #[inline]
    pub fn may_be_open(&self) -> bool {
        self.status != TransactionStatus::None
    }

    /// Whether the system says that one is open and could still be committed.
    #[must_use]
    #[inline]
    pub fn is_open(&self) -> bool {
        self.status == TransactionStatus::Open
    }

    /// Whether nothing of it stays if the session ends here.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        let is_undone = match self.asked {
            None => true,
            kind => is_undone_with(self.status, kind),
        };
        is_undone && !self.may_be_durable
    }

    /// Whether it has asked for nothing that could be done.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        !self.has_asked_for_work
    }
}

/// Whether a statement that was asked for in this state is undone where its transaction is not brought to
/// its end.
fn is_undone_with(status: TransactionStatus, kind: Option<StatementKind>) -> bool {
    use TransactionStatus::{Failed, Open};
    match kind {
        Some(StatementKind::Begin | StatementKind::Rollback) => true,
        Some(StatementKind::Rows) => matches!(status, Open | Failed),
        Some(StatementKind::Commit) => status == Failed,
        Some(StatementKind::Other) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StatementKind::{Begin, Commit, Other, Rollback, Rows};
    use TransactionStatus::{Failed, None as Ended, Open, Unknown};
    use assay_drivers::{ErrorClass, Keep};

    fn after(steps: &[(StatementKind, TransactionStatus)]) -> SessionTransaction {
        let mut transaction = SessionTransaction::new();
        for &(kind, status) in steps {
            let mut answer = Answer::new(Keep::Count);
            answer.transaction = status;
            transaction.asked(kind);
            transaction.answered(&answer, None);
        }
        transaction
    }

    #[test]
    fn what_was_never_answered_is_undone_only_where_it_cannot_have_committed() {
        let cases = [
            (&[][..], Begin, true),
            (&[], Rows, false),
            (&[(Begin, Open)], Rows, true),
            (&[(Begin, Open), (Rows, Open)], Other, false),
            (&[(Begin, Open), (Rows, Open)], Commit, false),
            (&[(Begin, Open), (Rows, Open)], Rollback, true),
            (&[(Begin, Open), (Rows, Failed)], Commit, true),
            (&[(Begin, Open), (Rows, Unknown)], Rows, false),
            // The procedure has committed, whatever its words.
            (&[(Begin, Open), (Other, Ended)], Rows, false),
            // The first of two transactions has been committed.
            (
                &[(Begin, Open), (Commit, Ended), (Begin, Open)],
                Rows,
                false,
            ),
            (
                &[(Begin, Open), (Rollback, Ended), (Begin, Open)],
                Rows,
                true,
            ),
        ];
        for (steps, kind, expected) in cases {
            let mut transaction = after(steps);
            transaction.asked(kind);
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
            let mut error = SystemError::new(ErrorClass::Timeout, "", "so it is").unknown();
            let mut answer = Answer::new(Keep::Count);
            answer.transaction = transaction.status;
            transaction.asked(kind);
            transaction.answered(&answer, Some(&mut error));
            assert_eq!(error.certainty, expected, "{steps:?}, then {kind:?}");
        }
    }
}
