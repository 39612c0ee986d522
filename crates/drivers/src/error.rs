//! Errors of the system under test, as data: a class the engine decides by, and the server's words.

/// The kinds of failure that somebody acts on differently. Every driver maps its system's codes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// Nobody listens at the address, or it does not exist.
    ConnectionRefused,
    /// The server is there and has no room for one more session.
    TooManyConnections,
    /// Wrong user, password, database, or no common method.
    Authentication,
    /// The session ended before the answer came.
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
    /// An expression of the script had no value (division by zero, a variable that nothing had set).
    Script,
    /// The server spoke against the protocol, or spoke what we do not know.
    Protocol,
    /// Whatever fits no other class.
    Other,
}

impl ErrorClass {
    /// The word used in records, reports and `\expect error`.
    #[must_use]
    pub fn word(self) -> &'static str {
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
            Self::Protocol => "protocol",
            Self::Other => "other",
        }
    }

    /// Every class, in the order of the list above.
    pub const ALL: [Self; 17] = [
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
        Self::Protocol,
        Self::Other,
    ];

    /// The class of a [`word`](Self::word).
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.word() == word)
    }

    /// Whether the session is over.
    #[must_use]
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

/// Whether what was asked for has surely not been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// It has not been done, or has been undone.
    Undone,
    /// It may have been done: the session was lost before the answer came, or the system itself cannot tell.
    Unknown,
}

/// What the system said: `code` is its own (an SQLSTATE, a number), `message` its own words. The driver says
/// whether the statement may have been done; one class can have both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemError {
    /// What kind of error it is, the same for all systems.
    pub class: ErrorClass,
    /// The system's own code, such as an SQLSTATE; empty where it has none.
    pub code: String,
    /// The message, in the system's own words.
    pub message: String,
    /// Whether the statement's effect is known to be undone.
    pub certainty: Certainty,
}

impl SystemError {
    /// One after which what was asked for is undone, unless it is the end of a session that had begun.
    pub fn new(class: ErrorClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        let certainty = match class {
            ErrorClass::LostConnection | ErrorClass::Protocol => Certainty::Unknown,
            _ => Certainty::Undone,
        };
        Self {
            class,
            code: code.into(),
            message: message.into(),
            certainty,
        }
    }

    /// The same, where what was asked for may have been done.
    #[must_use]
    pub fn unknown(self) -> Self {
        Self {
            certainty: Certainty::Unknown,
            ..self
        }
    }

    /// The same words for the end of the session.
    #[must_use]
    pub fn lost(self) -> Self {
        Self {
            class: ErrorClass::LostConnection,
            certainty: Certainty::Unknown,
            ..self
        }
    }

    /// The server spoke against the protocol; `expected` and `found` say how.
    #[must_use]
    pub fn protocol(expected: &str, found: impl std::fmt::Display) -> Self {
        Self::new(
            ErrorClass::Protocol,
            "",
            format!("expected {expected}, the server sent {found}"),
        )
    }
}

impl std::fmt::Display for SystemError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.class.word(), self.message)?;
        if self.code.is_empty() {
            Ok(())
        } else {
            write!(out, " ({})", self.code)
        }
    }
}

impl std::error::Error for SystemError {}
