//! Takes a transaction's requests and the transaction status after each answer; returns whether it must be
//! rolled back, and whether closing the session undoes it.

use assay_drivers::{Answer, Certainty, SystemError, TransactionStatus};
use assay_script::StatementKind;

/// The state of a client's transaction on the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionTransaction {
    /// As the driver reported it after the last answer.
    status: TransactionStatus,
    /// The statement that is not answered yet.
    unanswered: Option<StatementKind>,
    /// More was sent than the beginning of a transaction.
    has_sent_work: bool,
    /// Some work may remain even if the session ends now.
    may_be_durable: bool,
}

impl SessionTransaction {
    /// A new session.
    pub fn new() -> Self {
        Self::default()
    }

    /// The client begins its next transaction in the same session.
    pub fn begin(&mut self) {
        *self = Self {
            status: self.status,
            ..Self::default()
        };
    }

    /// A statement is sent.
    #[inline]
    pub fn sent(&mut self, kind: StatementKind) {
        self.unanswered = Some(kind);
        self.has_sent_work |= kind != StatementKind::Begin;
    }

    /// A statement was answered; `error` is that of the answer. If the error leaves the effect of the
    /// statement unknown, but the transaction around it will be rolled back, it becomes undone.
    #[inline]
    pub fn answered(&mut self, answer: &Answer, error: Option<&mut SystemError>) {
        let kind = self.unanswered.take();
        let before = std::mem::replace(&mut self.status, answer.transaction);
        let may_be_done = match error {
            None => true,
            Some(error) if error.certainty == Certainty::Unknown => {
                if is_undone_with(before, kind) {
                    error.certainty = Certainty::Undone;
                }
                error.certainty == Certainty::Unknown
            }
            // Of several statements in one text, only the last has failed.
            Some(_) => kind == Some(StatementKind::Other),
        };
        let is_of_none = matches!(kind, Some(StatementKind::Begin | StatementKind::Rollback));
        let is_ended = self.status == TransactionStatus::None;
        self.may_be_durable |= may_be_done && is_ended && !is_of_none;
    }

    /// Whether this transaction must be rolled back before the next begins.
    #[must_use]
    #[inline]
    pub fn may_be_open(&self) -> bool {
        self.status != TransactionStatus::None
    }

    /// Whether a transaction is open according to the server, and could still be committed.
    #[must_use]
    #[inline]
    pub fn is_open(&self) -> bool {
        self.status == TransactionStatus::Open
    }

    /// Whether nothing of it remains if the session ends now.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        let is_undone = match self.unanswered {
            None => true,
            kind => is_undone_with(self.status, kind),
        };
        is_undone && !self.may_be_durable
    }

    /// Whether it has sent nothing that could have an effect.
    #[must_use]
    pub fn has_no_effect(&self) -> bool {
        !self.has_sent_work
    }
}

/// Whether a statement that was sent in this state is undone if its transaction is not committed.
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
            transaction.sent(kind);
            transaction.answered(&answer, None);
        }
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
            transaction.sent(kind);
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
            transaction.sent(kind);
            transaction.answered(&answer, Some(&mut error));
            assert_eq!(error.certainty, expected, "{steps:?}, then {kind:?}");
        }
    }
}
