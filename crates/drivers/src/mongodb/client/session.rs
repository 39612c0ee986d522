//! Takes commands; gives their messages with what belongs to every command of the session: its id, its
//! transaction, write and read concern, the database.

use assay_values::Value;

use crate::mongodb::client::command::{Command, CommandKind, Envelope, WriteExtent};
use crate::mongodb::client::reply::Moment;
use crate::mongodb::message::{MAX_MESSAGE_BYTES, flag};
use crate::mongodb::scan::{kind, subtype};
use crate::mongodb::settings::Settings;
use crate::mongodb::{message, write};
use crate::{ErrorClass, Result, SystemError, TransactionStatus};

pub(crate) struct Session {
    pub(crate) settings: Settings,
    database: String,
    /// The field `$db`.
    database_field: Vec<u8>,
    write_concern: Vec<u8>,
    read_concern: Vec<u8>,
    /// The field `lsid`; empty where the server has no sessions.
    session_field: Vec<u8>,
    session_id: Option<[u8; 16]>,
    /// Of the request that was sent last: answers name it.
    pub(crate) last_request: i32,
    transaction: Transaction,
    transaction_number: i64,
    /// What servers read at most in one message, and take at most in one insert.
    pub(crate) max_message_bytes: usize,
    pub(crate) max_batch_rows: usize,
    /// Memory for the places of lengths.
    open: Vec<usize>,
}

/// The server hears of a transaction with its first command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transaction {
    None,
    Begun,
    Open,
    /// A command failed: it can only be rolled back.
    Failed,
}

impl Session {
    pub(crate) fn new(settings: Settings, database: &str) -> Self {
        let database = if database.is_empty() {
            "test"
        } else {
            database
        };
        let mut database_field = Vec::new();
        write::string_element("$db", database, &mut database_field);
        Self {
            database: database.to_owned(),
            database_field,
            write_concern: settings.write_concern(),
            read_concern: settings.read_concern(),
            settings,
            session_field: Vec::new(),
            session_id: None,
            last_request: 0,
            transaction: Transaction::None,
            transaction_number: 0,
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_batch_rows: 100_000,
            open: Vec::new(),
        }
    }

    /// The server has sessions: this one has the id.
    pub(crate) fn set_id(&mut self, id: [u8; 16]) {
        self.session_field.clear();
        write::document_element("lsid", &mut self.session_field, |out| {
            write::binary_element("id", subtype::UUID, &id, out);
        });
        self.session_id = Some(id);
    }

    pub(crate) fn id(&self) -> Option<[u8; 16]> {
        self.session_id
    }

    pub(crate) fn status(&self) -> TransactionStatus {
        match self.transaction {
            Transaction::None => TransactionStatus::None,
            Transaction::Begun | Transaction::Open => TransactionStatus::Open,
            Transaction::Failed => TransactionStatus::Failed,
        }
    }

    /// What a command that fails now means.
    pub(crate) fn moment(&self, kind: CommandKind) -> Moment {
        match (kind, self.transaction) {
            (CommandKind::Commit, _) => Moment::Commit,
            (_, Transaction::Begun | Transaction::Open) => Moment::InTransaction,
            (CommandKind::UnorderedWrite(reach), _) => Moment::UnorderedWrite(reach),
            (CommandKind::Write(reach), _) => Moment::Write(reach),
            (CommandKind::BulkWrite | CommandKind::WritingQuery, _) => {
                Moment::Write(WriteExtent::SeveralDocuments)
            }
            (kind, _) if kind.is_read() => Moment::Read,
            _ => Moment::Write(WriteExtent::OneDocument),
        }
    }

