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

    /// Whether a statement that failed without effect can be executed once more: nothing that was done before it is lost.
    #[must_use]
    pub fn goes_on(&self, status: TransactionStatus) -> bool {
        use TransactionStatus::{None, Open};
        status == self.status && matches!(status, None | Open)
    }

    /// Whether a part of it may stay, whatever follows: it was committed, or done outside a transaction.
    #[must_use]
    #[inline]
    pub fn may_be_durable(&self) -> bool {
        self.may_be_durable
    }

    /// Whether nothing of it remains if the session ends now.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        self.is_rest_undone() && !self.may_be_durable
    }

    /// Whether nothing remains, if the session ends now, of what was not durable before.
    #[must_use]
    pub fn is_rest_undone(&self) -> bool {
        match self.unanswered {
            None => true,
            kind => is_undone_with(self.status, kind),
        }
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
mod tests;
