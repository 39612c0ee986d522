//! Takes an ErrorResponse; returns the server's error, its class, and whether the session has ended.

use crate::postgresql::message::Fields;
use crate::{ErrorClass, Result, SystemError};

/// The SQLSTATE of a prepared statement that does not exist.
const UNKNOWN_STATEMENT: &[u8] = b"26000";
/// The routine that reports "cached plan must not change result type": its code (0A000) has many other meanings, and
/// its message is translated.
const CHANGED_RESULT: &[u8] = b"RevalidateCachedQuery";
/// A session keeps what it has prepared, so another one has answered.
const BEHIND_A_POOLER: &[u8] =
    b"a pooler in transaction mode does not keep prepared statements: take the simple protocol, or \
    set its max_prepared_statements";

/// PgBouncer has one code for all its own errors; how each begins, its class, and what to do.
const OF_A_POOLER: [(&[u8], ErrorClass, &[u8]); 5] = [
    (
        b"query_wait_timeout",
        ErrorClass::Timeout,
        b"the pooler had no session of the server free in time: fewer clients, or a larger pool \
          (default_pool_size) in the pooler",
    ),
    (
        b"no more connections allowed",
        ErrorClass::TooManyConnections,
        b"fewer clients, or a higher max_client_conn in the pooler",
    ),
    (
        b"server login has been failing",
        ErrorClass::ConnectionRefused,
        b"the pooler does not get into the server: see the pooler's log",
    ),
    (
        b"no such database",
        ErrorClass::Authentication,
        b"name a database of the pooler's configuration: HOST:PORT/DATABASE",
    ),
    (
        b"no such user",
        ErrorClass::Authentication,
        b"name a user of the pooler's auth_file: USER:PASSWORD@ in the URL",
    ),
];
const OWN_CODE_OF_A_POOLER: &[u8] = b"08P01";

/// An error that the server reported.
pub(crate) struct Refusal {
    pub error: SystemError,
    /// FATAL and PANIC end the session; ERROR leaves it usable.
    pub is_fatal: bool,
    /// The server no longer accepts the prepared statement that was executed, which had no effect.
    pub is_unprepared: bool,
}

/// Reads the fields of an ErrorResponse.
///
/// # Errors
/// Where the message ends inside a field.
pub(crate) fn read(body: &[u8]) -> Result<Refusal> {
    let mut fields = Fields(body);
    let (mut severity, mut code, mut message) = (&b""[..], &b""[..], &b""[..]);
    let (mut detail, mut hint, mut position, mut context) = (None, None, None, None);
    let mut routine = &b""[..];
    loop {
        match fields.byte()? {
            0 => break,
            // V is S untranslated, and follows it since server 9.6.
            b'S' | b'V' => severity = fields.text()?,
            b'C' => code = fields.text()?,
            b'M' => message = fields.text()?,
            b'D' => detail = Some(fields.text()?),
            b'H' => hint = Some(fields.text()?),
            b'P' => position = Some(fields.text()?),
            b'W' => context = Some(fields.text()?),
            b'R' => routine = fields.text()?,
            _ => {
                fields.text()?;
            }
        }
    }
    let mut words = String::from_utf8_lossy(message).into_owned();
    let mut add = |before: &str, part: Option<&[u8]>| {
        if let Some(part) = part {
            words.push_str(before);
            words.push_str(&String::from_utf8_lossy(part));
        }
    };
    let of_pooler = OF_A_POOLER
        .iter()
        .find(|(begin, ..)| code == OWN_CODE_OF_A_POOLER && message.starts_with(begin));
    let own_hint = match of_pooler {
        Some(&(_, _, hint)) => Some(hint),
        None => (code == UNKNOWN_STATEMENT).then_some(BEHIND_A_POOLER),
    };
    add("; ", detail);
    add("; hint: ", hint.or(own_hint));
    add("; at character ", position);
    // Only the context of a load adds information: it names the row.
    add(
        "; ",
        context
            .filter(|text| text.starts_with(b"COPY "))
            .map(first_line),
    );
    let is_unprepared = code == UNKNOWN_STATEMENT || routine == CHANGED_RESULT;
    let code = String::from_utf8_lossy(code).into_owned();
    let is_unknown = is_of_unknown_end(&code);
    let class = of_pooler.map_or_else(|| class(&code), |&(_, class, _)| class);
    let error = SystemError::new(class, code, words);
    let error = match is_unknown {
        true => error.unknown(),
        false => error,
    };
    Ok(Refusal {
        error,
        is_fatal: matches!(severity, b"FATAL" | b"PANIC"),
        is_unprepared,
    })
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// The class of an SQLSTATE (PostgreSQL manual, appendix A).
pub(crate) fn class(code: &str) -> ErrorClass {
    match code {
        "53300" => ErrorClass::TooManyConnections,
        "40P01" => ErrorClass::Deadlock,
        "40001" => ErrorClass::Serialization,
        "40002" | "44000" => ErrorClass::Constraint,
        "42601" => ErrorClass::Syntax,
        // Table, column, function, type or setting, parameter, schema, database, prepared statement.
        "42P01" | "42703" | "42883" | "42704" | "42P02" | "3F000" | "3D000" | "26000" => {
            ErrorClass::UnknownObject
        }
        // The second: a read-only transaction, as on a standby.
        "42501" | "25006" => ErrorClass::Permission,
        // statement_timeout and a cancel share a code; the other code is lock_timeout.
        "57014" | "55P03" => ErrorClass::Timeout,
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03" | "25P04" => {
            ErrorClass::LostConnection
        }
        "08P01" => ErrorClass::Protocol,
        // A value that is too long for an index entry.
        "54000" => ErrorClass::Data,
        "58030" => ErrorClass::Resources,
        _ => match code.get(..2).unwrap_or_default() {
            "08" => ErrorClass::LostConnection,
            "22" => ErrorClass::Data,
            "23" => ErrorClass::Constraint,
            "28" => ErrorClass::Authentication,
            "53" => ErrorClass::Resources,
            _ => ErrorClass::Other,
        },
    }
}

