//! The null system for JSON documents instead of SQL, without transactions: a document workload can be
//! tried, and the driver interface tested, with nothing installed.
//!
//! | document | what it does |
//! |---|---|
//! | `{"create": "t"}`, `{"drop": "t"}` | creates an empty table, or removes it |
//! | `{"insert": "t", "documents": [{…}, …]}` | adds that many documents to the table |
//! | `{"count": "t"}` | returns the number of documents in the table |
//! | `{"find": "t", …}` | returns as many documents as the option `rows` sets, each `{"n": number, "asked": the request}` |
//! | `{"update": "t", …}` | changes one document |
//! | `{"delete": "t"}` | removes all documents |
//!
//! The options are those of the null system. A value is written into its document as JSON, a name as a string.

use assay_values::{CellType, Piece, Row, Value, write_json_string};
use serde_json::Value as Json;

use crate::null::{Change, LocalSession, Meaning, Statement};
use crate::request::ById;
use crate::{Answer, Blocking, Canceller, ErrorClass, LocalOptions, Request, Result, SystemError};

/// A session of the null document system.
pub struct NullDocumentsConnection {
    session: LocalSession,
    prepared: ById<Box<[Piece]>>,
    /// Buffer in which a document is assembled.
    text: Vec<u8>,
}

/// The only column of an answer's rows.
const COLUMN: &str = "document";

impl NullDocumentsConnection {
    /// Files that a session has open: none.
    pub const OPEN_FILES: u32 = 0;

    /// # Errors
    /// Where an option is invalid, or the deployment has reached its limit of sessions.
    pub fn open(deployment: &LocalOptions<'_>) -> Result<Self> {
        Ok(Self {
            session: LocalSession::open(deployment)?,
            prepared: ById::default(),
            text: Vec::new(),
        })
    }

    fn execute(&mut self, text: &[u8], answer: &mut Answer) -> Result<()> {
        let request = match read(text) {
            Ok(request) => request,
            Err(error) => {
                answer.error = Some(error);
                return Ok(());
            }
        };
        let Parsed {
            statement,
            document,
        } = request;
        self.session.execute(&statement, answer, |given, answer| {
            for name in &statement.columns {
                answer.typed_column(name, CellType::Document);
            }
            for number in given.first..given.first + given.rows {
                if !answer.wants_cells() {
                    answer.pass_row();
                    continue;
                }
                let cell = match statement.meaning {
                    Meaning::Read => {
                        serde_json::json!({ "n": number, "asked": document }).to_string()
                    }
                    _ => number.to_string(),
                };
                answer.begin_row();
                answer.cell(Some(cell.as_bytes()));
                answer.end_row();
            }
        })
    }

    fn direct(
        &mut self,
        pieces: &[Piece],
        parameters: &[Value],
        answer: &mut Answer,
    ) -> Result<()> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let mut values = parameters.iter();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.extend_from_slice(part.as_bytes()),
                Piece::Identifier(name) => write_json_string(name, &mut text),
                Piece::Value => match values.next() {
                    Some(value) => value.write_json(&mut text),
                    None => return Err(too_few(pieces, parameters)),
                },
            }
        }
        let executed = self.execute(&text, answer);
        self.text = text;
        executed
    }
}

/// A request document and the statement it means.
struct Parsed {
    statement: Statement,
    document: Json,
}

fn read(text: &[u8]) -> Result<Parsed> {
    let wrong = |message: String| SystemError::new(ErrorClass::Syntax, "", message);
    let document: Json = serde_json::from_slice(text)
        .map_err(|error| wrong(format!("expected a JSON document: {error}")))?;
    let named = |key: &str| document.get(key)?.as_str().map(str::to_owned);
    let rows = || {
        let documents = document.get("documents").and_then(Json::as_array);
        documents.map_or(1, Vec::len) as u64
    };
    let answers = |meaning: Meaning, column: &str| meaning.with(vec![column.into()]);
    let statement = if named("find").is_some() {
        answers(Meaning::Read, COLUMN)
    } else if let Some(table) = named("count") {
        answers(Meaning::Count(table), "count")
    } else if let Some(table) = named("insert") {
        Meaning::Insert {
            table,
            rows: rows(),
        }
        .bare()
    } else if named("update").is_some() {
        Meaning::Change(Change::Update).bare()
    } else if let Some(table) = named("delete") {
        Meaning::Empty(table).bare()
    } else if let Some(table) = named("create") {
        Meaning::Create(table).bare()
    } else if let Some(table) = named("drop") {
        Meaning::Drop(table).bare()
    } else {
        let message = "expected one of the keys find, count, insert, update, delete, create, drop, with a table's name";
        return Err(wrong(message.to_owned()));
    };
    Ok(Parsed {
        statement,
        document,
    })
}

fn too_few(pieces: &[Piece], parameters: &[Value]) -> SystemError {
    let (expected, found) = (Piece::count_values(pieces), parameters.len());
    let message = format!("the document has {expected} values, {found} were given");
    SystemError::new(ErrorClass::Data, "", message)
}

impl Blocking for NullDocumentsConnection {
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<()> {
        match *request {
            Request::Text(text) => self.execute(text.as_bytes(), answer),
            Request::Direct { pieces, parameters } => self.direct(pieces, parameters, answer),
            // Nothing is compiled, so errors are reported when the statement is executed.
            Request::Prepare { id, pieces } => {
                *self.prepared.place(id) = Some(pieces.into());
                Ok(())
            }
            Request::Execute { id, parameters } => match self.prepared.take(id) {
                Ok(pieces) => {
                    let executed = self.direct(&pieces, parameters, answer);
                    *self.prepared.place(id) = Some(pieces);
                    executed
                }
                Err(error) => {
                    answer.error = Some(error);
                    Ok(())
                }
            },
            Request::Bulk { text, .. } => {
                match read(text.as_bytes()).map(|parsed| parsed.statement.meaning) {
                    Ok(Meaning::Insert { table, .. }) => self.session.begin_bulk(Some(table)),
                    Ok(_) => {
                        let message = "expected a bulk load to begin with {\"insert\": \"table\"}";
                        answer.error = Some(SystemError::new(ErrorClass::Syntax, "", message));
                    }
                    Err(error) => answer.error = Some(error),
                }
                Ok(())
            }
            Request::Begin | Request::Commit | Request::Rollback => {
                let message = "this system has no transactions";
                answer.error = Some(SystemError::new(ErrorClass::Syntax, "", message));
                Ok(())
            }
        }
    }

    fn bulk_row(&mut self, _row: &Row) -> Result<()> {
        self.session.bulk_row()
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<()> {
        self.session.bulk_end(abort, answer)
    }

    fn server_version(&self) -> &str {
        concat!("null documents ", env!("CARGO_PKG_VERSION"))
    }

    fn canceller(&self) -> Option<Canceller> {
        Some(self.session.canceller())
    }
}
