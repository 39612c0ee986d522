//! Takes the server's side of the opening of a session; gives the client's: what the server can do, user and
//! password, the server's version, and the session's own statements.

use crate::mongodb::client::scram::Scram;
use crate::mongodb::client::session::Session;
use crate::mongodb::scan::{Element, Elements, Malformed, kind, subtype};
use crate::mongodb::settings::Mechanism;
use crate::mongodb::write;
use crate::{ConnectOptions, ErrorClass, Result, SystemError};

/// Where the opening stands.
pub(crate) enum Handshake {
    /// The client speaks first.
    Silent,
    HelloSent {
        /// By the name that old servers know it by.
        is_old: bool,
    },
    /// The conversation of the password.
    Scram(Box<Scram>),
    PlainSent,
    VersionAsked,
    /// The session's own statement of this index is under way.
    Statement(usize),
}

/// What the server says of itself.
#[derive(Debug, Default)]
pub(crate) struct Hello {
    pub(crate) connection_id: u64,
    max_wire_version: i64,
    max_message_bytes: Option<usize>,
    max_batch_rows: Option<usize>,
    has_sessions: bool,
    mechanisms: Vec<Mechanism>,
    says_mechanisms: bool,
}

/// Servers since MongoDB 3.6 speak OP_MSG.
const MIN_WIRE_VERSION: i64 = 6;
/// A whole message must have room for the largest document, of 16 MB.
const MIN_MESSAGE_BYTES: usize = 1024 * 1024;

impl Hello {
    pub(crate) fn read(document: &[u8]) -> Result<Self, Malformed> {
        let mut hello = Self::default();
        for element in Elements::of(document)? {
            let element = element?;
            match element.name {
                b"maxWireVersion" => {
                    hello.max_wire_version = element.whole().ok_or(Malformed)?;
                }
                b"maxMessageSizeBytes" => hello.max_message_bytes = size(&element),
                b"maxWriteBatchSize" => hello.max_batch_rows = size(&element),
                b"logicalSessionTimeoutMinutes" => {
                    hello.has_sessions = element.kind != kind::NULL;
                }
                b"connectionId" => {
                    let id = element.whole().unwrap_or(0);
                    hello.connection_id = u64::try_from(id).unwrap_or(0);
                }
                b"saslSupportedMechs" => hello.read_mechanisms(&element)?,
                _ => {}
            }
        }
        Ok(hello)
    }

    fn read_mechanisms(&mut self, element: &Element<'_>) -> Result<(), Malformed> {
        self.says_mechanisms = true;
        for name in element.elements().ok_or(Malformed)?? {
            let name = name?.text().unwrap_or_default();
            let known = Mechanism::ALL
                .iter()
                .find(|(known, _)| known.as_bytes() == name);
            self.mechanisms
                .extend(known.map(|(_, mechanism)| *mechanism));
        }
        Ok(())
    }

    /// Keeps what matters later.
    ///
    /// # Errors
    /// Where the server is too old.
    pub(crate) fn apply(&self, session: &mut Session) -> Result<()> {
        if self.max_wire_version < MIN_WIRE_VERSION {
            let found = format_args!("one of version {}", self.max_wire_version);
            return Err(SystemError::protocol(
                "a server that speaks wire version 6 (MongoDB 3.6) or newer",
                found,
            ));
        }
        if let Some(bytes) = self.max_message_bytes {
            session.max_message_bytes = bytes.clamp(MIN_MESSAGE_BYTES, session.max_message_bytes);
        }
        if let Some(rows) = self.max_batch_rows {
            session.max_batch_rows = rows.clamp(1, session.max_batch_rows);
        }
        if self.has_sessions {
            session.set_id(random_id()?);
        }
        Ok(())
    }

    /// How the password is sent.
    fn mechanism(&self, asked: Option<Mechanism>) -> Result<Mechanism> {
        if let Some(mechanism) = asked {
            return Ok(mechanism);
        }
        let best = Mechanism::ALL
            .iter()
            .map(|(_, mechanism)| *mechanism)
            .find(|mechanism| self.mechanisms.contains(mechanism));
        match best {
            Some(mechanism) => Ok(mechanism),
            // It does not know the user, or does not tell whom it knows.
            None if !self.says_mechanisms || self.mechanisms.is_empty() => {
                Ok(Mechanism::ScramSha256)
            }
            None => Err(SystemError::login(
                "the server offers none of SCRAM-SHA-256, SCRAM-SHA-1 and PLAIN",
            )),
        }
    }
}

fn size(element: &Element<'_>) -> Option<usize> {
    usize::try_from(element.whole()?).ok()
}

/// Whether user and password are sent: a server without users needs none.
fn has_password(options: &ConnectOptions) -> bool {
    !options.user.is_empty() && options.password.is_some()
}

/// Where the user is declared.
fn auth_source(session: &Session, mechanism: Option<Mechanism>) -> String {
    let default = match mechanism {
        Some(Mechanism::Plain) => "$external",
        _ => "admin",
    };
    let asked = session.settings.auth_source.as_deref();
    asked.unwrap_or(default).to_owned()
}

/// The first message.
pub(crate) fn hello(
    is_old: bool,
    options: &ConnectOptions,
    session: &mut Session,
    out: &mut Vec<u8>,
) {
    let user = has_password(options).then(|| {
        let source = auth_source(session, session.settings.mechanism);
        format!("{source}.{}", options.user)
    });
    session.send_to_admin("admin", 0, out, |out| {
        write::int32_element(if is_old { "isMaster" } else { "hello" }, 1, out);
        write::document_element("client", out, |out| {
            write::document_element("driver", out, |out| {
                write::string_element("name", "assay", out);
                write::string_element("version", env!("CARGO_PKG_VERSION"), out);
            });
            write::document_element("os", out, |out| {
                write::string_element("type", std::env::consts::OS, out);
            });
        });
        if let Some(user) = user {
            write::string_element("saslSupportedMechs", &user, out);
        }
    });
}

