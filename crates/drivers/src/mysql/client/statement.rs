//! A prepared statement of one session: takes parameter values and appends the execution; keeps the
//! server's id, the parameter types already sent, and the column definitions received.

use assay_values::Value;
use assay_values::calendar::{DAY_S, moment_of};

use crate::mysql::constants::{column_type as kind, command};
use crate::mysql::greeting::Agreement;
use crate::mysql::packet::{Packets, write_length, write_text};
use crate::mysql::results::Format;
use crate::mysql::rows::Column;
use crate::request::ById;
use crate::scan::Scan;
use crate::{ErrorClass, Result, SystemError};

/// How a statement for which Prepare was requested is executed.
pub(crate) enum Statement {
    Prepared(Prepared),
    /// The server cannot prepare this kind of statement, which has no parameters: it is sent as text.
    Text(String),
}

pub(crate) struct Prepared {
    pub(crate) server_id: u32,
    parameter_count: usize,
    /// Parameter types sent with the last execution, two bytes each; empty before the first.
    bound: Vec<u8>,
    /// The last execution as it was sent, if it had no types and each parameter had a value of fixed
    /// size: the next execution of that kind is a copy with other values.
    whole: Vec<u8>,
    /// The definitions that the server sent last.
    pub(crate) columns: Vec<Column>,
}

impl Statement {
    /// Appends the execution with its packet header.
    pub(crate) fn write(
        &mut self,
        parameters: &[Value],
        packets: &mut Packets,
        out: &mut Vec<u8>,
    ) -> Result<Format> {
        let expected = match self {
            Self::Prepared(prepared) => prepared.parameter_count,
            Self::Text(_) => 0,
        };
        if parameters.len() != expected {
            let given = parameters.len();
            let message = format!("the statement has {expected} parameters, {given} were given");
            return Err(SystemError::new(ErrorClass::Data, "", message));
        }
        Ok(match self {
            Self::Prepared(prepared) => {
                packets.begin_command();
                if prepared.patch(parameters, out) {
                    packets.passed();
                } else {
                    let start = out.len();
                    packets.write(out, |out| prepared.write(parameters, out));
                    prepared.keep(parameters, &out[start..]);
                }
                Format::Binary
            }
            Self::Text(text) => {
                packets.query(text, out);
                Format::Text
            }
        })
    }
}

impl Prepared {
    /// Appends the payload of an execution; the number of parameters must match the server's. Types
    /// are sent only if the server does not know them yet; a NULL does not change its parameter's type.
    fn write(&mut self, parameters: &[Value], out: &mut Vec<u8>) {
        out.push(command::STMT_EXECUTE);
        out.extend_from_slice(&self.server_id.to_le_bytes());
        out.extend_from_slice(&[0, 1, 0, 0, 0]); // no cursor; one execution
        if parameters.is_empty() {
            return;
        }
        let nulls_at = out.len();
        out.resize(nulls_at + parameters.len().div_ceil(8), 0);
        for (at, _) in parameters
            .iter()
            .enumerate()
            .filter(|(_, value)| **value == Value::Null)
        {
            out[nulls_at + at / 8] |= 1 << (at % 8);
        }
        let types_change = self.bind(parameters);
        if types_change {
            self.whole.clear();
        }
        out.push(types_change.into());
        if types_change {
            out.extend_from_slice(&self.bound);
        }
        for value in parameters {
            match value {
                Value::Null => {}
                Value::Bool(truth) => out.push((*truth).into()),
                Value::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
                Value::Double(number) => out.extend_from_slice(&number.to_le_bytes()),
                Value::Text(text) => write_text(out, text.as_bytes()),
                typed => write_typed(typed, out),
            }
        }
    }

    /// Keeps an execution with its packet header, to be patched by later ones.
    fn keep(&mut self, parameters: &[Value], packet: &[u8]) {
        let is_fixed =
            |value: &Value| matches!(value, Value::Bool(_) | Value::Int(_) | Value::Double(_));
        let bytes = Packets::HEADER + self.head_bytes() + sizes(parameters);
        // An execution that sends types is longer; it is not kept.
        if packet.len() == bytes && parameters.iter().all(is_fixed) {
            self.whole.clear();
            self.whole.extend_from_slice(packet);
        }
    }

    /// Length of an execution before the values, without types.
    fn head_bytes(&self) -> usize {
        match self.parameter_count {
            0 => 10,
            count => 10 + count.div_ceil(8) + 1,
        }
    }

