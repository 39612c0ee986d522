//! Takes what the server described of a prepared statement; gives the bytes of each execution.
//!
//! An execution is Bind, Execute and Sync in one send. All that does not change from one to the next is
//! made once: the head of Bind (names, format codes) and the tail (text results, Execute, Sync).
//! Between them go the parameters, and then the length and any format code that differs are patched.

use assay_datagen::Value;

use super::message::LARGEST_BYTES;
use super::parameter::{Format, ParameterType};
use crate::{ErrorClass, SystemError};

/// No result format codes (all text), Execute of the unnamed portal without a row limit, Sync.
const TAIL: &[u8] = b"\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
/// How much of the tail belongs to Bind.
const TAIL_IN_BIND_BYTES: usize = 2;

pub(super) struct Statement {
    head: Box<[u8]>,
    /// Where in `head` the first format code stands.
    formats_at: usize,
    types: Box<[ParameterType]>,
    pub columns: Vec<String>,
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
        types: Box<[ParameterType]>,
        columns: Vec<String>,
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
        Ok(Self {
            head: head.into(),
            formats_at,
            types,
            columns,
        })
    }

    /// Appends one execution. Allocates nothing once `out` has room.
    ///
    /// # Errors
    /// Where the number of parameters is not the statement's, or the message would be larger than the
    /// server takes; `out` is then as it was.
    #[inline]
    pub fn execute(&self, parameters: &[Value], out: &mut Vec<u8>) -> Result<(), SystemError> {
        if parameters.len() != self.types.len() {
            return Err(wrong_count(self.types.len(), parameters.len()));
        }
        let start = out.len();
        out.extend_from_slice(&self.head);
        for (index, (of, value)) in self.types.iter().zip(parameters).enumerate() {
            let format = of.write(value, out);
            if format != of.usual_format() {
                out[start + self.formats_at + 2 * index + 1] = format as u8;
            }
        }
        out.extend_from_slice(TAIL);
        let length = out.len() - start - 1 - (TAIL.len() - TAIL_IN_BIND_BYTES);
        if length > LARGEST_BYTES {
            out.truncate(start);
            return Err(too_large(length));
        }
        let length = u32::try_from(length).expect("it is below 1 GiB");
        out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

#[cold]
fn wrong_count(expected: usize, found: usize) -> SystemError {
    let message =
        format!("expected {expected} parameters, as the server described them, found {found}");
    SystemError::new(ErrorClass::Other, "", message)
}

#[cold]
pub(super) fn too_large(bytes: usize) -> SystemError {
    let message = format!("a message of {bytes} bytes; the server takes at most {LARGEST_BYTES}");
    SystemError::new(ErrorClass::Data, "", message)
}

const _: () = assert!(Format::Text as u8 == 0 && Format::Binary as u8 == 1);

#[cfg(test)]
mod tests {
    use super::*;

    fn two_parameters() -> Statement {
        let types = [ParameterType::Int4, ParameterType::Text];
        Statement::new(12, types.into(), Vec::new()).expect("two parameters fit")
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
    fn a_wrong_number_of_parameters_sends_nothing() {
        let mut out = Vec::new();
        let error = two_parameters()
            .execute(&[Value::Null], &mut out)
            .expect_err("one is missing");
        assert!(error.message.contains("expected 2 parameters") && out.is_empty());
    }
}
