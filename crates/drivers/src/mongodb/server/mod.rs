//! Takes the messages a client sends; gives the statements in them, and writes the server's answers: the other
//! side of [`MongodbWire`](super::MongodbWire).
//!
//! It accepts every password in clear text, and has sessions and transactions. The documents of its answers have
//! one field, the row's number.

pub(crate) mod reply;
pub(crate) mod request;

use crate::mongodb::message;
use crate::mongodb::message::flag;
use crate::mongodb::server::request::{Asked, Form};
use crate::null::{ResultSize, Statement};
use crate::{ErrorClass, Result, ServerEvent, SystemError, WireServer};

/// The server's side of one session.
pub struct MongodbServer {
    admission: Result<u32>,
    is_over: bool,
    /// The statement under way, and the form of its answer.
    running: Option<(Statement, Form)>,
    /// The message that is answered, and the id of the next answer.
    response_to: i32,
    next_id: i32,
    namespace: String,
    batch_size: Option<u64>,
    /// What is left of the last answer in batches, by the id of its cursor.
    cursor: (i64, ResultSize),
}

const COMMAND_NOT_FOUND: i32 = 59;
const CURSOR_NOT_FOUND: i32 = 43;
const AUTHENTICATION_FAILED: i32 = 18;
const NO_PASSWORDS: &str = "the null server knows no passwords, and SCRAM needs one that does: \
                            use authMechanism=PLAIN, or no user";

impl MongodbServer {
    /// `admission` is the session's number, or the reason for which it is refused.
    pub fn new(admission: Result<u32>) -> Self {
        Self {
            admission,
            is_over: false,
            running: None,
            response_to: 0,
            next_id: 0,
            namespace: String::new(),
            batch_size: None,
            cursor: (0, ResultSize::default()),
        }
    }

    /// Takes one message; says whether a statement is to be executed.
    #[inline]
    fn message(&mut self, message: &message::Message<'_>, out: &mut Vec<u8>) -> Result<bool> {
        let command = request::read(message).map_err(reply::malformed)?;
        self.response_to = message.id;
        if let Err(refusal) = self.admission.clone() {
            self.send(out, |out| reply::error(&refusal, out));
            self.is_over = true;
            return Ok(false);
        }
        let is_answered = message.flags & flag::MORE_TO_COME == 0;
        match command.asked {
            Asked::Statement(statement, form) if is_answered => {
                self.namespace = command.namespace;
                self.batch_size = command.batch_size;
                self.running = Some((statement, form));
                return Ok(true);
            }
            Asked::Goodbye => {
                self.is_over = true;
                if is_answered {
                    self.send(out, reply::ok);
                }
            }
            // The client does not wait for an answer.
            _ if !is_answered => {}
            Asked::Hello => {
                let connection = self.admission.clone().unwrap_or(0);
                self.send(out, |out| reply::hello(connection, out));
            }
            Asked::Version => self.send(out, reply::version),
            Asked::Authentication => self.send(out, reply::accepted),
            Asked::Scram => self.send(out, |out| {
                reply::failure(AUTHENTICATION_FAILED, NO_PASSWORDS, out);
            }),
            Asked::NoDocuments => {
                let mut none = ResultSize::default();
                self.namespace = command.namespace;
                self.batch("firstBatch", &mut none, out);
            }
            Asked::NoDatabases => self.send(out, reply::no_databases),
            Asked::Nothing => self.send(out, reply::ok),
            Asked::More(id) if id == self.cursor.0 && self.cursor.1.rows > 0 => {
                self.batch_size = command.batch_size;
                let mut rest = self.cursor.1;
                self.batch("nextBatch", &mut rest, out);
            }
            Asked::More(id) => self.send(out, |out| {
                reply::failure(CURSOR_NOT_FOUND, &format!("cursor id {id} not found"), out);
            }),
            Asked::Unknown(name) => self.send(out, |out| {
                reply::failure(
                    COMMAND_NOT_FOUND,
                    &format!("no such command: '{name}'"),
                    out,
                );
            }),
            Asked::Statement(..) => {}
        }
        Ok(false)
    }

    /// Sends an answer with these fields.
    #[inline]
    fn send(&mut self, out: &mut Vec<u8>, fields: impl FnOnce(&mut Vec<u8>)) {
        self.next_id = self.next_id.wrapping_add(1);
        let start = message::begin(self.next_id, self.response_to, 0, out);
        fields(out);
        message::end_body(start, out);
        message::end(start, out);
    }

    /// Sends one batch, and keeps what is left.
    fn batch(&mut self, name: &str, given: &mut ResultSize, out: &mut Vec<u8>) {
        let namespace = std::mem::take(&mut self.namespace);
        let (batch_size, id) = (self.batch_size, self.cursor.0 + 1);
        self.send(out, |out| {
            reply::batch(name, batch_size, id, &namespace, given, out);
        });
        self.namespace = namespace;
        self.cursor = (id, *given);
        given.rows = 0;
    }
}

impl WireServer for MongodbServer {
    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, ServerEvent<'_>)> {
        let mut used = 0;
        let mut executes = false;
        while !executes {
            if self.is_over {
                return Ok((used, ServerEvent::Over));
            }
            let next = message::next(&input[used..]).map_err(SystemError::of_client)?;
            let Some((size, message)) = next else {
                return Ok((used, ServerEvent::More));
            };
            used += size;
            executes = self.message(&message, out)?;
        }
        match &self.running {
            Some((statement, _)) => Ok((used, ServerEvent::Execute(statement))),
            None => Ok((used, ServerEvent::More)),
        }
    }

    #[inline]
    fn answer(&mut self, given: &mut ResultSize, out: &mut Vec<u8>) -> bool {
        let Some((_, form)) = self.running.take() else {
            return true;
        };
        match form {
            Form::Batches => self.batch("firstBatch", given, out),
            Form::Count => {
                let number = given.first;
                self.send(out, |out| reply::count(number, out));
            }
            Form::Written => {
                let number = given.affected;
                self.send(out, |out| reply::count(number, out));
            }
            Form::Modified => self.send(out, |out| reply::modified(given, out)),
            Form::Plain => self.send(out, reply::ok),
        }
        true
    }

    fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>) {
        self.running = None;
        self.is_over = error.class.ends_the_session();
        match error.class {
            ErrorClass::Protocol => self.send(out, |out| reply::failure(1, &error.message, out)),
            _ => self.send(out, |out| reply::error(error, out)),
        }
    }
}