    /// Appends a copy of the last execution with these values; returns false, and leaves `out` unchanged,
    /// if a value has another type.
    #[inline]
    fn patch(&self, parameters: &[Value], out: &mut Vec<u8>) -> bool {
        if self.whole.is_empty() {
            return false;
        }
        let start = out.len();
        out.extend_from_slice(&self.whole);
        let mut rest = &mut out[start + Packets::HEADER + self.head_bytes()..];
        for (bound, value) in self.bound.chunks_exact(2).zip(parameters) {
            let following = match (bound[0], value) {
                (kind::LONGLONG, Value::Int(number)) => put(rest, number.to_le_bytes()),
                (kind::DOUBLE, Value::Double(number)) => put(rest, number.to_le_bytes()),
                (kind::TINY, Value::Bool(truth)) => put(rest, [(*truth).into()]),
                _ => None,
            };
            let Some(following) = following else {
                out.truncate(start);
                return false;
            };
            rest = following;
        }
        true
    }

    /// Stores the types of these values; returns whether they must be sent.
    fn bind(&mut self, parameters: &[Value]) -> bool {
        let is_first = self.bound.is_empty();
        if is_first {
            self.bound = [kind::NULL, 0].repeat(parameters.len());
        }
        let mut types_change = is_first;
        for (bound, value) in self.bound.chunks_exact_mut(2).zip(parameters) {
            let needed = match value {
                Value::Null => continue,
                Value::Bool(_) => kind::TINY,
                Value::Int(_) => kind::LONGLONG,
                Value::Double(_) => kind::DOUBLE,
                Value::Text(_) | Value::List(_) | Value::Document(_) => kind::VAR_STRING,
                Value::Bytes(_) => kind::BLOB,
                Value::Decimal(_) => kind::NEWDECIMAL,
                Value::Date(_) => kind::DATE,
                Value::Time(_) => kind::TIME,
                Value::Timestamp(_) => kind::DATETIME,
            };
            types_change |= bound[0] != needed;
            bound[0] = needed;
        }
        types_change
    }
}

/// The total size of values of fixed size.
fn sizes(parameters: &[Value]) -> usize {
    let size = |value: &Value| match value {
        Value::Bool(_) => 1,
        _ => 8,
    };
    parameters.iter().map(size).sum()
}

/// Overwrites the first bytes of `at`; returns what follows them.
#[inline]
fn put<const SIZE: usize>(at: &mut [u8], bytes: [u8; SIZE]) -> Option<&mut [u8]> {
    let (place, following) = at.split_first_chunk_mut()?;
    *place = bytes;
    Some(following)
}

/// An incomplete preparation: the definitions of parameters and columns follow the first answer.
pub(crate) struct Preparation {
    prepared: Prepared,
    /// Packets to skip: the definitions of parameters, and the packet that ends them.
    to_skip: usize,
    columns: usize,
    /// Packets that end the column definitions.
    to_end: usize,
}

impl Preparation {
    /// Reads the first answer (`COM_STMT_PREPARE_OK`).
    pub(crate) fn read(payload: &[u8], agreement: Agreement) -> Option<Self> {
        let mut scan = Scan(payload);
        scan.u8()?;
        let server_id = scan.u32_le()?;
        let columns = usize::from(scan.u16_le()?);
        let parameters = usize::from(scan.u16_le()?);
        let ends = |definitions: usize| usize::from(definitions > 0 && !agreement.deprecates_eof());
        let prepared = Prepared {
            server_id,
            parameter_count: parameters,
            bound: Vec::new(),
            whole: Vec::new(),
            columns: Vec::with_capacity(columns),
        };
        let to_skip = parameters + ends(parameters);
        Some(Self {
            prepared,
            to_skip,
            columns,
            to_end: ends(columns),
        })
    }

    /// Takes one of the packets that follow.
    pub(crate) fn packet(&mut self, payload: &[u8]) -> Result<()> {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else if self.columns > 0 {
            let column = Column::read_named(payload)
                .ok_or_else(|| SystemError::malformed("a column definition", payload))?;
            self.prepared.columns.push(column);
            self.columns -= 1;
        } else {
            self.to_end = self.to_end.saturating_sub(1);
        }
        Ok(())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.to_skip + self.columns + self.to_end == 0
    }

    pub(crate) fn finish(self) -> Prepared {
        self.prepared
    }
}

/// The id of the statement of a [`crate::Request::Direct`]; the engine does not use it.
pub(crate) const DIRECT: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Statements {
    by_id: ById<Statement>,
    direct: Option<Statement>,
    /// The parameter values of the direct statement, until the server has prepared it.
    pub values: Vec<Value>,
}

