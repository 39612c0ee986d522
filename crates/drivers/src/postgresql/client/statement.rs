//! Takes the server's description of a prepared statement; appends the bytes of each execution.
//!
//! An execution is Bind, Execute and Sync in one send. The constant parts are made once: the head of Bind
//! (names, format codes) and the tail (text results, Execute, Sync). If all parameters have types of a
//! fixed size, one execution is kept whole and the values are patched into a copy. Otherwise the
//! parameters are written between head and tail, then the length and differing format codes are patched.
//!
//! A server infers parameter types from the text alone. Sometimes it cannot (`-?`, `? < ?`), or infers
//! another type than a literal in that place would have. Such a statement is prepared again before the
//! execution whose values show this ([`Statement::declare`]), and keeps these types until other values
//! need others.
//!
//! Sessions share the bytes of equal statements, which differ in the session's digits alone ([`Names`]): so they stay in
//! the processor's caches, however many sessions take turns, and take their memory once.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use assay_values::{Piece, Value};
use postgres_protocol::message::frontend;

use crate::postgresql::client::parameter::{Format, ParameterType};
use crate::postgresql::client::rows::{Column, CommandTag};
use crate::postgresql::message::{LARGEST_BYTES, cold, too_large};
use crate::{ErrorClass, Result, SystemError};

/// What follows the parameters: the end of Bind, without result format codes (all text); Execute of the
/// unnamed portal without a row limit; and Sync, unless further executions precede it.
const TAIL: &[u8] = b"\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
/// The same with Describe of the portal, for a statement that was not described at Prepare.
const DESCRIBING_TAIL: &[u8] = b"\0\0D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
/// How much of the tail belongs to Bind.
const TAIL_IN_BIND_BYTES: usize = 2;
pub(crate) const SYNC: &[u8] = b"S\0\0\0\x04";

#[derive(Clone, PartialEq)]
pub(crate) struct Statement {
    id: u32,
    /// With zeros as the session's digits, as in `whole`.
    head: Box<[u8]>,
    /// Offset of the first format code in `head`.
    formats_at: usize,
    /// A whole execution, to be patched; `None` if a parameter has no fixed size.
    whole: Option<Box<[u8]>>,
    types: Box<[ParameterType]>,
    /// For each parameter, whether its type was declared from a value; empty: all were inferred by the server.
    declared: Box<[bool]>,
    tail: &'static [u8],
    text: Box<str>,
    pub columns: Vec<Column>,
    /// How the server's answer to an execution begins.
    pub tag: CommandTag,
}

/// The text of a statement with `$1`, `$2` … for its values, and their number.
pub(crate) fn spelled(pieces: &[Piece]) -> (String, usize) {
    let text = Piece::join(pieces, |number, text| {
        text.push('$');
        text.push_str(&(number + 1).to_string());
    });
    (text, Piece::count_values(pieces))
}

/// The names that the server has for the statements of one session: no other session of this or another run
/// has the same, so that behind a pooler, which gives one session of the server to many of its clients, none
/// executes the statement of another.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    session: [u8; SESSION_DIGITS],
}

const PREFIX: &str = "assay_";
const SESSION_DIGITS: usize = 16;
/// Where the session's digits are in a Bind message: after its tag, its length, the empty name of the portal and
/// the prefix.
const SESSION_AT: usize = 1 + 4 + 1 + PREFIX.len();

impl Names {
    /// Of no session: what the shared bytes of a statement have.
    const OF_NONE: Self = Self {
        session: [b'0'; SESSION_DIGITS],
    };

    /// With a random number, as the standard library's hash tables have one each.
    pub fn of_new_session() -> Self {
        let number = RandomState::new().hash_one(());
        let mut session = [0; SESSION_DIGITS];
        session.copy_from_slice(format!("{number:016x}").as_bytes());
        Self { session }
    }

    /// The server's name of statement `id`.
    pub fn of(self, id: u32) -> String {
        let digits = str::from_utf8(&self.session).expect("digits are ASCII");
        format!("{PREFIX}{digits}_{id}")
    }

    /// Makes the Bind message that begins at `start` one of this session.
    #[inline]
    fn enter(self, out: &mut [u8], start: usize) {
        out[start + SESSION_AT..][..SESSION_DIGITS].copy_from_slice(&self.session);
    }
}

impl Default for Names {
    fn default() -> Self {
        Self::of_new_session()
    }
}

/// The statements that sessions have, by their ids.
static SHARED: LazyLock<Mutex<HashMap<u32, Vec<Weak<Statement>>>>> = LazyLock::new(Mutex::default);

