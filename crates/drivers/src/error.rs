//! Errors of the system under test, as data: a class that the engine acts on, and the server's message; and an option that a driver
//! cannot take.

use assay_values::ErrorClass;

/// Whether a failed statement may have taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// It had no effect, or its effect was rolled back.
    Undone,
    /// It may have taken effect: the session was lost before the answer arrived, or the system does not know.
    Unknown,
}

/// An error of the system: `code` (an SQLSTATE, a number) and `message` are the system's own. The driver
/// decides whether the statement may have taken effect; errors of one class can differ in that.
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
    /// An error of a statement without effect; of unknown effect where the class means a lost session.
    pub fn new(class: ErrorClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        let certainty = match class {
            ErrorClass::LostConnection | ErrorClass::Protocol | ErrorClass::WrongStatement => {
                Certainty::Unknown
            }
            _ => Certainty::Undone,
        };
        Self {
            class,
            code: code.into(),
            message: message.into(),
            certainty,
        }
    }

    /// The same error, where the statement may have taken effect.
    #[must_use]
    pub fn unknown(self) -> Self {
        Self {
            certainty: Certainty::Unknown,
            ..self
        }
    }

    /// The same error as the reason for which the session was lost.
    #[must_use]
    pub fn lost(self) -> Self {
        Self {
            class: ErrorClass::LostConnection,
            certainty: Certainty::Unknown,
            ..self
        }
    }

    /// A request that the session cannot take, or not now: a mistake on our side of the wire.
    #[cold]
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Other, "", message)
    }

    /// The user is not let in, or the server does not prove that it knows the password.
    #[cold]
    pub(crate) fn login(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Authentication, "", message)
    }

    /// The password is not sent in clear text over a session that is not private.
    #[cold]
    pub(crate) fn in_clear_text() -> Self {
        let message = "the server requires the password in clear text, which is sent only where TLS is required";
        Self::new(ErrorClass::Authentication, "clear text", message)
    }

    /// A statement was given more or fewer values than it has.
    #[cold]
    pub(crate) fn wrong_count(expected: usize, found: usize) -> Self {
        let message = format!("the statement has {expected} values, {found} were given");
        Self::new(ErrorClass::Data, "", message)
    }

    /// A library's statement was given more or fewer values than it has parameters.
    #[cold]
    pub(crate) fn wrong_parameters(expected: usize, found: usize) -> Self {
        let message = format!("the statement takes {expected} parameters, {found} were given");
        Self::new(ErrorClass::Data, "", message)
    }

    /// The caller aborted a load.
    #[cold]
    pub(crate) fn load_aborted(reason: &str) -> Self {
        Self::refused(format!("the load was aborted: {reason}"))
    }

    /// Bytes of the server that end too early, or are not what was `expected`.
    #[cold]
    pub(crate) fn malformed(expected: &str, bytes: &[u8]) -> Self {
        let start = &bytes[..bytes.len().min(16)];
        let more = if bytes.len() > start.len() {
            " …"
        } else {
            ""
        };
        Self::protocol(
            expected,
            format_args!("{} bytes: {start:02x?}{more}", bytes.len()),
        )
    }

    /// The same violation of the protocol, by a client.
    pub(crate) fn of_client(self) -> Self {
        let message = self.message.replace("the server sent", "the client sent");
        Self { message, ..self }
    }

    /// The error as that of a statement, after which the session goes on.
    ///
    /// # Errors
    /// Where it ends the session.
    pub(crate) fn of_statement(self) -> Result<Self, Self> {
        match self.class.ends_the_session() {
            true => Err(self),
            false => Ok(self),
        }
    }

    /// The server violated the protocol: it sent `found` instead of `expected`.
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

/// Its parts are kept apart, because callers may know the option by another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongOption {
    /// As the driver calls it.
    pub name: String,
    /// Its value; `None` where the driver has no such option.
    pub found: Option<String>,
    /// What the value can be; of an unknown option, the names that there are.
    pub expected: String,
}

impl WrongOption {
    /// A value that the option cannot have.
    pub fn value(name: &str, found: &str, expected: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            found: Some(found.to_owned()),
            expected: expected.into(),
        }
    }

    /// What the value means, which is one of the words that are known.
    pub(crate) fn one_of<T: Copy>(name: &str, value: &str, known: &[(&str, T)]) -> Result<T, Self> {
        let found = known.iter().find(|(word, _)| *word == value);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            Self::value(name, value, format!("one of {}", words.join(", ")))
        })
    }

    /// An option that the driver does not have.
    pub fn unknown(name: &str, known: &str) -> Self {
        Self {
            name: name.to_owned(),
            found: None,
            expected: known.to_owned(),
        }
    }
}

impl std::fmt::Display for WrongOption {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, expected, .. } = self;
        match &self.found {
            Some(found) => write!(out, "option {name}: expected {expected}, found {found:?}"),
            None => write!(out, "unknown option {name:?}, expected one of {expected}"),
        }
    }
}

impl std::error::Error for WrongOption {}
