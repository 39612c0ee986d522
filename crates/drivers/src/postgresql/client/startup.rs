//! Takes the server's messages while a session opens; writes the client's.
//!
//! TLS is requested by a message of eight bytes and answered by one byte outside any message; then follow
//! the startup message, the authentication, the server's parameters, and the session statements in order.
//!
//! Methods of authentication: trust, clear-text password (only over a private connection), MD5, and SCRAM-SHA-256 (RFC
//! 7677, RFC 5802). In SCRAM the server authenticates itself too, and is trusted only after that.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;

use crate::postgresql::client::refusal;
use crate::postgresql::message::{Fields, Message, cold, query, tag};
use crate::{ConnectOptions, ErrorClass, Result, Sender, SystemError};

#[derive(Default)]
pub(crate) struct Startup {
    authentication: Authentication,
    step: Step,
}

#[derive(Clone, Copy, Default)]
enum Step {
    #[default]
    Authentication,
    /// Authenticated: parameters follow, then the server is ready.
    Parameters,
    /// The session statement of this index is running.
    Statement(usize),
}

/// What a session knows about its server.
#[derive(Default)]
pub(crate) struct Server {
    pub version: String,
    pub process_id: u64,
    /// The key with which the session's request can be cancelled.
    pub secret: Vec<u8>,
}

impl Server {
    /// The message that cancels the current request; `None` if the server sent no key.
    pub fn cancel_request(&self) -> Option<Vec<u8>> {
        const CODE: u32 = 80_877_102;
        let process_id = u32::try_from(self.process_id).ok()?;
        let length = u32::try_from(12 + self.secret.len()).ok()?;
        let words = [length, CODE, process_id].map(u32::to_be_bytes);
        let is_known = process_id != 0 && !self.secret.is_empty();
        is_known.then(|| [words.as_flattened(), &self.secret].concat())
    }
}

/// Writes the startup message. Settings keep the server's defaults, except the encoding: scripts and
/// answers are UTF-8.
pub(crate) fn begin(options: &ConnectOptions, out: &mut Vec<u8>) {
    let mut parameters = vec![
        ("user", options.user.as_str()),
        ("client_encoding", "UTF8"),
        ("application_name", "assay"),
    ];
    if !options.database.is_empty() {
        parameters.push(("database", &options.database));
    }
    cold(out, |buffer| frontend::startup_message(parameters, buffer))
        .expect("`PostgresqlWire::new` replaced zero bytes in names");
}

/// Reads the server's one-byte answer to the TLS request; returns whether TLS begins. If not, the session
/// continues unencrypted, if the caller allows it.
pub(crate) fn tls_answer(input: &[u8]) -> Result<bool> {
    match input {
        b"S" => Ok(true),
        // Further bytes would be read as if they had arrived through TLS (CVE-2021-23222).
        [b'S', ..] => Err(SystemError::protocol(
            "TLS to begin",
            "unencrypted bytes before it",
        )),
        [b'N', ..] => Ok(false),
        // The error of an unauthenticated server must not be shown (CVE-2024-10977).
        [b'E', ..] => Err(SystemError::protocol(
            "an answer to the TLS request",
            "an error",
        )),
        _ => {
            let sample = input[..input.len().min(16)].escape_ascii();
            Err(SystemError::protocol(
                "an answer to the TLS request",
                format_args!("\"{sample}\""),
            ))
        }
    }
}

/// Who sends these first bytes, if they are an answer to the TLS request, a request to log in, or an error.
pub(crate) fn sender_of(first: &[u8]) -> Option<Sender> {
    const LONGEST: usize = 64 * 1024;
    let is_answer = match *first {
        [b'S' | b'N'] => true,
        [kind @ (b'R' | b'E'), a, b, c, d, ref rest @ ..] => {
            let is_short = u32::from_be_bytes([a, b, c, d]) as usize <= LONGEST;
            is_short
                && match kind {
                    b'R' => matches!(rest, [0, 0, 0, 0..=12, ..]),
                    // The severity comes first.
                    _ => matches!(rest, [b'S', b'A'..=b'Z', ..]),
                }
        }
        _ => false,
    };
    is_answer.then(|| Sender {
        name: "a PostgreSQL server".to_owned(),
        scheme: Some("postgresql"),
    })
}

impl Startup {
    /// Reads one message; returns whether the session is ready for its first request.
    ///
    /// # Errors
    /// Where the server refuses the session or a session statement.
    pub fn read(
        &mut self,
        message: Message<'_>,
        options: &ConnectOptions,
        server: &mut Server,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        match (message.tag, self.step) {
            (tag::AUTHENTICATION, Step::Authentication) => {
                if self.authentication.read(message.body, options, out)? {
                    self.step = Step::Parameters;
                }
            }
            (tag::PARAMETER_STATUS, _) => {
                let mut fields = Fields(message.body);
                if fields.text()? == b"server_version" {
                    server.version =
                        format!("PostgreSQL {}", String::from_utf8_lossy(fields.text()?));
                }
            }
            (tag::BACKEND_KEY, Step::Parameters) => {
                let mut fields = Fields(message.body);
                server.process_id = u64::from(fields.int32()?.cast_unsigned());
                server.secret = fields.0.to_vec();
            }
            (tag::READY, Step::Parameters) => return self.next_statement(0, options, out),
            (tag::READY, Step::Statement(index)) => {
                return self.next_statement(index + 1, options, out);
            }
            (tag::ERROR, step) => return Err(refusal_of(message.body, step, options)?),
            (tag::NOTICE | tag::NOTIFICATION | tag::NEGOTIATE_VERSION, _) => {}
            (
                tag::ROW_DESCRIPTION | tag::DATA_ROW | tag::COMMAND_COMPLETE | tag::EMPTY_QUERY,
                Step::Statement(_),
            ) => {}
            _ => return Err(message.unexpected("a message that opens the session")),
        }
        Ok(false)
    }