/// Whether an SQLSTATE means that the server does not know whether the statement took effect: transaction
/// resolution unknown, statement completion unknown.
fn is_of_unknown_end(code: &str) -> bool {
    ["08007", "40003"].contains(&code)
}

/// Whether an SQLSTATE means that the types of the parsed statement do not match or cannot be inferred;
/// with the types of the values it may succeed.
pub(crate) fn is_of_types(code: &str) -> bool {
    // Datatype mismatch, cannot coerce, ambiguous and undefined function (or operator),
    // ambiguous parameter, indeterminate datatype.
    ["42804", "42846", "42725", "42883", "42P08", "42P18"].contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pooler_refuses_has_a_class_and_a_fix() {
        let body = b"SFATAL\0VFATAL\0C08P01\0Mquery_wait_timeout\0\0";
        let refusal = read(body).expect("the message is well formed");
        assert!(refusal.is_fatal);
        assert_eq!(refusal.error.class, ErrorClass::Timeout);
        assert!(
            refusal
                .error
                .message
                .starts_with("query_wait_timeout; hint: the pooler had")
        );
        let of_server = b"SFATAL\0VFATAL\0C08P01\0Minvalid frontend message\0\0";
        let error = read(of_server).expect("the message is well formed").error;
        assert_eq!(error.class, ErrorClass::Protocol);
        assert!(!error.message.contains("hint"));
    }

    #[test]
    fn the_message_of_the_server_and_the_row_of_a_load_are_kept() {
        let body = b"SFEHLER\0VERROR\0C22P02\0Minvalid input\0Hlook\0Fnumutils.c\0\
                     WCOPY t, line 2, column a: \"x\"\nmore\0\0";
        let refusal = read(body).expect("the message is well formed");
        assert!(!refusal.is_fatal);
        assert_eq!(refusal.error.class, ErrorClass::Data);
        assert_eq!(refusal.error.code, "22P02");
        assert_eq!(
            refusal.error.message,
            "invalid input; hint: look; COPY t, line 2, column a: \"x\""
        );
    }

    #[test]
    fn exact_codes_win_over_their_class() {
        for (code, expected) in [
            ("53300", ErrorClass::TooManyConnections),
            ("53100", ErrorClass::Resources),
            ("40P01", ErrorClass::Deadlock),
            ("40001", ErrorClass::Serialization),
            ("23505", ErrorClass::Constraint),
            ("42601", ErrorClass::Syntax),
            ("42883", ErrorClass::UnknownObject),
            ("42P07", ErrorClass::Other),
            ("57014", ErrorClass::Timeout),
            ("57P01", ErrorClass::LostConnection),
            ("08006", ErrorClass::LostConnection),
            ("08P01", ErrorClass::Protocol),
            ("28P01", ErrorClass::Authentication),
            ("22001", ErrorClass::Data),
            ("42501", ErrorClass::Permission),
            ("25006", ErrorClass::Permission),
            ("", ErrorClass::Other),
            ("é", ErrorClass::Other),
        ] {
            assert_eq!(class(code), expected, "{code}");
        }
    }
}
