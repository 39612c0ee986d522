//! Takes a transaction's requests and the transaction status after each answer; returns whether it must be
//! rolled back, whether closing the session undoes it, and whether a part of it stays whatever follows.

use assay_drivers::{Answer, Certainty, SystemError, TransactionStatus};
use assay_script::{Effect, StatementKind};

/// The state of a client's transaction on the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionTransaction {
    /// As the driver reported it after the last answer.
    status: TransactionStatus,
    /// The statement that is not answered yet.
    unanswered: Option<StatementKind>,
    /// What that statement may leave in the data.
    effect: Effect,
    /// More was sent than the beginning of a transaction.
    has_sent_work: bool,
    /// The transaction that is open may have changed data.
    has_open_changes: bool,
    /// Some work may remain even if the session ends now.
    may_be_durable: bool,
}

impl SessionTransaction {
    /// A new session.
    pub fn new() -> Self {
        Self::default()
    }

    /// The client begins its next transaction, or the next attempt, in the same session.
    pub fn begin(&mut self) {
        *self = Self {
            status: self.status,
            // A plain file may begin a transaction in one statement and end it in another.
            has_open_changes: self.has_open_changes && self.may_be_open(),
            ..Self::default()
        };
    }

    /// A statement is sent.
    #[inline]
    pub fn sent(&mut self, kind: StatementKind, effect: Effect) {
        self.unanswered = Some(kind);
        self.effect = effect;
        self.has_sent_work |= kind != StatementKind::Begin;
    }

    /// A statement was answered; `error` is that of the answer. If the error leaves the effect of the
    /// statement unknown, but the transaction around it will be rolled back, it becomes undone.
    #[inline]
    pub fn answered(&mut self, answer: &Answer, error: Option<&mut SystemError>) {
        let kind = self.unanswered.take();
        let before = std::mem::replace(&mut self.status, answer.transaction);
        match error {
            None => self.done(kind, before, answer),
            Some(error) => self.failed(kind, before, answer.has_committed, error),
        }
    }

    #[inline]
    fn done(&mut self, kind: Option<StatementKind>, before: TransactionStatus, answer: &Answer) {
        match kind {
            Some(StatementKind::Rollback) => {
                self.may_be_durable |= answer.has_warnings;
                self.has_open_changes = false;
            }
            Some(StatementKind::Commit) => self.committed(),
            // Some systems commit first what is open.
            Some(StatementKind::Begin) if before == TransactionStatus::None => {}
            Some(StatementKind::Begin) => self.may_be_durable |= self.has_open_changes,
            Some(StatementKind::Rows | StatementKind::Other) | None => {
                self.has_open_changes |= self.effect != Effect::Nothing;
                if answer.has_committed || self.status == TransactionStatus::None {
                    self.committed();
                }
            }
        }
    }

    #[cold]
    fn failed(
        &mut self,
        kind: Option<StatementKind>,
        before: TransactionStatus,
        has_committed: bool,
        error: &mut SystemError,
    ) {
        if error.certainty == Certainty::Unknown && is_undone_with(before, kind) {
            error.certainty = Certainty::Undone;
        }
        let is_unknown = error.certainty == Certainty::Unknown;
        let is_other = kind == Some(StatementKind::Other) && self.effect != Effect::Nothing;
        // It may have committed what was open before it failed, as some systems do before they change a schema.
        let ended_others = is_other
            && before != TransactionStatus::None
            && self.status == TransactionStatus::Unknown
            && self.has_open_changes;
        self.may_be_durable |= has_committed || ended_others || self.may_be_partial(before);
        if self.status == TransactionStatus::None {
            self.may_be_durable |= is_unknown && !matches!(kind, Some(StatementKind::Rollback));
            self.has_open_changes = false;
        }
    }

    /// Whether the statement that has failed may have committed a part. The server refuses a commit within a transaction
    /// that is still its own afterwards.
    fn may_be_partial(&self, before: TransactionStatus) -> bool {
        use TransactionStatus::{Failed, None, Open};
        match self.effect {
            Effect::Nothing | Effect::Atomic => false,
            Effect::Partial => before == None,
            Effect::CommitsItself => {
                !(matches!(before, Open | Failed) && matches!(self.status, Open | Failed))
            }
        }
    }

    /// The statement that was sent had no effect: it will be sent again.
    pub fn withdrawn(&mut self) {
        self.unanswered = None;
    }

    /// A statement of a pipeline was answered without an error. The status is known at the pipeline's end only.
    pub fn answered_in_pipeline(
        &mut self,
        kind: StatementKind,
        effect: Effect,
        has_committed: bool,
    ) {
        match kind {
            StatementKind::Begin => {}
            StatementKind::Commit => self.committed(),
            StatementKind::Rollback => self.has_open_changes = false,
            StatementKind::Rows | StatementKind::Other => {
                self.has_open_changes |= effect != Effect::Nothing;
                if has_committed {
                    self.committed();
                }
            }
        }
    }

    /// A statement of a pipeline has failed.
    pub fn failed_in_pipeline(&mut self, effect: Effect) {
        let may_be_partial = matches!(effect, Effect::Partial | Effect::CommitsItself);
        self.may_be_durable |= may_be_partial && !self.is_open();
    }

    /// The pipeline has ended: what it did outside a transaction is committed, or undone by an error.
    pub fn pipeline_ended(&mut self, answer: &Answer, has_failed: bool) {
        self.unanswered = None;
        self.status = answer.transaction;
        if self.status == TransactionStatus::None {
            self.may_be_durable |= self.has_open_changes && !has_failed;
            self.has_open_changes = false;
        }
    }

    #[inline]
    fn committed(&mut self) {
        self.may_be_durable |= self.has_open_changes;
        self.has_open_changes = false;
    }

    /// Whether this transaction must be rolled back before the next begins.
    #[inline]
    pub fn may_be_open(&self) -> bool {
        self.status != TransactionStatus::None
    }

    /// Whether a transaction is open according to the server, and could still be committed.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.status == TransactionStatus::Open
    }

    /// Whether a statement that failed without effect can be executed once more: nothing that was done before it is lost.
    pub fn goes_on(&self, status: TransactionStatus) -> bool {
        use TransactionStatus::{None, Open};
        status == self.status && matches!(status, None | Open)
    }

    /// Whether a part of it may stay, whatever follows: it was committed, or done outside a transaction.
    #[inline]
    pub fn may_be_durable(&self) -> bool {
        self.may_be_durable
    }

    /// Whether nothing of it remains if the session ends now.
    pub fn is_undone(&self) -> bool {
        self.is_rest_undone() && !self.may_be_durable
    }

    /// Whether nothing remains, if the session ends now, of what was not durable before.
    pub fn is_rest_undone(&self) -> bool {
        match self.unanswered {
            None => true,
            kind => is_undone_with(self.status, kind),
        }
    }

    /// Whether it has sent nothing that could have an effect.
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
        #[rustfmt::skip]
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
            (&[(Begin, Open), (Rows, Open), (Commit, Ended), (Begin, Open)], Rows, false),
            (&[(Begin, Open), (Rows, Open), (Rollback, Ended), (Begin, Open)], Rows, true),
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
        #[rustfmt::skip]
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
            (&[open, (Rows, Open), (Commit, Ended)], Rows, Ended, false, true),
            (&[open, (Rows, Open), (Commit, Open)], Rows, Failed, false, true),
            (&[open, (Rows, Open), (Other, Ended)], Rows, Ended, false, true),
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
        for (has_failed, has_committed, expected) in
            [(false, false, true), (true, false, false), (true, true, true)]
        {
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
}
