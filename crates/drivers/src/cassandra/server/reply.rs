//! Takes what there is to answer; writes the bodies of the server's messages.

use crate::cassandra::cql_type::Column;
use crate::cassandra::notation::{
    error_code, result_kind, rows_flag, type_id, write_bytes, write_length, write_short_bytes,
    write_string,
};
use crate::null::ResultSize;
use crate::{Certainty, ErrorClass, SystemError};

/// How rows are given.
pub(crate) struct Page<'a> {
    /// Names; none where the statement gives no rows.
    pub(crate) columns: &'a [Box<str>],
    pub(crate) is_described: bool,
    pub(crate) max_rows: Option<u64>,
}

/// Rows of a page where the client does not say, and the most there are in one.
const PAGE_ROWS: u64 = 5_000;
const MAX_PAGE_ROWS: u64 = 100_000;

pub(crate) fn nothing(out: &mut Vec<u8>) {
    write_length(0, out);
}

pub(crate) fn supported(out: &mut Vec<u8>) {
    let options: [(&str, &[&str]); 3] = [
        ("PROTOCOL_VERSIONS", &["4/v4", "5/v5"]),
        ("COMPRESSION", &["lz4"]),
        ("CQL_VERSION", &["3.4.7"]),
    ];
    write_count(options.len(), out);
    for (name, values) in options {
        write_string(name, out);
        write_count(values.len(), out);
        values.iter().for_each(|value| write_string(value, out));
    }
}

pub(crate) fn keyspace(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&result_kind::SET_KEYSPACE.to_be_bytes());
    write_string(name, out);
}

/// One row with what clients must know of a node.
pub(crate) fn node(out: &mut Vec<u8>) {
    const RELEASE: &str = "4.1.0";
    const TEXTS: [(&str, &str); 7] = [
        ("key", "local"),
        ("cluster_name", "null"),
        ("data_center", "datacenter1"),
        ("rack", "rack1"),
        ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"),
        ("release_version", RELEASE),
        ("cql_version", "3.4.6"),
    ];
    /// The same at each start: it is one node, and its schema never changes.
    const IDS: [&str; 2] = ["host_id", "schema_version"];
    const ID: [u8; 16] = *b"\x6e\x75\x6c\x6c\0\0\x40\0\x80\0\0\0\0\0\0\x01";
    out.extend_from_slice(&result_kind::ROWS.to_be_bytes());
    out.extend_from_slice(&rows_flag::GLOBAL_TABLE.to_be_bytes());
    write_length(TEXTS.len() + IDS.len(), out);
    write_table(out);
    for (name, _) in TEXTS {
        Column::write(name, type_id::VARCHAR, out);
    }
    for name in IDS {
        Column::write(name, type_id::UUID, out);
    }
    write_length(1, out);
    for (_, value) in TEXTS {
        write_bytes(value.as_bytes(), out);
    }
    for _ in IDS {
        write_bytes(&ID, out);
    }
}

pub(crate) fn no_rows(out: &mut Vec<u8>) {
    out.extend_from_slice(&result_kind::ROWS.to_be_bytes());
    describe(0, &["name".into()], type_id::VARCHAR, out);
    write_length(0, out);
}

pub(crate) fn version(out: &mut Vec<u8>) {
    out.extend_from_slice(&result_kind::ROWS.to_be_bytes());
    describe(0, &["release_version".into()], type_id::VARCHAR, out);
    write_length(1, out);
    write_bytes(concat!("null ", env!("CARGO_PKG_VERSION")).as_bytes(), out);
}

pub(crate) fn prepared(
    id: usize,
    parameters: u16,
    columns: &[Box<str>],
    is_v5: bool,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&result_kind::PREPARED.to_be_bytes());
    let id = u32::try_from(id).unwrap_or(u32::MAX).to_be_bytes();
    write_short_bytes(&id, out);
    if is_v5 {
        write_short_bytes(&id, out);
    }
    out.extend_from_slice(&rows_flag::GLOBAL_TABLE.to_be_bytes());
    write_length(parameters.into(), out);
    write_length(0, out); // columns of the partition key: not known
    write_table(out);
    for _ in 0..parameters {
        Column::write("value", type_id::VARCHAR, out);
    }
    if columns.is_empty() {
        out.extend_from_slice(&rows_flag::NO_METADATA.to_be_bytes());
        write_length(0, out);
    } else {
        describe(0, columns, type_id::BIGINT, out);
    }
}

