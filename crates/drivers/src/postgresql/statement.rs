//! Takes what the server described of a prepared statement; gives the bytes of each execution.
//!
//! An execution is Bind, Execute and Sync in one send. All that does not change from one to the next is
//! made once: the head of Bind (names, format codes) and the tail (text results, Execute, Sync).
//! Where all parameters have types of a fixed size, there is one copy of the whole, and the values are
//! patched into it. Else the parameters go between head and tail, and then the length and any format
//! code that differs are patched.
//!
//! A server gives parameters their types by the text alone, and cannot always (`-?`, `? < ?`), or takes
//! another one than a literal in its place has. Such a statement is prepared again in front of the
//! execution whose values show it ([`Statement::declare`]), and stays as it then is until other values
//! come.

use assay_values::{Piece, Value};
use postgres_protocol::message::frontend;

use super::message::{LARGEST_BYTES, too_large};
use super::outgoing::cold;
use super::parameter::{Format, ParameterType};
use super::rows::Column;
use crate::{ErrorClass, SystemError};

/// What follows the parameters: no result format codes (all text), which is the end of Bind; Execute of
/// the unnamed portal without a row limit; and Sync, unless more executions are to come before it.
const TAIL: &[u8] = b"\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
/// The same with Describe of the portal, for a statement that was not described when it was prepared.
const DESCRIBING_TAIL: &[u8] = b"\0\0D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
/// How much of the tail belongs to Bind.
const TAIL_IN_BIND_BYTES: usize = 2;
pub(super) const SYNC: &[u8] = b"S\0\0\0\x04";

pub(super) struct Statement {
    head: Box<[u8]>,
    /// Where in `head` the first format code stands.
    formats_at: usize,
    /// A whole execution, to be patched; none where a parameter has no fixed size.
    whole: Option<Box<[u8]>>,
    types: Box<[ParameterType]>,
    /// Which types are those of values, and thus of no others; all are the server's where it is empty.
    declared: Box<[bool]>,
    tail: &'static [u8],
    text: Box<str>,
    pub columns: Vec<Column>,
}

/// The text of a statement with `$1`, `$2` … for its values, and how many it has.
pub(super) fn spelled(pieces: &[Piece]) -> (String, usize) {
    let text = Piece::join(pieces, |number, text| {
        text.push('$');
        text.push_str(&(number + 1).to_string());
    });
    (text, Piece::count_values(pieces))
}

/// The name by which the server knows statement `id`.
pub(super) fn name(id: u32) -> String {
    format!("s{id}")
}

impl Statement {
    /// # Errors
    /// Where the statement has more parameters than Bind can count.
    pub fn new(
        id: u32,
        text: Box<str>,
        types: Box<[ParameterType]>,
        columns: Vec<Column>,
    ) -> Result<Self, SystemError> {
        Self::shaped(id, text, types, Box::default(), TAIL, columns)
    }

