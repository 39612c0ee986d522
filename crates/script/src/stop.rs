//! Defines why a client's instructions stop: what the engine must do next, or how the transaction ended.

use crate::class::SCRIPT;
use crate::deferral::Deferred;
use crate::number::Fault;
use crate::operand::StatementId;
use crate::reply::Ending;

/// Why the instructions stopped.
pub(crate) enum Stop {
    Execute(StatementId),
    Queue(StatementId),
    Sync,
    Sleep {
        duration_ns: u64,
        is_part_of_latency: bool,
    },
    Defer(Deferred),
    /// The answer has been examined.
    Settled,
    Done,
    Aborted,
    Failed(Box<Failure>),
}

/// Why a transaction failed. Boxed, because it is rare and large, and every instruction
/// could return it.
pub(crate) struct Failure {
    class: &'static str,
    message: String,
}

impl Failure {
    pub fn of(class: &'static str, message: &str) -> Box<Self> {
        let message = message.to_owned();
        Box::new(Self { class, message })
    }

    /// Puts the place of an instruction or of a statement before the message.
    pub fn at(mut self: Box<Self>, place: &str) -> Box<Self> {
        self.message = format!("{place}: {}", self.message);
        self
    }

    pub fn ending(self) -> Ending {
        Ending::Failed {
            class: self.class,
            message: self.message,
        }
    }
}

impl From<Fault> for Box<Failure> {
    fn from(Fault(message): Fault) -> Self {
        Failure::of(SCRIPT, &message)
    }
}
