//! The classes of errors of a system under test: which failures are handled differently, and the word of each.

/// Kinds of failure that are handled differently. Every driver maps its system's codes to these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// No server listens at the address, or it does not exist.
    ConnectionRefused,
    /// The server has reached its limit of sessions.
    TooManyConnections,
    /// Wrong user, password or database, or no common authentication method.
    Authentication,
    /// The session ended before the answer arrived.
    LostConnection,
    /// An answer or a session did not come in time, or a statement was cancelled.
    Timeout,
    /// The server chose this transaction as the victim of a deadlock.
    Deadlock,
    /// A serialization failure; a retry may succeed.
    Serialization,
    /// A unique, foreign key, not-null or check constraint is violated.
    Constraint,
    /// The server does not understand the statement.
    Syntax,
    /// A table, column, function or other name does not exist.
    UnknownObject,
    /// The user may not do this.
    Permission,
    /// A value that the column or the protocol cannot hold.
    Data,
    /// Disk, memory or another resource of the server ran out.
    Resources,
    /// The workload's own expectation (`\expect`) was not met.
    Expectation,
    /// An expression of the script has no value (division by zero, a variable that is not set).
    Script,
    /// Another statement than the one that was asked for was executed and answered.
    WrongStatement,
    /// The server violated the protocol, or sent something this driver does not support.
    Protocol,
    /// Whatever fits no other class.
    Other,
}

impl ErrorClass {
    /// The name used in records, reports and `\expect error`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ConnectionRefused => "connection refused",
            Self::TooManyConnections => "too many connections",
            Self::Authentication => "authentication",
            Self::LostConnection => "lost connection",
            Self::Timeout => "timeout",
            Self::Deadlock => "deadlock",
            Self::Serialization => "serialization",
            Self::Constraint => "constraint",
            Self::Syntax => "syntax",
            Self::UnknownObject => "unknown object",
            Self::Permission => "permission",
            Self::Data => "data",
            Self::Resources => "resources",
            Self::Expectation => "expectation",
            Self::Script => "script",
            Self::WrongStatement => "wrong statement",
            Self::Protocol => "protocol",
            Self::Other => "other",
        }
    }

    /// Every class, in the order of the list above.
    pub const ALL: [Self; 18] = [
        Self::ConnectionRefused,
        Self::TooManyConnections,
        Self::Authentication,
        Self::LostConnection,
        Self::Timeout,
        Self::Deadlock,
        Self::Serialization,
        Self::Constraint,
        Self::Syntax,
        Self::UnknownObject,
        Self::Permission,
        Self::Data,
        Self::Resources,
        Self::Expectation,
        Self::Script,
        Self::WrongStatement,
        Self::Protocol,
        Self::Other,
    ];

    /// Those of statement errors that leave the session open: the ones that `\expect error` accepts, by their words. What another
    /// client's statement does is nothing that a script expects.
    pub const OF_STATEMENTS: [Self; 10] = [
        Self::Constraint,
        Self::Data,
        Self::Deadlock,
        Self::Other,
        Self::Permission,
        Self::Resources,
        Self::Serialization,
        Self::Syntax,
        Self::Timeout,
        Self::UnknownObject,
    ];

    /// The class of a [`word`](Self::word).
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.word() == word)
    }

    /// Whether the session is over.
    pub fn ends_the_session(self) -> bool {
        matches!(
            self,
            Self::ConnectionRefused
                | Self::TooManyConnections
                | Self::Authentication
                | Self::LostConnection
                | Self::Protocol
        )
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorClass;

    #[test]
    fn each_class_has_a_word_of_its_own() {
        for class in ErrorClass::ALL {
            assert_eq!(ErrorClass::from_word(class.word()), Some(class));
        }
    }
}
