//! Takes the server's messages while a session opens; writes the client's, until the session is ready
//! for the first request: greeting, TLS if requested, authentication, and the session statements.

use crate::mysql::client::authentication::Authentication;
use crate::mysql::client::load::OwnStatement;
use crate::mysql::constants::head;
use crate::mysql::greeting::{Agreement, Greeting};
use crate::mysql::packet::Packets;
use crate::mysql::refusal::Moment;
use crate::mysql::{greeting, refusal};
use crate::{ConnectOptions, ErrorClass, Keep, Progress, Result, SystemError};

/// What is known about the server from its greeting.
#[derive(Default)]
pub(crate) struct Server {
    pub(crate) version: String,
    pub(crate) session_id: u64,
    pub(crate) agreement: Agreement,
}

/// The state of a session that is being opened.
pub(crate) enum Opening {
    /// Waiting for the server's greeting.
    AwaitingGreeting,
    /// The TLS request was sent; the greeting is answered inside TLS.
    TlsRequested(Box<Greeting>),
    Authenticating(Authentication),
    /// The session statement of this index is running.
    Preparing {
        statement: usize,
        own: Box<OwnStatement>,
    },
}

impl Opening {
    /// Takes one message; returns what the caller must do, if anything.
    pub(crate) fn packet(
        &mut self,
        payload: &[u8],
        options: &ConnectOptions,
        server: &mut Server,
        packets: &mut Packets,
        out: &mut Vec<u8>,
    ) -> Result<Option<Progress>> {
        match self {
            Self::AwaitingGreeting => self.greeted(payload, options, server, packets, out),
            Self::TlsRequested(_) => Err(SystemError::protocol(
                "TLS to begin",
                "unencrypted bytes before it",
            )),
            Self::Authenticating(authentication) => match payload.first() {
                Some(&head::OK) => Ok(self.next_statement(0, options, packets, out)),
                Some(&head::ERROR) => Err(refusal::read(payload, Moment::Connecting)),
                _ => {
                    if let Some(proof) = authentication.packet(payload)? {
                        packets.append(out, &proof);
                    }
                    Ok(None)
                }
            },
            Self::Preparing { statement, own } => {
                let statement = *statement;
                match own
                    .packet(payload, server.agreement, packets, out)?
                    .map(|answer| answer.error.take())
                {
                    None => Ok(None),
                    Some(None) => Ok(self.next_statement(statement + 1, options, packets, out)),
                    Some(Some(error)) => {
                        let text = &options.session_statements[statement];
                        let message =
                            format!("{} (in the session statement: {text})", error.message);
                        Err(SystemError { message, ..error })
                    }
                }
            }
        }
    }

    fn greeted(
        &mut self,
        payload: &[u8],
        options: &ConnectOptions,
        server: &mut Server,
        packets: &mut Packets,
        out: &mut Vec<u8>,
    ) -> Result<Option<Progress>> {
        if payload.first() == Some(&head::ERROR) {
            return Err(refusal::read(payload, Moment::Connecting));
        }
        let greeting = Greeting::read(payload)
            .ok_or_else(|| SystemError::malformed("a greeting (handshake version 10)", payload))?;
        if let Some(objection) = greeting.objection() {
            return Err(SystemError::new(ErrorClass::Protocol, "", objection));
        }
        let agreement = greeting.agreement(options.wants_tls, !options.database.is_empty());
        *server = Server {
            version: greeting.name_and_version(),
            session_id: greeting.session_id.into(),
            agreement,
        };
        if !agreement.has_tls() {
            // If TLS was requested but is not offered, the session continues unencrypted if the
            // caller allows it; it is then not private.
            let is_private = options.is_private && !options.wants_tls;
            self.respond(&greeting, is_private, options, agreement, packets, out);
            return Ok(None);
        }
        packets.write(out, |out| greeting::write_tls_request(out, agreement));
        *self = Self::TlsRequested(Box::new(greeting));
        Ok(Some(Progress::StartTls))
    }

    /// TLS is established: the connection is private from now on.
    pub(crate) fn secured(
        &mut self,
        options: &ConnectOptions,
        server: &Server,
        packets: &mut Packets,
        out: &mut Vec<u8>,
    ) {
        if let Self::TlsRequested(greeting) = std::mem::replace(self, Self::AwaitingGreeting) {
            self.respond(&greeting, true, options, server.agreement, packets, out);
        }
    }

    fn respond(
        &mut self,
        greeting: &Greeting,
        is_private: bool,
        options: &ConnectOptions,
        agreement: Agreement,
        packets: &mut Packets,
        out: &mut Vec<u8>,
    ) {
        let password = options.password.as_deref().unwrap_or_default();
        let authentication =
            Authentication::new(&greeting.method, &greeting.nonce, password, is_private);
        packets.write(out, |out| {
            let method = authentication.method_name();
            let proof = authentication.first_proof();
            greeting::write_response(
                out,
                agreement,
                &options.user,
                &options.database,
                method,
                &proof,
            );
        });
        *self = Self::Authenticating(authentication);
    }

    fn next_statement(
        &mut self,
        statement: usize,
        options: &ConnectOptions,
        packets: &mut Packets,
        out: &mut Vec<u8>,
    ) -> Option<Progress> {
        let Some(text) = options.session_statements.get(statement) else {
            return Some(Progress::Ready);
        };
        let own = OwnStatement::send(text, Keep::Count, packets, out);
        *self = Self::Preparing {
            statement,
            own: Box::new(own),
        };
        None
    }
}