    fn shaped(
        id: u32,
        text: Box<str>,
        types: Box<[ParameterType]>,
        declared: Box<[bool]>,
        tail: &'static [u8],
        columns: Vec<Column>,
    ) -> Result<Self, SystemError> {
        let count = u16::try_from(types.len()).map_err(|_| {
            let message = format!(
                "statement {id} has {} parameters, at most 65535 fit",
                types.len()
            );
            SystemError::new(ErrorClass::Data, "", message)
        })?;
        let mut head = b"B\0\0\0\0\0".to_vec();
        head.extend_from_slice(name(id).as_bytes());
        head.push(0);
        head.extend_from_slice(&count.to_be_bytes());
        let formats_at = head.len();
        for parameter_type in &types {
            head.extend_from_slice(&[0, parameter_type.usual_format() as u8]);
        }
        head.extend_from_slice(&count.to_be_bytes());
        let mut statement = Self {
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

    /// One whose `count` parameters have no types before there are values.
    ///
    /// # Errors
    /// As [`Statement::new`].
    pub fn unknown(id: u32, text: Box<str>, count: usize) -> Result<Self, SystemError> {
        let types = vec![ParameterType::Unknown; count].into();
        Self::shaped(id, text, types, Box::default(), DESCRIBING_TAIL, Vec::new())
    }

    /// Appends what prepares the statement again, each value that does not fit its parameter's type now
    /// being of the type it has as a literal.
    ///
    /// # Errors
    /// Where the text is too long for it. Nothing was appended, and nothing changed.
    pub fn declare(
        &mut self,
        id: u32,
        parameters: &[Value],
        out: &mut Vec<u8>,
    ) -> Result<(), SystemError> {
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
        cold(out, |buffer| {
            // Also where the server has none of this name: it does not mind.
            frontend::close(b'S', &name(id), buffer)?;
            frontend::parse(&name(id), &self.text, oids, buffer)
        })?;
        let text = std::mem::take(&mut self.text);
        let columns = std::mem::take(&mut self.columns);
        let declared = declared.into();
        *self = Self::shaped(id, text, types, declared, self.tail, columns)?;
        Ok(())
    }

    /// The server did not take the types of the last [`Statement::declare`]: the next execution declares
    /// those of its own values.
    pub fn undeclare(&mut self) {
        for (of, _) in self
            .types
            .iter_mut()
            .zip(&self.declared)
            .filter(|(_, own)| **own)
        {
            *of = ParameterType::Unknown;
        }
        self.whole = None;
    }

    /// An execution in which every parameter is a zero of its type's size.
    fn example(&self) -> Option<Box<[u8]>> {
        let zeros: Option<Vec<_>> = self.types.iter().map(|of| of.zero()).collect();
        let mut whole = Vec::new();
        self.write(&zeros?, self.tail, &mut whole).ok()?;
        Some(whole.into())
    }

    /// Appends one execution and Sync. Allocates nothing once `out` has room. False where the types of
    /// these values must be declared before; `out` is then as it was.
    ///
    /// # Errors
    /// As [`Statement::queue`].
    #[inline]
    pub fn execute(&self, parameters: &[Value], out: &mut Vec<u8>) -> Result<bool, SystemError> {
        match &self.whole {
            Some(whole) if self.patch(whole, parameters, out) => Ok(true),
            _ => self.write(parameters, self.tail, out),
        }
    }

    /// Appends a copy of `whole` with these values; says whether they fit, and leaves `out` as it was
    /// where one does not.
    #[inline]
    fn patch(&self, whole: &[u8], parameters: &[Value], out: &mut Vec<u8>) -> bool {
        if parameters.len() != self.types.len() {
            return false;
        }
        let start = out.len();
        out.extend_from_slice(whole);
        let mut rest = &mut out[start + self.head.len()..];
        for (of, value) in self.types.iter().zip(parameters) {
            match of.patch(value, rest) {
                Some(behind) => rest = behind,
                None => {
                    out.truncate(start);
                    return false;
                }
            }
        }
        true
    }

    /// Appends one execution of several before one Sync; false as in [`Statement::execute`].
    ///
    /// # Errors
    /// Where the number of parameters is not the statement's, or the message would be larger than the
    /// server takes; `out` is then as it was.
    #[inline]
    pub fn queue(&self, parameters: &[Value], out: &mut Vec<u8>) -> Result<bool, SystemError> {
        self.write(parameters, &self.tail[..self.tail.len() - SYNC.len()], out)
    }

    #[inline]
    fn write(
        &self,
        parameters: &[Value],
        tail: &'static [u8],
        out: &mut Vec<u8>,
    ) -> Result<bool, SystemError> {
        if parameters.len() != self.types.len() {
            return Err(wrong_count(self.types.len(), parameters.len()));
        }
        let start = out.len();
        out.extend_from_slice(&self.head);
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

    fn two_parameters() -> Statement {
        let types = [ParameterType::Int4, ParameterType::Text];
        Statement::new(12, "".into(), types.into(), Vec::new()).expect("two parameters fit")
    }

    #[test]
    fn an_execution_is_bind_execute_and_sync() {
        let mut out = b"before".to_vec();
        let parameters = [Value::Int(7), Value::Text("ab".into())];
        two_parameters()
            .execute(&parameters, &mut out)
            .expect("two parameters are right");
        let bind = b"B\0\0\0\x21\0s12\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x02ab\0\0";
        assert_eq!(
            out,
            [
                b"before",
                &bind[..],
                b"E\0\0\0\x09\0\0\0\0\0",
                b"S\0\0\0\x04"
            ]
            .concat()
        );
    }

    #[test]
    fn a_value_of_another_kind_changes_the_format_code_of_this_execution_alone() {
        let statement = two_parameters();
        let (mut odd, mut even) = (Vec::new(), Vec::new());
        let text = Value::Text("7".into());
        statement
            .execute(&[text, Value::Null], &mut odd)
            .expect("two parameters are right");
        statement
            .execute(&[Value::Int(7), Value::Null], &mut even)
            .expect("two parameters are right");
        assert_eq!(odd[statement.formats_at..][..4], [0, 0, 0, 0]);
        assert_eq!(even[statement.formats_at..][..4], [0, 1, 0, 0]);
    }

    #[test]
    fn patching_a_whole_execution_writes_what_writing_its_parameters_does() {
        use ParameterType as Type;
        let types = [
            Type::Int2,
            Type::Int4,
            Type::Int8,
            Type::Float4,
            Type::Float8,
            Type::Bool,
        ];
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
        assert!(statement.patch(whole, &fitting, &mut patched));
        statement
            .write(&fitting, TAIL, &mut written)
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
                !statement.patch(whole, &parameters, &mut out),
                "{parameters:?}"
            );
            assert_eq!(out, b"before");
            assert_eq!(
                statement.execute(&parameters, &mut out),
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
            .execute(&[Value::Null], &mut out)
            .expect_err("one is missing");
        assert!(error.message.contains("expected 2 parameters") && out.is_empty());
    }
    #[test]
    fn types_are_declared_anew_where_a_value_is_of_another_and_only_there() {
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
            let fits = statement.execute(&values, &mut out).expect("two are right");
            assert_eq!(fits, expected.is_none(), "{values:?}");
            if let Some([one, other]) = expected {
                assert!(out.is_empty());
                statement
                    .declare(1, &values, &mut out)
                    .expect("it is short");
                let oids: [[u8; 4]; 2] = [i32::to_be_bytes(one), i32::to_be_bytes(other)];
                assert!(out.ends_with(&oids.concat()), "{}", out.escape_ascii());
                assert_eq!(statement.execute(&values, &mut out), Ok(true));
            }
            assert!(out.ends_with(DESCRIBING_TAIL));
        }
        statement.undeclare();
        assert_eq!(
            statement.execute(&[word, small], &mut Vec::new()),
            Ok(false)
        );
    }
}
