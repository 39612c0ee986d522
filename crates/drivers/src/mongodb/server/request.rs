//! Takes a client's message; gives the command in it, as far as the null server acts on it.

use crate::mongodb::message::{Message, Section};
use crate::mongodb::scan;
use crate::mongodb::scan::{Element, Elements, Malformed, kind};
use crate::null::{Change, Meaning, Statement};

/// A command.
#[derive(Debug, Default)]
pub(crate) struct Command {
    pub(crate) asked: Asked,
    /// `database.collection`.
    pub(crate) namespace: String,
    /// Documents of one batch; none: the client did not say.
    pub(crate) batch_size: Option<u64>,
}

/// What a command asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    Statement(Statement, Form),
    /// What the server is and can do.
    Hello,
    Version,
    /// The password, which is not looked at.
    Authentication,
    /// A login that needs a server which knows the password.
    Scram,
    /// Names of what there is in a database: nothing.
    NoDocuments,
    /// The names of the databases: there are none.
    NoDatabases,
    /// The next batch of this cursor.
    More(i64),
    /// An answer without content.
    Nothing,
    /// The session ends.
    Goodbye,
    Unknown(String),
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Batches,
    Count,
    Written,
    Modified,
    Plain,
}

impl Default for Asked {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// The only field of the documents that are read.
const FIELD: &str = "n";

pub(crate) fn read(message: &Message<'_>) -> Result<Command, Malformed> {
    let (mut body, mut documents) = (None, 0);
    for section in message.sections() {
        match section? {
            Section::Body(bytes) => body = Some(bytes),
            Section::Documents(bytes) => documents += count_documents(bytes)?,
        }
    }
    let fields = Elements::of(body.ok_or(Malformed)?)?;
    let first = fields.clone().next().ok_or(Malformed)??;
    let collection = first.text_lossy().unwrap_or_default();
    let mut command = Command::default();
    let (mut database, mut is_whole, mut is_scram) = (String::new(), false, false);
    for field in fields {
        let field = field?;
        match field.name {
            b"$db" => database = field.text_lossy().unwrap_or_default(),
            b"batchSize" => command.batch_size = positive(&field),
            b"cursor" => command.batch_size = batch_size(&field)?.or(command.batch_size),
            b"documents" => documents += count(&field)?,
            b"mechanism" => {
                is_scram = field.text().is_some_and(|name| name.starts_with(b"SCRAM"));
            }
            b"deletes" => is_whole = deletes_all(&field)?,
            _ => {}
        }
    }
    command.asked = asked(&first, &collection, documents, is_whole, is_scram);
    command.namespace = format!("{database}.{collection}");
    Ok(command)
}

fn asked(
    first: &Element<'_>,
    collection: &str,
    documents: u64,
    is_whole: bool,
    is_scram: bool,
) -> Asked {
    let table = || collection.to_lowercase();
    let column = || vec![FIELD.into()];
    let plain = |meaning: Meaning| Asked::Statement(meaning.bare(), Form::Plain);
    let written = |meaning: Meaning| Asked::Statement(meaning.bare(), Form::Written);
    match first.name {
        b"find" | b"aggregate" => Asked::Statement(Meaning::Read.with(column()), Form::Batches),
        b"count" => Asked::Statement(Meaning::Count(table()).with(column()), Form::Count),
        b"insert" => written(Meaning::Insert { table: table(), rows: documents }),
        b"update" => written(Meaning::Change(Change::Update)),
        b"delete" if is_whole => written(Meaning::Empty(table())),
        b"delete" => written(Meaning::Change(Change::Delete)),
        b"findAndModify" => {
            let statement = Meaning::Change(Change::Update).with(column());
            Asked::Statement(statement, Form::Modified)
        }
        b"create" => plain(Meaning::Create(table())),
        b"drop" => plain(Meaning::Drop(table())),
        b"createIndexes" => plain(Meaning::Schema("CREATE")),
        b"dropIndexes" => plain(Meaning::Schema("DROP")),
        b"commitTransaction" => plain(Meaning::Commit),
        b"abortTransaction" => plain(Meaning::Rollback),
        b"getMore" => Asked::More(first.whole().unwrap_or(0)),
        b"hello" | b"isMaster" | b"ismaster" => Asked::Hello,
        b"buildInfo" | b"buildinfo" => Asked::Version,
        b"saslStart" if is_scram => Asked::Scram,
        b"saslStart" | b"saslContinue" => Asked::Authentication,
        b"listCollections" | b"listIndexes" => Asked::NoDocuments,
        b"listDatabases" => Asked::NoDatabases,
        b"ping" | b"killSessions" | b"killCursors" | b"refreshSessions" => Asked::Nothing,
        b"endSessions" => Asked::Goodbye,
        other => Asked::Unknown(String::from_utf8_lossy(other).into_owned()),
    }
}

fn count_documents(mut bytes: &[u8]) -> Result<u64, Malformed> {
    let mut count = 0;
    while !bytes.is_empty() {
        let size = scan::length(bytes).filter(|&size| size >= 5).ok_or(Malformed)?;
        (_, bytes) = bytes.split_at_checked(size).ok_or(Malformed)?;
        count += 1;
    }
    Ok(count)
}

fn count(array: &Element<'_>) -> Result<u64, Malformed> {
    let mut count = 0;
    for element in array.elements().ok_or(Malformed)?? {
        element?;
        count += 1;
    }
    Ok(count)
}

fn positive(number: &Element<'_>) -> Option<u64> {
    u64::try_from(number.whole()?).ok()
}

fn batch_size(cursor: &Element<'_>) -> Result<Option<u64>, Malformed> {
    let Some(fields) = cursor.elements() else {
        return Ok(None);
    };
    let mut found = None;
    for field in fields? {
        let field = field?;
        if field.name == b"batchSize" {
            found = positive(&field);
        }
    }
    Ok(found)
}

/// Whether the first deletion has an empty filter and no limit.
fn deletes_all(deletes: &Element<'_>) -> Result<bool, Malformed> {
    let Some(first) = deletes.elements().ok_or(Malformed)??.next() else {
        return Ok(false);
    };
    let (mut has_filter, mut is_limited) = (false, false);
    for field in first?.elements().ok_or(Malformed)?? {
        let field = field?;
        match (field.name, field.kind) {
            (b"q", kind::DOCUMENT) => has_filter = Elements::of(field.value)?.next().is_some(),
            (b"limit", _) => is_limited = field.whole() != Some(0),
            _ => {}
        }
    }
    Ok(!has_filter && !is_limited)
}