    /// Sends session statement `index`; returns whether all were sent, so that the session is ready.
    fn next_statement(
        &mut self,
        index: usize,
        options: &ConnectOptions,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let Some(text) = options.session_statements.get(index) else {
            return Ok(true);
        };
        query(text, out)?;
        self.step = Step::Statement(index);
        Ok(false)
    }
}

fn refusal_of(body: &[u8], step: Step, options: &ConnectOptions) -> Result<SystemError> {
    let mut error = refusal::read(body)?.error;
    if let Step::Statement(index) = step {
        let text = &options.session_statements[index];
        error.message = format!("session statement \"{text}\": {}", error.message);
    } else if error.code == "3D000" {
        // No such database: the error of a wrong URL.
        error.class = ErrorClass::Authentication;
    }
    Ok(error)
}

/// The state of the authentication.
#[derive(Default)]
pub(crate) enum Authentication {
    /// No exchange of several messages is open.
    #[default]
    Open,
    /// The client's nonce was sent; the server's nonce and salt follow.
    Begun(Box<ScramSha256>),
    /// The client's proof was sent; the server's proof follows.
    Answered(Box<ScramSha256>),
}

impl Authentication {
    /// Reads one authentication message; returns whether the authentication is complete.
    ///
    /// # Errors
    /// Where no password is given but one is needed, the method is not supported, or the server fails
    /// to prove that it knows the password.
    pub fn read(
        &mut self,
        body: &[u8],
        options: &ConnectOptions,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let mut fields = Fields(body);
        let code = fields.int32()?;
        match (code, std::mem::take(self)) {
            (0, Self::Open) => return Ok(true),
            (3, Self::Open) => {
                let password = password(options, "in clear text")?;
                if !options.is_private {
                    return Err(SystemError::in_clear_text());
                }
                cold(out, |buffer| {
                    frontend::password_message(password.as_bytes(), buffer)
                })?;
            }
            (5, Self::Open) => {
                let password = password(options, "as MD5")?;
                let salt = fields.bytes(4)?.try_into().expect("it has four bytes");
                let hash = md5_hash(options.user.as_bytes(), password.as_bytes(), salt);
                cold(out, |buffer| {
                    frontend::password_message(hash.as_bytes(), buffer)
                })?;
            }
            (10, Self::Open) => *self = begin_scram(&mut fields, options, out)?,
            (11, Self::Begun(mut scram)) => {
                scram.update(fields.0).map_err(|error| not_proven(&error))?;
                cold(out, |buffer| {
                    frontend::sasl_response(scram.message(), buffer)
                })?;
                *self = Self::Answered(scram);
            }
            (12, Self::Answered(mut scram)) => {
                scram.finish(fields.0).map_err(|error| not_proven(&error))?;
            }
            (2 | 6 | 7 | 8 | 9, Self::Open) => {
                return Err(SystemError::login(
                    "the server requires Kerberos, GSSAPI or SSPI, which this driver does not support",
                ));
            }
            (code, _) => {
                let found = format_args!("authentication message {code} out of order");
                return Err(SystemError::protocol(
                    "the next step of the authentication",
                    found,
                ));
            }
        }
        Ok(false)
    }
}

/// Starts SCRAM-SHA-256 if it is in the server's list of mechanisms.
fn begin_scram(
    fields: &mut Fields<'_>,
    options: &ConnectOptions,
    out: &mut Vec<u8>,
) -> Result<Authentication> {
    loop {
        match fields.text()? {
            b"" => {
                return Err(SystemError::login(
                    "the server does not offer the authentication mechanism SCRAM-SHA-256",
                ));
            }
            mechanism if mechanism == SCRAM_SHA_256.as_bytes() => break,
            _ => {}
        }
    }
    let password = password(options, "by SCRAM-SHA-256")?;
    let scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
    cold(out, |buffer| {
        frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), buffer)
    })?;
    Ok(Authentication::Begun(Box::new(scram)))
}

fn password<'a>(options: &'a ConnectOptions, how: &str) -> Result<&'a str> {
    options.password.as_deref().ok_or_else(|| {
        SystemError::login(format!(
            "the server requires a password {how} for user \"{}\", but none is given",
            options.user
        ))
    })
}

fn not_proven(error: &std::io::Error) -> SystemError {
    SystemError::login(format!(
        "the server failed SCRAM-SHA-256 authentication: {error}"
    ))
}
