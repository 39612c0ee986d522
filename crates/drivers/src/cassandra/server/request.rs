//! Takes the body of a client's request; gives what it asks for.

use crate::cassandra::client::handshake::VERSION_QUERY;
use crate::cassandra::notation::query_flag as flag;
use crate::lexer::Literals;
use crate::null::{Meaning, ResultSize, Statement, statements_in};
use crate::scan::Scan;
use crate::{ErrorClass, SystemError, lexer};

/// What stands behind the text or the id of a request, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) skips_metadata: bool,
    /// None: the client did not say.
    pub(crate) page_size: Option<u64>,
    /// The rows of the pages that follow, where the first was given already.
    pub(crate) rest: Option<ResultSize>,
}

/// What a text asks for.
pub(crate) enum Asked {
    Statement(Statement),
    /// To use a keyspace.
    Keyspace(String),
    /// The server's version.
    Version,
    /// What other clients ask a node about itself when they connect.
    Node,
    /// What they ask about other nodes and about the schema: there are none.
    NoRows,
    /// No statement, or several.
    Nothing(SystemError),
}

pub(crate) fn asked(text: &str) -> Asked {
    if text == VERSION_QUERY {
        return Asked::Version;
    }
    if let Some(asked) = of_system(text) {
        return asked;
    }
    let first = text.get(..4).unwrap_or_default();
    if first.eq_ignore_ascii_case("use ") {
        return Asked::Keyspace(text[4..].trim().replace('"', ""));
    }
    let mut found = statements_in(text, Literals::Doubled);
    match (found.next(), found.next()) {
        (Some(statement), None) => Asked::Statement(statement),
        (found, _) => {
            let count = if found.is_some() { "several" } else { "none" };
            let message = format!("expected one statement, found {count}");
            Asked::Nothing(SystemError::new(ErrorClass::Syntax, "", message))
        }
    }
}

/// What a query of the system's tables asks for.
fn of_system(text: &str) -> Option<Asked> {
    let mut words = text.split_ascii_whitespace();
    if !words.next()?.eq_ignore_ascii_case("select") {
        return None;
    }
    let from = words.find(|word| word.eq_ignore_ascii_case("from"));
    let table = from.and_then(|_| words.next())?.trim_end_matches(';');
    let (keyspace, name) = table.split_once('.')?;
    if !keyspace.starts_with("system") {
        return None;
    }
    Some(match name {
        "local" => Asked::Node,
        _ => Asked::NoRows,
    })
}

/// A statement that is to be prepared, and how many values it has. `COPY t (a, b) FROM STDIN`, by which all null
/// systems are loaded, is an INSERT of one row here.
pub(crate) fn prepared(statement: Statement, text: &str) -> (Statement, u16) {
    let Meaning::Load { table, .. } = statement.meaning else {
        return (statement, count_parameters(text));
    };
    let columns = text
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    let count = columns.map_or(0, |(columns, _)| columns.split(',').count());
    let insert = Meaning::Insert { table, rows: 1 }.bare();
    (insert, u16::try_from(count).unwrap_or(u16::MAX))
}

/// The question marks of a text.
fn count_parameters(text: &str) -> u16 {
    let bytes = text.as_bytes();
    let (mut count, mut at) = (0_u16, 0);
    while at < bytes.len() {
        count = count.saturating_add(u16::from(bytes[at] == b'?'));
        at = lexer::end_of_token(bytes, at, Literals::Doubled);
    }
    count
}

pub(crate) fn read_query(body: &[u8], is_v5: bool) -> Option<(&str, Parameters)> {
    let mut scan = Scan(body);
    let text = scan.long_string()?;
    Some((text, Parameters::read(scan, is_v5)?))
}

/// The id is none where the server never gave it.
#[inline]
pub(crate) fn read_execution(body: &[u8], is_v5: bool) -> Option<(Option<usize>, Parameters)> {
    let mut scan = Scan(body);
    let id: Option<[u8; 4]> = scan.short_bytes()?.try_into().ok();
    if is_v5 {
        scan.short_bytes()?;
    }
    let id = id.map(|id| u32::from_be_bytes(id) as usize);
    Some((id, Parameters::read(scan, is_v5)?))
}

/// Whether the options of STARTUP ask for compression.
pub(crate) fn wants_lz4(body: &[u8]) -> Option<bool> {
    let mut scan = Scan(body);
    let mut wants = false;
    for _ in 0..scan.u16_be()? {
        let (name, value) = (scan.string()?, scan.string()?);
        wants |= name == "COMPRESSION" && value == "lz4";
    }
    Some(wants)
}

impl Parameters {
    #[inline]
    fn read(mut scan: Scan<'_>, is_v5: bool) -> Option<Self> {
        scan.take(2)?; // consistency
        if is_v5 {
            scan.take(3)?; // flags that are never set
        }
        let flags = scan.u8()?;
        if flags & flag::VALUES != 0 {
            for _ in 0..scan.u16_be()? {
                scan.bytes()?;
            }
        }
        let mut parameters = Self {
            skips_metadata: flags & flag::SKIP_METADATA != 0,
            ..Self::default()
        };
        if flags & flag::PAGE_SIZE != 0 {
            parameters.page_size = u64::try_from(scan.i32_be()?).ok();
        }
        if flags & flag::PAGING_STATE != 0 {
            let state = scan.bytes()??;
            let (first, rest) = state.split_first_chunk::<8>()?;
            parameters.rest = Some(ResultSize {
                first: u64::from_be_bytes(*first),
                rows: u64::from_be_bytes(rest.try_into().ok()?),
                affected: 0,
            });
        }
        Some(parameters)
    }
}