impl Statement {
    /// # Errors
    /// Where the statement has more parameters than Bind can count.
    pub fn new(
        id: u32,
        text: Box<str>,
        types: Box<[ParameterType]>,
        columns: Vec<Column>,
    ) -> Result<Self> {
        Self::shaped(id, text, types, Box::default(), TAIL, columns)
    }

    /// The same for all sessions that have an equal one.
    pub fn shared(self) -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shared.entry(self.id).or_default();
        known.retain(|statement| statement.strong_count() > 0);
        let equal = (known.iter())
            .filter_map(Weak::upgrade)
            .find(|statement| **statement == self);
        equal.unwrap_or_else(|| {
            let statement = Arc::new(self);
            known.push(Arc::downgrade(&statement));
            statement
        })
    }

    fn shaped(
        id: u32,
        text: Box<str>,
        types: Box<[ParameterType]>,
        declared: Box<[bool]>,
        tail: &'static [u8],
        columns: Vec<Column>,
    ) -> Result<Self> {
        let count = u16::try_from(types.len()).map_err(|_| {
            let message = format!(
                "the statement has {} parameters, at most 65535 are possible",
                types.len()
            );
            SystemError::new(ErrorClass::Data, "", message)
        })?;
        let mut head = b"B\0\0\0\0\0".to_vec();
        head.extend_from_slice(Names::OF_NONE.of(id).as_bytes());
        head.push(0);
        head.extend_from_slice(&count.to_be_bytes());
        let formats_at = head.len();
        for parameter_type in &types {
            head.extend_from_slice(&[0, parameter_type.usual_format() as u8]);
        }
        head.extend_from_slice(&count.to_be_bytes());
        let mut statement = Self {
            tag: CommandTag::of(&text),
            id,
            head: head.into(),
            formats_at,
            whole: None,
            types,
            declared,
            tail,
            text,
            columns,
        };
        statement.whole = statement.example();
        Ok(statement)
    }

    /// A statement whose `count` parameters get their types from the first values.
    ///
    /// # Errors
    /// As [`Statement::new`].
    pub fn unknown(id: u32, text: Box<str>, count: usize) -> Result<Self> {
        let types = vec![ParameterType::Unknown; count].into();
        Self::shaped(id, text, types, Box::default(), DESCRIBING_TAIL, Vec::new())
    }

    /// Appends what prepares the statement again, and returns what it is then: a value that does not fit its
    /// parameter's type gets the type of its literal.
    ///
    /// # Errors
    /// Where the text is too long. Nothing was appended.
    pub fn declare(&self, names: Names, parameters: &[Value], out: &mut Vec<u8>) -> Result<Self> {
        let (mut types, mut declared) = (self.types.clone(), self.declared.to_vec());
        declared.resize(types.len(), false);
        let mut written = Vec::new();
        for ((of, declared), value) in types.iter_mut().zip(&mut declared).zip(parameters) {
            written.clear();
            let format = of.write(value, &mut written);
            if format.is_none_or(|format| *declared && format != of.usual_format()) {
                (*of, *declared) = (ParameterType::of_literal(value), true);
            }
        }
        let oids = types.iter().map(|of| of.oid());
        let name = names.of(self.id);
        cold(out, |buffer| {
            // Closing a name that does not exist is no error.
            frontend::close(b'S', &name, buffer)?;
            frontend::parse(&name, &self.text, oids, buffer)
        })?;
        let (text, columns) = (self.text.clone(), self.columns.clone());
        Self::shaped(self.id, text, types, declared.into(), self.tail, columns)
    }

    /// The server did not accept the types of the last [`Statement::declare`]: the next execution declares
    /// the types of its own values.
    pub fn undeclared(&self) -> Self {
        let mut statement = self.clone();
        for (of, _) in statement
            .types
            .iter_mut()
            .zip(&self.declared)
            .filter(|(_, own)| **own)
        {
            *of = ParameterType::Unknown;
        }
        statement.whole = None;
        statement
    }

    /// An execution in which every parameter is a zero of its type's size.
    fn example(&self) -> Option<Box<[u8]>> {
        let zeros: Option<Vec<_>> = self.types.iter().map(|of| of.zero()).collect();
        let mut whole = Vec::new();
        self.write(Names::OF_NONE, &zeros?, self.tail, &mut whole)
            .ok()?;
        Some(whole.into())
    }

    /// Appends one execution in a session, and Sync. Does not allocate once `out` has capacity. Returns false if the
    /// types of these values must be declared first; `out` is then unchanged.
    ///
    /// # Errors
    /// As [`Statement::queue`].
    #[inline]
    pub fn execute(&self, names: Names, parameters: &[Value], out: &mut Vec<u8>) -> Result<bool> {
        match &self.whole {
            Some(whole) if self.patch(whole, names, parameters, out) => Ok(true),
            _ => self.write(names, parameters, self.tail, out),
        }
    }

    /// Appends a copy of `whole` with these values; returns false, and leaves `out` unchanged, if a value
    /// does not fit.
    #[inline]
    fn patch(&self, whole: &[u8], names: Names, parameters: &[Value], out: &mut Vec<u8>) -> bool {
        if parameters.len() != self.types.len() {
            return false;
        }
        let start = out.len();
        out.extend_from_slice(whole);
        names.enter(out, start);
        let mut rest = &mut out[start + self.head.len()..];
        for (of, value) in self.types.iter().zip(parameters) {
            match of.patch(value, rest) {
                Some(following) => rest = following,
                None => {
                    out.truncate(start);
                    return false;
                }
            }
        }
        true
    }

    /// Appends one of several executions before a Sync; returns false as in [`Statement::execute`].
    ///
    /// # Errors
    /// Where the number of parameters is not the statement's, or the message would exceed the server's
    /// limit; `out` is then unchanged.
    #[inline]
    pub fn queue(&self, names: Names, parameters: &[Value], out: &mut Vec<u8>) -> Result<bool> {
        let tail = &self.tail[..self.tail.len() - SYNC.len()];
        self.write(names, parameters, tail, out)
    }

    #[inline]
    fn write(
        &self,
        names: Names,
        parameters: &[Value],
        tail: &'static [u8],
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        if parameters.len() != self.types.len() {
            return Err(wrong_count(self.types.len(), parameters.len()));
        }
        let start = out.len();
        out.extend_from_slice(&self.head);
        names.enter(out, start);
        for (index, (of, value)) in self.types.iter().zip(parameters).enumerate() {
            let Some(format) = of.write(value, out) else {
                out.truncate(start);
                return Ok(false);
            };
            if format != of.usual_format() {
                if self.declared.get(index) == Some(&true) {
                    out.truncate(start);
                    return Ok(false);
                }
                out[start + self.formats_at + 2 * index + 1] = format as u8;
            }
        }
        out.extend_from_slice(tail);
        let length = out.len() - start - 1 - (tail.len() - TAIL_IN_BIND_BYTES);
        if length > LARGEST_BYTES {
            out.truncate(start);
            return Err(too_large(length));
        }
        let length = u32::try_from(length).expect("it is below 1 GiB");
        out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
        Ok(true)
    }
}