    /// Sends a compiled command.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        command: &Command,
        values: &[Value],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut open = std::mem::take(&mut self.open);
        let sent = self.send(command.kind, command.has, out, |out| {
            command.write(values, &mut open, out)
        });
        self.open = open;
        sent
    }

    /// Sends a command whose fields `fields` appends.
    #[inline]
    pub(crate) fn send(
        &mut self,
        kind: CommandKind,
        has: Envelope,
        out: &mut Vec<u8>,
        fields: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let start = self.begin_message(0, out);
        let written = fields(out);
        if let Err(error) = written {
            out.truncate(start);
            return Err(error);
        }
        self.envelope(kind, has, out);
        message::end_body(start, out);
        self.end_message(start, out)
    }

    /// Sends a command of the driver's own to the database `admin`, outside of any transaction.
    pub(crate) fn send_to_admin(
        &mut self,
        database: &str,
        flags: u32,
        out: &mut Vec<u8>,
        fields: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = self.begin_message(flags, out);
        fields(out);
        write::string_element("$db", database, out);
        message::end_body(start, out);
        message::end(start, out);
    }

    /// The head of a message of the next id; gives where it begins.
    #[inline]
    pub(crate) fn begin_message(&mut self, flags: u32, out: &mut Vec<u8>) -> usize {
        self.last_request = self.last_request.wrapping_add(1);
        message::begin(self.last_request, 0, flags, out)
    }

    /// # Errors
    /// Where the message is longer than the server reads: nothing of it stays.
    #[inline]
    pub(crate) fn end_message(&mut self, start: usize, out: &mut Vec<u8>) -> Result<()> {
        let bytes = out.len() - start;
        if bytes > self.max_message_bytes {
            out.truncate(start);
            return Err(too_long(bytes, self.max_message_bytes));
        }
        message::end(start, out);
        Ok(())
    }

    /// Appends what belongs to a command besides its own fields.
    #[inline]
    pub(crate) fn envelope(&mut self, kind: CommandKind, has: Envelope, out: &mut Vec<u8>) {
        if !has.session {
            out.extend_from_slice(&self.session_field);
        }
        match self.transaction {
            Transaction::None => {
                if kind.is_write() && !has.write_concern {
                    out.extend_from_slice(&self.write_concern);
                }
                if kind.is_read() && !has.read_concern {
                    out.extend_from_slice(&self.read_concern);
                }
            }
            transaction => {
                if transaction == Transaction::Begun {
                    write::bool_element("startTransaction", true, out);
                    if !has.read_concern {
                        out.extend_from_slice(&self.read_concern);
                    }
                    self.transaction = Transaction::Open;
                }
                write::int64_element("txnNumber", self.transaction_number, out);
                write::bool_element("autocommit", false, out);
            }
        }
        if !has.database {
            out.extend_from_slice(&self.database_field);
        }
    }

    /// The next batch of a cursor.
    pub(crate) fn get_more(
        &mut self,
        cursor: i64,
        namespace: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let namespace = String::from_utf8_lossy(namespace);
        let (database, collection) = namespace
            .split_once('.')
            .unwrap_or((&self.database, &namespace));
        let batch_size = self.settings.batch_size;
        let has = Envelope {
            database: true,
            read_concern: true,
            ..Envelope::default()
        };
        let database = database.to_owned();
        self.send(CommandKind::Query, has, out, |out| {
            write::int64_element("getMore", cursor, out);
            write::string_element("collection", collection, out);
            if let Some(rows) = batch_size {
                write::int32_element("batchSize", rows, out);
            }
            write::string_element("$db", &database, out);
            Ok(())
        })
    }

    /// Begins a transaction: nothing is sent.
    ///
    /// # Errors
    /// Where the server has none, or one is open.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if self.session_id.is_none() {
            let message = "the server has no sessions, and so no transactions";
            return Err(SystemError::new(ErrorClass::Syntax, "", message));
        }
        if self.transaction != Transaction::None {
            let message = "a transaction is open already";
            return Err(SystemError::new(ErrorClass::Syntax, "", message));
        }
        self.transaction_number += 1;
        self.transaction = Transaction::Begun;
        Ok(())
    }

    /// Ends the transaction; says whether the server must hear of it.
    pub(crate) fn end(&mut self, kind: CommandKind, out: &mut Vec<u8>) -> Result<bool> {
        if matches!(self.transaction, Transaction::None | Transaction::Begun) {
            self.transaction = Transaction::None;
            return Ok(false);
        }
        let name = match kind {
            CommandKind::Commit => "commitTransaction",
            _ => "abortTransaction",
        };
        let has = Envelope {
            database: true,
            ..Envelope::default()
        };
        let write_concern = self.write_concern.clone();
        self.send(kind, has, out, |out| {
            write::int32_element(name, 1, out);
            out.extend_from_slice(&write_concern);
            write::string_element("$db", "admin", out);
            Ok(())
        })?;
        self.transaction = Transaction::None;
        Ok(true)
    }

    /// A command failed: the server has given its transaction up, if there was one.
    pub(crate) fn failed(&mut self) {
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
    }

    /// Ends the session on the server, which does not answer.
    pub(crate) fn terminate(&mut self, out: &mut Vec<u8>) {
        let Some(id) = self.session_id else { return };
        self.send_to_admin("admin", flag::MORE_TO_COME, out, |out| {
            write::head(kind::ARRAY, b"endSessions", out);
            write::document(out, |out| {
                write::document_element("0", out, |out| {
                    write::binary_element("id", subtype::UUID, &id, out);
                });
            });
        });
    }
}

#[cold]
fn too_long(found: usize, most: usize) -> SystemError {
    let message = format!("the command has {found} bytes, the server takes {most} in one message");
    SystemError::new(ErrorClass::Data, "", message)
}