impl Statements {
    #[inline]
    pub fn get(&self, id: u32) -> Option<&Statement> {
        match id {
            DIRECT => self.direct.as_ref(),
            id => self.by_id.get(id),
        }
    }

    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Statement> {
        match id {
            DIRECT => self.direct.as_mut(),
            id => self.by_id.get_mut(id),
        }
    }

    pub fn put(&mut self, id: u32, statement: Statement) {
        *self.place(id) = Some(statement);
    }

    /// Removes a statement on the server, which does not answer the request. Here it stays until another takes its
    /// place: if that cannot be prepared, the next execution shows that it must be.
    pub fn close(&mut self, id: u32, packets: &mut Packets, out: &mut Vec<u8>) {
        let Some(Statement::Prepared(old)) = self.get(id) else {
            return;
        };
        packets.begin_command();
        let close = [&[command::STMT_CLOSE], &old.server_id.to_le_bytes()[..]].concat();
        packets.append(out, &close);
        if id == DIRECT {
            self.direct = None;
        }
    }

    fn place(&mut self, id: u32) -> &mut Option<Statement> {
        match id {
            DIRECT => &mut self.direct,
            id => self.by_id.place(id),
        }
    }
}

const SECOND_US: i64 = 1_000_000;

pub(crate) fn write_typed(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Bytes(bytes) => write_text(out, bytes),
        Value::Date(days) => {
            out.push(4);
            write_day(i64::from(*days) * DAY_S, out);
        }
        Value::Timestamp(us) => {
            let (seconds, fraction) = (us.div_euclid(SECOND_US), us.rem_euclid(SECOND_US));
            out.push(if fraction == 0 { 7 } else { 11 });
            write_day(seconds, out);
            write_clock(seconds.rem_euclid(DAY_S), fraction, out);
        }
        Value::Time(us) => {
            let us = us.rem_euclid(DAY_S * SECOND_US);
            let (seconds, fraction) = (us / SECOND_US, us % SECOND_US);
            out.push(if fraction == 0 { 8 } else { 12 });
            out.extend_from_slice(&[0; 5]); // not negative, no days
            write_clock(seconds, fraction, out);
        }
        decimal_or_text => {
            // The length prefix of a short text is one byte, filled in after writing.
            let start = out.len();
            out.push(0);
            decimal_or_text.write_text(out);
            match u8::try_from(out.len() - start - 1) {
                Ok(length @ ..=250) => out[start] = length,
                _ => {
                    let mut length = Vec::new();
                    write_length(&mut length, out.len() - start - 1);
                    out.splice(start..=start, length);
                }
            }
        }
    }
}

/// Year, month and day of a time in seconds since 1970.
fn write_day(seconds: i64, out: &mut Vec<u8>) {
    let at = moment_of(seconds);
    let byte = |number: i64| u8::try_from(number).unwrap_or(0);
    // The types end with the year 9999.
    out.extend_from_slice(&u16::try_from(at.year).unwrap_or(0).to_le_bytes());
    out.extend_from_slice(&[byte(at.month), byte(at.day)]);
}

fn write_clock(seconds: i64, fraction_us: i64, out: &mut Vec<u8>) {
    let byte = |number: i64| u8::try_from(number).unwrap_or(0);
    out.extend_from_slice(&[byte(seconds / 3600), byte(seconds / 60 % 60), byte(seconds % 60)]);
    if fraction_us > 0 {
        out.extend_from_slice(&u32::try_from(fraction_us).unwrap_or(0).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::write_typed;
    use assay_values::{Decimal, Value};

    #[test]
    fn dates_and_times_omit_trailing_zeros() {
        let decimal = Decimal::parse("-1.50")
            .map(Value::Decimal)
            .expect("it is one");
        for (value, expected) in [
            (Value::Date(19_782), &[4, 0xE8, 7, 2, 29][..]),
            (
                Value::Timestamp(-1_000_000),
                &[7, 0xB1, 7, 12, 31, 23, 59, 59],
            ),
            (
                Value::Timestamp(500_000),
                &[11, 0xB2, 7, 1, 1, 0, 0, 0, 0x20, 0xA1, 7, 0],
            ),
            (Value::Time(3_723_000_000), &[8, 0, 0, 0, 0, 0, 1, 2, 3]),
            (decimal, b"\x05-1.50"),
            (Value::Bytes([1, 2].into()), &[2, 1, 2]),
        ] {
            let mut out = Vec::new();
            write_typed(&value, &mut out);
            assert_eq!(out, expected, "{value:?}");
        }
    }
}
