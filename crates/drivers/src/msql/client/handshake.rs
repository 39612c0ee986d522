//! Takes the server's packets while a session opens; sends the client's name, chooses the database and runs
//! the session statements.

use crate::msql::client::reply::{Reply, Results};
use crate::msql::packet::{MAX_SENT_BYTES, command};
use crate::msql::refusal::Moment;
use crate::msql::{packet, refusal};
use crate::{Answer, ConnectOptions, ErrorClass, Keep, Result, Sender, SystemError};

/// Protocol versions before this one have other packets.
const LEAST_PROTOCOL: i64 = 4;

/// The state of a session that is being opened.
pub(crate) enum Handshake {
    /// The server speaks first.
    Greeting,
    /// The client's name was sent.
    Named,
    /// The database was chosen.
    Chosen,
    /// The session statement of this index is running.
    Preparing { statement: usize, results: Results },
}

impl Handshake {
    /// Takes one packet; returns whether the session is open.
    pub(crate) fn packet(
        &mut self,
        text: &[u8],
        options: &ConnectOptions,
        version: &mut String,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        match self {
            Self::Greeting => {
                *version = greeting(text)?;
                packet::write(out, |out| {
                    out.extend_from_slice(line(&options.user).as_bytes());
                    out.push(b'\n');
                });
                *self = Self::Named;
                Ok(false)
            }
            Self::Named => {
                accepted(text)?;
                choose(&options.database, out);
                *self = Self::Chosen;
                Ok(false)
            }
            Self::Chosen => {
                accepted(text)?;
                self.next_statement(0, options, out)
            }
            Self::Preparing { statement, results } => {
                let mut answer = Answer::new(Keep::Count);
                if !results.packet(text, &mut answer)? {
                    return Ok(false);
                }
                let statement = *statement;
                match answer.error {
                    None => self.next_statement(statement + 1, options, out),
                    Some(error) => {
                        let text = &options.session_statements[statement];
                        let message =
                            format!("{} (in the session statement: {text})", error.message);
                        Err(SystemError { message, ..error })
                    }
                }
            }
        }
    }

    fn next_statement(
        &mut self,
        statement: usize,
        options: &ConnectOptions,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let Some(text) = options.session_statements.get(statement) else {
            return Ok(true);
        };
        if text.len() > MAX_SENT_BYTES - command::QUERY.len() {
            return Err(refusal::unsendable(
                "a session statement is too long for mSQL",
            ));
        }
        packet::send(command::QUERY, text.as_bytes(), out);
        *self = Self::Preparing {
            statement,
            results: Results::Head,
        };
        Ok(false)
    }
}

/// Chooses the database. The server's reply is short, so it also serves where some answer is needed.
pub(crate) fn choose(database: &str, out: &mut Vec<u8>) {
    packet::send(command::DATABASE, line(database).as_bytes(), out);
}

/// A name as the protocol can send it: a zero byte or the end of a line would end it.
fn line(name: &str) -> String {
    name.replace(['\0', '\n', '\r'], "\u{fffd}")
}

fn greeting(text: &[u8]) -> Result<String> {
    match Reply::read(text) {
        Reply::Greeting { protocol, version } if protocol >= LEAST_PROTOCOL => {
            Ok(format!("mSQL {}", String::from_utf8_lossy(version).trim()))
        }
        Reply::Greeting { protocol, .. } => Err(SystemError::new(
            ErrorClass::Protocol,
            "",
            format!(
                "expected an mSQL server with protocol {LEAST_PROTOCOL} or later, found protocol {protocol}"
            ),
        )),
        Reply::Error(message) => Err(refusal::read(message, Moment::Connecting)),
        _ => Err(refusal::malformed("the greeting of an mSQL server", text)),
    }
}

/// Who sends these first bytes, if they are a greeting.
pub(crate) fn sender_of(first: &[u8]) -> Option<Sender> {
    let (_, text) = packet::read(first).ok()??;
    let is_greeting = matches!(Reply::read(text), Reply::Greeting { .. }) && text.is_ascii();
    is_greeting.then(|| Sender {
        name: "an mSQL server".to_owned(),
        scheme: Some("msql"),
    })
}

fn accepted(text: &[u8]) -> Result<()> {
    match Reply::read(text) {
        Reply::Done => Ok(()),
        Reply::Error(message) => {
            let error = refusal::read(message, Moment::Connecting);
            let class = match error.class {
                ErrorClass::Other => ErrorClass::Authentication,
                class => class,
            };
            Err(SystemError { class, ..error })
        }
        _ => Err(refusal::malformed("the session to be accepted", text)),
    }
}
