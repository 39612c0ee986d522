//! Takes an error packet; returns the error with the engine's class, by the server's error number.
//!
//! Numbers: the error references of MySQL and MariaDB, which agree where both have a number. Numbers
//! not listed are classified by their SQLSTATE.

use crate::mysql::constants::head;
use crate::scan::Scan;
use crate::{ErrorClass, SystemError};

/// When the error occurred: some numbers mean something else while connecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Connecting,
    Statement,
}

/// Reads an error packet: 0xFF, number, then (once the protocol is agreed on) `#` and five
/// characters of SQLSTATE, then the message.
pub(crate) fn read(payload: &[u8], moment: Moment) -> SystemError {
    let mut scan = Scan(payload);
    let (Some(head::ERROR), Some(number)) = (scan.u8(), scan.u16_le()) else {
        return SystemError::malformed("an error packet", payload);
    };
    let mut state: &[u8] = b"";
    if scan.0.first() == Some(&b'#') && scan.0.len() > 5 {
        state = &scan.0[1..6];
        scan.0 = &scan.0[6..];
    }
    let class = class_of(number, state, moment);
    let error = SystemError::new(
        class,
        number.to_string(),
        String::from_utf8_lossy(scan.0).trim_end(),
    );
    // "Got error … during COMMIT": part of it may have been done.
    match number == 1180 {
        true => error.unknown(),
        false => error,
    }
}

/// The class of a load's warning: the error that it would be without LOCAL.
pub(crate) fn class_of_warning(number: u16) -> ErrorClass {
    match class_of(number, b"", Moment::Statement) {
        ErrorClass::Constraint => ErrorClass::Constraint,
        _ => ErrorClass::Data,
    }
}

/// The prepared statement must be prepared again, or the server does not know it: it had no effect, and the transaction
/// goes on.
pub(crate) fn is_unprepared(code: &str) -> bool {
    ["1615", "1243"].contains(&code)
}

/// A packet whose sequence number is not the next one. A server that ends a session (shutdown, idle
/// timeout) sends an error packet whose sequence number starts again.
pub(crate) fn out_of_order(expected: u8, found: u8, payload: &[u8]) -> SystemError {
    if payload.first() == Some(&head::ERROR) && payload.len() > 3 {
        let error = read(payload, Moment::Statement);
        return error.lost();
    }
    SystemError::protocol(
        &format!("packet {expected} of this exchange"),
        format!("packet {found}"),
    )
}

/// A message outside a request: a server that ends the session may send one at any time.
pub(crate) fn unasked(payload: &[u8]) -> SystemError {
    if payload.first() == Some(&head::ERROR) {
        let error = read(payload, Moment::Statement);
        return error.lost();
    }
    SystemError::malformed("no message", payload)
}

/// A server may request any file of this machine; none is sent.
pub(crate) fn no_file() -> SystemError {
    let message = "the server requested a file of this machine (LOAD DATA LOCAL), which is never sent; \
                   only a bulk load sends rows";
    SystemError::new(ErrorClass::Permission, "", message)
}

fn class_of(number: u16, state: &[u8], moment: Moment) -> ErrorClass {
    use ErrorClass as Class;
    match (number, moment) {
        (1040 | 1203, _) | (1226, Moment::Connecting) => Class::TooManyConnections,
        (1129, Moment::Connecting) => Class::ConnectionRefused,
        // No such host, user, password, database or method; an account that is locked or expired.
        (
            1043 | 1044 | 1045 | 1049 | 1130 | 1251 | 1275 | 1524 | 1698 | 1820 | 1862 | 3118
            | 3159 | 4151,
            Moment::Connecting,
        ) => Class::Authentication,
        // Shutdown, a killed session, a broken or too long packet, idle for too long.
        (1053 | 1152..=1161 | 1184 | 1927 | 2006 | 2013 | 3169 | 4031, _) => Class::LostConnection,
        (1213 | 1614, _) => Class::Deadlock,
        (1205 | 1969 | 3024 | 3572, _) => Class::Timeout,
        (1020 | 3101, _) => Class::Serialization,
        (
            1022 | 1048 | 1062 | 1169 | 1216 | 1217 | 1263 | 1364 | 1451 | 1452 | 1557 | 1586
            | 1761 | 1762 | 3819 | 4025,
            _,
        ) => Class::Constraint,
        (1058 | 1064 | 1065 | 1136 | 1149 | 1222, _) => Class::Syntax,
        (
            1046 | 1049 | 1051 | 1054 | 1072 | 1091 | 1109 | 1115 | 1128 | 1146 | 1176 | 1193
            | 1243 | 1273 | 1286 | 1305 | 1360 | 4161,
            _,
        ) => Class::UnknownObject,
        // 1148, 3948 and 4166: LOAD DATA LOCAL is switched off.
        (
            1044 | 1045 | 1095 | 1142 | 1143 | 1148 | 1227 | 1290 | 1370 | 1698 | 1792 | 1836
            | 3948 | 4166,
            _,
        ) => Class::Permission,
        (
            1261 | 1262 | 1264 | 1265 | 1292 | 1365 | 1366 | 1367 | 1406 | 1411 | 1441 | 1690
            | 3140,
            _,
        ) => Class::Data,
        (
            3 | 23 | 24 | 28 | 1021 | 1037 | 1038 | 1041 | 1114 | 1135 | 1197 | 1206 | 1226 | 1637,
            _,
        ) => Class::Resources,
        _ => class_by_state(state, moment),
    }
}

fn class_by_state(state: &[u8], moment: Moment) -> ErrorClass {
    match state {
        [b'0', b'8', ..] if moment == Moment::Connecting => ErrorClass::ConnectionRefused,
        [b'2', b'8', ..] if moment == Moment::Connecting => ErrorClass::Authentication,
        [b'2', b'8', ..] => ErrorClass::Permission,
        [b'2', b'2', ..] => ErrorClass::Data,
        [b'2', b'3', ..] => ErrorClass::Constraint,
        [b'4', b'0', ..] => ErrorClass::Serialization,
        b"42S02" | b"42S22" => ErrorClass::UnknownObject,
        _ => ErrorClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u16, rest: &[u8]) -> Vec<u8> {
        [&[0xFF], &number.to_le_bytes()[..], rest].concat()
    }

    #[test]
    fn the_error_number_and_the_moment_decide_the_class() {
        let denied = packet(1045, b"#28000Access denied");
        assert_eq!(
            read(&denied, Moment::Connecting).class,
            ErrorClass::Authentication
        );
        assert_eq!(
            read(&denied, Moment::Statement).class,
            ErrorClass::Permission
        );
        let deadlock = read(&packet(1213, b"#40001Deadlock found"), Moment::Statement);
        assert_eq!(deadlock.class, ErrorClass::Deadlock);
        assert_eq!(&*deadlock.code, "1213");
        assert_eq!(&*deadlock.message, "Deadlock found");
    }

    /// Before client and server have agreed on the protocol there is no SQLSTATE in the packet.
    #[test]
    fn too_many_connections_is_recognized_before_the_greeting() {
        let error = read(&packet(1040, b"Too many connections"), Moment::Connecting);
        assert_eq!(error.class, ErrorClass::TooManyConnections);
        assert_eq!(error.message, "Too many connections");
    }

    #[test]
    fn an_unknown_number_is_classified_by_its_sqlstate() {
        let error = read(&packet(9999, b"#23505unheard of"), Moment::Statement);
        assert_eq!(error.class, ErrorClass::Constraint);
    }
}
