//! Takes the text of a command; compiles it once to the bytes of its document, with places for the values, so that
//! an execution only copies bytes and writes values.

use assay_values::{Piece, Value};

use crate::mongodb::client::extended::{Json, SlotType};
use crate::mongodb::client::{bind, extended};
use crate::mongodb::scan::kind;
use crate::mongodb::settings::Settings;
use crate::mongodb::write;
use crate::{ErrorClass, Result, SystemError};

/// What the answer of a command holds, and what belongs to its envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandKind {
    /// Documents, in batches.
    Query,
    /// A document or a number, by a command that reads.
    Read,
    /// The number of documents that were changed.
    Write(WriteExtent),
    /// The same, where an error does not keep the server from the documents behind it.
    UnorderedWrite(WriteExtent),
    /// Writes of several collections; each has its own answer among the documents.
    BulkWrite,
    /// A pipeline that ends in `$out` or `$merge`.
    WritingQuery,
    /// One document, which was changed.
    FindAndModify,
    /// Whatever else there is.
    Other,
    /// Answered by the driver, or sent with what a transaction needs.
    Begin,
    Commit,
    Abort,
}

impl CommandKind {
    fn named(name: &str) -> Self {
        match name {
            "find" | "aggregate" => Self::Query,
            "count" | "distinct" => Self::Read,
            "insert" | "update" | "delete" => Self::Write(WriteExtent::OneDocument),
            "bulkWrite" => Self::BulkWrite,
            "findAndModify" | "findandmodify" => Self::FindAndModify,
            "startTransaction" => Self::Begin,
            "commitTransaction" => Self::Commit,
            "abortTransaction" => Self::Abort,
            _ => Self::Other,
        }
    }

    pub(crate) fn is_write(self) -> bool {
        matches!(
            self,
            Self::Write(_)
                | Self::UnorderedWrite(_)
                | Self::BulkWrite
                | Self::WritingQuery
                | Self::FindAndModify
        )
    }

    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Query | Self::WritingQuery | Self::Read)
    }
}

/// What a write may have changed where it ends with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteExtent {
    /// Nothing: a document is changed whole or not at all.
    OneDocument,
    /// The documents of the statements before the one that failed.
    SeveralStatements,
    /// Any of the documents: one statement changes several, one after the other.
    SeveralDocuments,
}

impl WriteExtent {
    /// Of `insert`, `update` or `delete` with these fields.
    fn of(fields: &[(Box<str>, Json)]) -> Self {
        let field = |name: &str| {
            let found = fields.iter().find(|(known, _)| &**known == name);
            found.map(|(_, value)| value)
        };
        let statements = ["documents", "updates", "deletes"];
        let Some(Json::Array(statements)) = statements.into_iter().find_map(field) else {
            // They come with the values.
            return Self::SeveralDocuments;
        };
        if statements.iter().any(changes_several) {
            Self::SeveralDocuments
        } else if statements.len() > 1 {
            Self::SeveralStatements
        } else {
            Self::OneDocument
        }
    }
}

/// Whether an update with `multi` or a delete without a limit; a value that is bound later may be either. A document of
/// an insert with such a field of its own counts as well: that is rare, and only less is known then.
fn changes_several(statement: &Json) -> bool {
    let Json::Object(fields) = statement else {
        return false;
    };
    fields.iter().any(|(name, value)| match &**name {
        "multi" => *value != Json::Bool(false),
        "limit" => *value != Json::Int(1),
        _ => false,
    })
}

fn writes_its_result(fields: &[(Box<str>, Json)]) -> bool {
    let is_writing = |stage: &Json| match stage {
        Json::Object(stage) => stage
            .iter()
            .any(|(name, _)| matches!(&**name, "$out" | "$merge")),
        _ => false,
    };
    fields.iter().any(|(name, value)| match value {
        Json::Array(stages) if &**name == "pipeline" => stages.last().is_some_and(is_writing),
        _ => false,
    })
}

/// A compiled command.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) kind: CommandKind,
    /// Fields of the envelope that the text has itself.
    pub(crate) has: Envelope,
    bytes: Vec<u8>,
    names: Vec<u8>,
    parts: Vec<Part>,
    slots: usize,
}

/// Fields that the driver adds to every command that does not have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) database: bool,
    pub(crate) session: bool,
    pub(crate) write_concern: bool,
    pub(crate) read_concern: bool,
}

#[derive(Debug)]
enum Part {
    /// The bytes up to this offset.
    Copy(usize),
    /// A document or an array begins, whose length is known only at its end.
    Open,
    Close,
    Slot {
        /// Where its name is.
        name: (usize, usize),
        number: usize,
        slot_type: SlotType,
    },
}

/// Fields of a load that are the driver's, not the server's.
pub(crate) const LOAD_FIELDS: &str = "fields";

impl Command {
    /// # Errors
    /// Where the text is not a command as JSON.
    pub(crate) fn compile(pieces: &[Piece], settings: &Settings) -> Result<Self> {
        let mut fields = extended::read_command(pieces)?;
        complete(&mut fields, settings);
        Self::of_fields(&fields)
    }