/// Writes as many rows as a page has, and takes them from those that are given.
#[inline]
pub(crate) fn page(page: &Page<'_>, given: &mut ResultSize, out: &mut Vec<u8>) {
    if page.columns.is_empty() {
        return out.extend_from_slice(&result_kind::VOID.to_be_bytes());
    }
    let most = page.max_rows.unwrap_or(PAGE_ROWS).clamp(1, MAX_PAGE_ROWS);
    let rows = given.rows.min(most);
    let first = given.first;
    given.rows -= rows;
    given.first = first.saturating_add(rows);
    out.extend_from_slice(&result_kind::ROWS.to_be_bytes());
    let more = match given.rows {
        0 => 0,
        _ => rows_flag::HAS_MORE_PAGES,
    };
    let mut state = [0; 16];
    state[..8].copy_from_slice(&given.first.to_be_bytes());
    state[8..].copy_from_slice(&given.rows.to_be_bytes());
    if page.is_described {
        let flags = rows_flag::GLOBAL_TABLE | more;
        out.extend_from_slice(&flags.to_be_bytes());
        write_length(page.columns.len(), out);
        if more != 0 {
            write_bytes(&state, out);
        }
        write_columns(page.columns, type_id::BIGINT, out);
    } else {
        let flags = rows_flag::NO_METADATA | more;
        out.extend_from_slice(&flags.to_be_bytes());
        write_length(page.columns.len(), out);
        if more != 0 {
            write_bytes(&state, out);
        }
    }
    write_length(usize::try_from(rows).unwrap_or(usize::MAX), out);
    for number in first..first.saturating_add(rows) {
        for _ in page.columns {
            write_length(8, out);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

/// Where an error of the protocol means the same it is written as that one.
pub(crate) fn error(error: &SystemError, out: &mut Vec<u8>) {
    let is_unknown = error.certainty == Certainty::Unknown;
    let code = match error.class {
        ErrorClass::Protocol => error_code::PROTOCOL,
        ErrorClass::Authentication => error_code::CREDENTIALS,
        ErrorClass::TooManyConnections => error_code::OVERLOADED,
        ErrorClass::Resources => error_code::UNAVAILABLE,
        ErrorClass::Timeout if is_unknown => error_code::WRITE_TIMEOUT,
        ErrorClass::Timeout => error_code::READ_TIMEOUT,
        ErrorClass::Deadlock | ErrorClass::Serialization => error_code::CAS_WRITE_UNKNOWN,
        ErrorClass::Syntax => error_code::SYNTAX,
        ErrorClass::Permission => error_code::UNAUTHORIZED,
        ErrorClass::UnknownObject | ErrorClass::Constraint => error_code::INVALID,
        ErrorClass::Data => error_code::FUNCTION_FAILURE,
        _ if is_unknown => error_code::SERVER,
        _ => error_code::CONFIGURATION,
    };
    out.extend_from_slice(&code.to_be_bytes());
    match error.class {
        // The server says nothing but words of what is unknown.
        ErrorClass::UnknownObject => {
            write_string(&format!("unconfigured table: {}", error.message), out);
        }
        _ => write_string(&error.message, out),
    }
    const QUORUM: [u8; 2] = 4_u16.to_be_bytes();
    match code {
        error_code::UNAVAILABLE => {
            out.extend_from_slice(&QUORUM);
            write_length(1, out);
            write_length(0, out);
        }
        error_code::WRITE_TIMEOUT | error_code::CAS_WRITE_UNKNOWN => {
            out.extend_from_slice(&QUORUM);
            write_length(0, out);
            write_length(1, out);
            if code == error_code::WRITE_TIMEOUT {
                write_string("SIMPLE", out);
            }
        }
        error_code::READ_TIMEOUT => {
            out.extend_from_slice(&QUORUM);
            write_length(0, out);
            write_length(1, out);
            out.push(0);
        }
        error_code::FUNCTION_FAILURE => out.extend_from_slice(&[0; 6]), // no names, no types
        _ => {}
    }
}

pub(crate) fn unprepared(id: Option<usize>, out: &mut Vec<u8>) {
    out.extend_from_slice(&error_code::UNPREPARED.to_be_bytes());
    write_string("the statement was not prepared in this session", out);
    let id = id.and_then(|id| u32::try_from(id).ok()).unwrap_or(u32::MAX);
    write_short_bytes(&id.to_be_bytes(), out);
}

fn describe(flags: i32, columns: &[Box<str>], id: u16, out: &mut Vec<u8>) {
    let flags = rows_flag::GLOBAL_TABLE | flags;
    out.extend_from_slice(&flags.to_be_bytes());
    write_length(columns.len(), out);
    write_columns(columns, id, out);
}

fn write_columns(columns: &[Box<str>], id: u16, out: &mut Vec<u8>) {
    write_table(out);
    columns.iter().for_each(|name| Column::write(name, id, out));
}

/// The table that all columns are said to be of.
fn write_table(out: &mut Vec<u8>) {
    write_string("null", out);
    write_string("null", out);
}

fn write_count(count: usize, out: &mut Vec<u8>) {
    let count = u16::try_from(count).unwrap_or(u16::MAX);
    out.extend_from_slice(&count.to_be_bytes());
}