#[cold]
fn wrong_count(expected: usize, found: usize) -> SystemError {
    let message =
        format!("expected {expected} parameters, as the server described them, found {found}");
    SystemError::new(ErrorClass::Other, "", message)
}

const _: () = assert!(Format::Text as u8 == 0 && Format::Binary as u8 == 1);

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names = Names {
        session: *b"0123456789abcdef",
    };

    fn two_parameters() -> Statement {
        let types = [ParameterType::Int4, ParameterType::Text];
        Statement::new(12, "".into(), types.into(), Vec::new()).expect("two parameters fit")
    }

    #[test]
    fn an_execution_is_bind_execute_and_sync() {
        let mut out = b"before".to_vec();
        let parameters = [Value::Int(7), Value::Text("ab".into())];
        two_parameters()
            .execute(NAMES, &parameters, &mut out)
            .expect("two parameters are right");
        let bind = b"B\0\0\0\x37\0assay_0123456789abcdef_12\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x02ab\0\0";
        assert_eq!(
            out,
            [b"before", &bind[..], b"E\0\0\0\x09\0\0\0\0\0", b"S\0\0\0\x04"].concat()
        );
    }

    #[test]
    fn a_value_of_another_type_changes_the_format_code_of_only_this_execution() {
        let statement = two_parameters();
        let (mut odd, mut even) = (Vec::new(), Vec::new());
        let text = Value::Text("7".into());
        statement
            .execute(NAMES, &[text, Value::Null], &mut odd)
            .expect("two parameters are right");
        statement
            .execute(NAMES, &[Value::Int(7), Value::Null], &mut even)
            .expect("two parameters are right");
        assert_eq!(odd[statement.formats_at..][..4], [0, 0, 0, 0]);
        assert_eq!(even[statement.formats_at..][..4], [0, 1, 0, 0]);
    }

    #[test]
    fn patching_and_writing_an_execution_give_the_same_bytes() {
        use ParameterType as Type;
        let types = [Type::Int2, Type::Int4, Type::Int8, Type::Float4, Type::Float8, Type::Bool];
        let statement =
            Statement::new(3, "".into(), types.into(), Vec::new()).expect("six parameters fit");
        let whole = statement
            .whole
            .as_ref()
            .expect("all types are of a fixed size");
        let fitting = [
            Value::Int(-2),
            Value::Int(i64::from(i32::MAX)),
            Value::Int(i64::MIN),
            Value::Double(0.1),
            Value::Double(-0.0),
            Value::Bool(true),
        ];
        let (mut patched, mut written) = (b"before".to_vec(), b"before".to_vec());
        assert!(statement.patch(whole, NAMES, &fitting, &mut patched));
        statement
            .write(NAMES, &fitting, TAIL, &mut written)
            .expect("the count is right");
        assert_eq!(patched, written);

        let odd = [
            (0, Value::Int(40_000), false),
            (1, Value::Int(1 << 31), false),
            (2, Value::Double(1.0), true),
            (3, Value::Double(1e39), true),
            (4, Value::Null, true),
            (5, Value::Text("t".into()), true),
        ];
        for (index, value, is_of_the_type) in odd {
            let mut parameters = fitting.clone();
            parameters[index] = value;
            let mut out = b"before".to_vec();
            assert!(
                !statement.patch(whole, NAMES, &parameters, &mut out),
                "{parameters:?}"
            );
            assert_eq!(out, b"before");
            assert_eq!(
                statement.execute(NAMES, &parameters, &mut out),
                Ok(is_of_the_type),
                "{parameters:?}"
            );
            assert_eq!(out.ends_with(TAIL) && out.len() > 40, is_of_the_type);
        }
    }

    #[test]
    fn a_wrong_number_of_parameters_sends_nothing() {
        let mut out = Vec::new();
        let error = two_parameters()
            .execute(NAMES, &[Value::Null], &mut out)
            .expect_err("one is missing");
        assert!(error.message.contains("expected 2 parameters") && out.is_empty());
    }
    #[test]
    fn types_are_declared_again_only_if_a_value_has_another_type() {
        let mut statement =
            Statement::unknown(1, "SELECT -$1, $2".into(), 2).expect("two parameters fit");
        let (none, small, large) = (Value::Null, Value::Int(7), Value::Int(1 << 40));
        let (half, word) = (Value::Double(0.5), Value::Text("w".into()));
        let steps = [
            ([&small, &none], Some([23, 0])),
            ([&none, &word], None),
            ([&large, &word], Some([20, 0])),
            ([&small, &none], None),
            ([&half, &small], Some([1700, 23])),
            ([&none, &none], None),
            ([&word, &small], Some([0, 23])),
        ];
        for (values, expected) in steps {
            let values = values.map(Value::clone);
            let mut out = Vec::new();
            let fits = statement
                .execute(NAMES, &values, &mut out)
                .expect("two are right");
            assert_eq!(fits, expected.is_none(), "{values:?}");
            if let Some([one, other]) = expected {
                assert!(out.is_empty());
                statement = statement
                    .declare(NAMES, &values, &mut out)
                    .expect("it is short");
                let oids: [[u8; 4]; 2] = [i32::to_be_bytes(one), i32::to_be_bytes(other)];
                assert!(out.ends_with(&oids.concat()), "{}", out.escape_ascii());
                assert_eq!(statement.execute(NAMES, &values, &mut out), Ok(true));
            }
            assert!(out.ends_with(DESCRIBING_TAIL));
        }
        statement = statement.undeclared();
        assert_eq!(
            statement.execute(NAMES, &[word, small], &mut Vec::new()),
            Ok(false)
        );
    }

    #[test]
    fn sessions_share_equal_statements_and_each_sends_its_own_names() {
        let (one, same) = (two_parameters().shared(), two_parameters().shared());
        assert!(Arc::ptr_eq(&one, &same));
        let other = Statement::unknown(12, "".into(), 2).expect("two parameters fit");
        assert!(!Arc::ptr_eq(&one, &other.shared()));
        let names = Names::of_new_session();
        for values in [[Value::Int(7), Value::Null], [Value::Null, Value::Int(7)]] {
            let (mut sent, mut of_another) = (Vec::new(), Vec::new());
            assert_eq!(one.execute(names, &values, &mut sent), Ok(true));
            assert_eq!(one.execute(NAMES, &values, &mut of_another), Ok(true));
            let name = names.of(12);
            assert_eq!(sent[6..][..name.len()], *name.as_bytes());
            names.enter(&mut of_another, 0);
            assert_eq!(sent, of_another);
        }
    }

    #[test]
    fn no_two_sessions_have_the_same_name_for_a_statement() {
        let (one, other) = (Names::of_new_session(), Names::of_new_session());
        assert_eq!(one.of(3), one.of(3));
        assert_ne!(one.of(3), one.of(4));
        assert_ne!(one.of(3), other.of(3));
    }
}