/// What follows the server's hello: the password, or the question for the version.
pub(crate) fn authenticate(
    hello: &Hello,
    options: &ConnectOptions,
    session: &mut Session,
    out: &mut Vec<u8>,
) -> Result<Handshake> {
    let Some(password) = options
        .password
        .as_deref()
        .filter(|_| has_password(options))
    else {
        return Ok(ask_version(session, out));
    };
    let mechanism = hello.mechanism(session.settings.mechanism)?;
    let (next, payload) = match mechanism {
        Mechanism::Plain if !options.is_private => {
            return Err(SystemError::in_clear_text());
        }
        Mechanism::Plain => {
            let payload = format!("\0{}\0{password}", options.user).into_bytes();
            (Handshake::PlainSent, payload)
        }
        _ => {
            let nonce = nonce()?;
            let (scram, payload) = Scram::begin(mechanism, &options.user, password, nonce)?;
            (Handshake::Scram(Box::new(scram)), payload)
        }
    };
    let source = auth_source(session, Some(mechanism));
    session.send_to_admin(&source, 0, out, |out| {
        write::int32_element("saslStart", 1, out);
        write::string_element("mechanism", mechanism.name(), out);
        write::binary_element("payload", subtype::GENERIC, &payload, out);
        write::document_element("options", out, |out| {
            write::bool_element("skipEmptyExchange", true, out);
        });
    });
    Ok(next)
}

/// Takes the server's message of the password's conversation; says whether the client is accepted.
pub(crate) fn step(
    scram: &mut Scram,
    document: &[u8],
    session: &mut Session,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let malformed = |_| crate::mongodb::client::reply::malformed(document);
    let (mut payload, mut conversation, mut is_done) = (&b""[..], 1, false);
    for element in Elements::of(document).map_err(malformed)? {
        let element = element.map_err(malformed)?;
        match element.name {
            b"payload" => payload = element.binary().unwrap_or_default().1,
            b"conversationId" => conversation = element.whole().unwrap_or(1),
            b"done" => is_done = element.whole() == Some(1),
            _ => {}
        }
    }
    let answer = scram.answer(payload)?;
    if is_done && scram.is_proven {
        return Ok(true);
    }
    if is_done {
        return Err(SystemError::login(
            "the server ended SCRAM authentication before it proved that it knows the password",
        ));
    }
    let source = auth_source(session, None);
    session.send_to_admin(&source, 0, out, |out| {
        write::int32_element("saslContinue", 1, out);
        let conversation = i32::try_from(conversation).unwrap_or(1);
        write::int32_element("conversationId", conversation, out);
        write::binary_element("payload", subtype::GENERIC, &answer, out);
    });
    Ok(false)
}

pub(crate) fn ask_version(session: &mut Session, out: &mut Vec<u8>) -> Handshake {
    session.send_to_admin("admin", 0, out, |out| {
        write::int32_element("buildInfo", 1, out);
    });
    Handshake::VersionAsked
}

/// The server's name and version. What FerretDB calls its version is that of the MongoDB whose commands it has;
/// its own is in a field of its own name.
pub(crate) fn version(document: &[u8]) -> Result<String, Malformed> {
    let mut version = format!("MongoDB {}", version_field(Elements::of(document)?)?);
    for element in Elements::of(document)? {
        let element = element?;
        if let (b"ferretdb", Some(own)) = (element.name, element.elements()) {
            let own = version_field(own?)?;
            version = format!("FerretDB {}", own.trim_start_matches('v'));
        }
    }
    Ok(version)
}

fn version_field(elements: Elements<'_>) -> Result<String, Malformed> {
    for element in elements {
        let element = element?;
        if element.name == b"version" {
            return Ok(element.text_lossy().unwrap_or_default());
        }
    }
    Ok(String::new())
}

/// A UUID of version 4.
fn random_id() -> Result<[u8; 16]> {
    let mut id = [0; 16];
    fill(&mut id)?;
    id[6] = id[6] & 0x0F | 0x40;
    id[8] = id[8] & 0x3F | 0x80;
    Ok(id)
}

fn nonce() -> Result<String> {
    let mut bytes = [0; 24];
    fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| {
        let message = format!("the operating system has no random bytes: {error}");
        SystemError::new(ErrorClass::Other, "", message)
    })
}

#[cfg(test)]
mod tests {
    use super::{Malformed, version};
    use crate::mongodb::write;

    #[test]
    fn a_server_with_a_version_of_its_own_is_not_taken_for_the_one_whose_commands_it_has() {
        let mut reply = Vec::new();
        write::document(&mut reply, |out| {
            write::string_element("version", "7.0.77", out);
        });
        assert_eq!(version(&reply).ok().as_deref(), Some("MongoDB 7.0.77"));
        reply.clear();
        write::document(&mut reply, |out| {
            write::string_element("version", "7.0.77", out);
            write::document_element("ferretdb", out, |out| {
                write::string_element("package", "unknown", out);
                write::string_element("version", "v2.7.0", out);
            });
        });
        assert_eq!(version(&reply).ok().as_deref(), Some("FerretDB 2.7.0"));
        assert_eq!(version(&reply[1..]), Err(Malformed));
    }
}