    pub(crate) fn of_fields(fields: &[(Box<str>, Json)]) -> Result<Self> {
        let has = |name: &str| fields.iter().any(|(known, _)| &**known == name);
        let is_unordered = (fields.iter())
            .any(|(name, value)| &**name == "ordered" && *value == Json::Bool(false));
        let kind = match CommandKind::named(&fields[0].0) {
            CommandKind::Write(_) if is_unordered => {
                CommandKind::UnorderedWrite(WriteExtent::of(fields))
            }
            CommandKind::Write(_) => CommandKind::Write(WriteExtent::of(fields)),
            CommandKind::Query if writes_its_result(fields) => CommandKind::WritingQuery,
            kind => kind,
        };
        let mut command = Self {
            kind,
            has: Envelope {
                database: has("$db"),
                session: has("lsid"),
                write_concern: has("writeConcern"),
                read_concern: has("readConcern"),
            },
            bytes: Vec::new(),
            names: Vec::new(),
            parts: Vec::new(),
            slots: 0,
        };
        for (name, value) in fields {
            command.element(name, value).map_err(|message| {
                SystemError::new(ErrorClass::Syntax, "", format!("{name}: {message}"))
            })?;
        }
        command.flush();
        Ok(command)
    }

    fn element(&mut self, name: &str, json: &Json) -> Result<(), String> {
        if !json.has_slot() {
            return extended::write_element(name.as_bytes(), json, &mut self.bytes);
        }
        match json {
            Json::Slot(number) => self.slot(name, *number, SlotType::Own),
            Json::Object(fields) => match extended::wrapped_slot(fields) {
                Some((slot_type, number)) => self.slot(name, number, slot_type),
                None => {
                    self.open(kind::DOCUMENT, name);
                    for (name, part) in fields {
                        self.element(name, part)?;
                    }
                    self.close();
                }
            },
            Json::Array(parts) => {
                self.open(kind::ARRAY, name);
                for (number, part) in parts.iter().enumerate() {
                    self.element(&number.to_string(), part)?;
                }
                self.close();
            }
            _ => {}
        }
        Ok(())
    }

    fn slot(&mut self, name: &str, number: usize, slot_type: SlotType) {
        self.flush();
        let start = self.names.len();
        self.names.extend_from_slice(name.as_bytes());
        self.slots = self.slots.max(number + 1);
        self.parts.push(Part::Slot {
            name: (start, self.names.len()),
            number,
            slot_type,
        });
    }

    fn open(&mut self, kind: u8, name: &str) {
        write::head(kind, name.as_bytes(), &mut self.bytes);
        self.flush();
        self.parts.push(Part::Open);
    }

    fn close(&mut self) {
        self.flush();
        self.parts.push(Part::Close);
    }

    /// Copies what was written since the last part.
    fn flush(&mut self) {
        let end = self.bytes.len();
        let copied = self.parts.iter().rev().find_map(|part| match part {
            Part::Copy(end) => Some(*end),
            _ => None,
        });
        if copied.unwrap_or(0) < end {
            self.parts.push(Part::Copy(end));
        }
    }

    /// Appends the command's fields with these values. `open` is memory for the places of lengths.
    ///
    /// # Errors
    /// Where there are more or fewer values than places, or one cannot become its type.
    #[inline]
    pub(crate) fn write(
        &self,
        values: &[Value],
        open: &mut Vec<usize>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if values.len() != self.slots {
            return Err(SystemError::wrong_count(self.slots, values.len()));
        }
        open.clear();
        let mut at = 0;
        for part in &self.parts {
            match part {
                Part::Copy(end) => {
                    out.extend_from_slice(&self.bytes[at..*end]);
                    at = *end;
                }
                Part::Open => open.push(write::begin(out)),
                Part::Close => {
                    if let Some(start) = open.pop() {
                        write::end(start, out);
                    }
                }
                Part::Slot {
                    name: (start, end),
                    number,
                    slot_type,
                } => {
                    let name = &self.names[*start..*end];
                    bind::value(name, &values[*number], *slot_type, out)
                        .ok_or_else(|| mismatch(name, *number, &values[*number], *slot_type))?;
                }
            }
        }
        Ok(())
    }
}

/// Adds what the server insists on, and what the settings say.
fn complete(fields: &mut Vec<(Box<str>, Json)>, settings: &Settings) {
    let has =
        |fields: &[(Box<str>, Json)], name: &str| fields.iter().any(|(known, _)| &**known == name);
    let batch_size = settings
        .batch_size
        .map(|rows| (Box::from("batchSize"), Json::Int(rows.into())));
    match &*fields[0].0 {
        "aggregate" if !has(fields, "explain") => {
            if !has(fields, "cursor") {
                fields.push(("cursor".into(), Json::Object(Vec::new())));
            }
            let cursor = fields.iter_mut().find(|(name, _)| &**name == "cursor");
            if let (Some((_, Json::Object(cursor))), Some(batch_size)) = (cursor, batch_size)
                && !has(cursor, "batchSize")
            {
                cursor.push(batch_size);
            }
        }
        "find" if !has(fields, "batchSize") => fields.extend(batch_size),
        _ => {}
    }
}

#[cold]
fn mismatch(name: &[u8], number: usize, value: &Value, slot_type: SlotType) -> SystemError {
    const MAX_SHOWN: usize = 60;
    let expected = match slot_type {
        SlotType::Own => "a value that BSON can hold (decimals have at most 34 digits)",
        SlotType::Int32 => "a whole number of 32 bits",
        SlotType::Int64 => "a whole number of 64 bits",
        SlotType::Double => "a number",
        SlotType::Decimal128 => "a number of at most 34 digits",
        SlotType::Date => "a date or a timestamp",
        SlotType::ObjectId => "24 hexadecimal digits",
    };
    let mut shown: String = value.to_text().chars().take(MAX_SHOWN + 1).collect();
    if shown.chars().count() > MAX_SHOWN {
        shown.pop();
        shown.push('…');
    }
    let name = String::from_utf8_lossy(name);
    let number = number + 1;
    let message = format!("value {number} ({name}): expected {expected}, found {shown:?}");
    SystemError::new(ErrorClass::Data, "", message)
}
