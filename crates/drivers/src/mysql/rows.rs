//! Takes a column definition; returns what is needed to read that column's cells. Takes one row's payload, text or binary;
//! reports its cells to the answer, those of a binary row as the text protocol would have sent them.

use std::io::Write as _;

use assay_values::CellType;

use crate::Answer;
use crate::mysql::constants::{BINARY, column_flag, column_type as kind};
use crate::mysql::float_text::{append_double, append_float};
use crate::scan::Scan;

#[derive(Debug)]
pub(crate) struct Column {
    /// Kept only for prepared statements, whose definitions are sent once; otherwise empty.
    pub(crate) name: Box<str>,
    pub(crate) column_type: u8,
    flags: u16,
    /// Digits after the decimal point, also of seconds; 31 where the column does not fix them.
    pub(crate) decimals: u8,
    /// Width in characters, to which `ZEROFILL` fills.
    pub(crate) width: u32,
    character_set: u16,
}

impl Column {
    /// Reads a definition (`Protocol::ColumnDefinition41`); returns the column's name and the column.
    pub(crate) fn read(payload: &[u8]) -> Option<(&[u8], Self)> {
        let mut scan = Scan(payload);
        for _ in ["catalog", "schema", "table", "original table"] {
            scan.text()?;
        }
        let name = scan.text()?;
        scan.text()?; // original name
        scan.length()?; // of what follows
        let character_set = scan.u16_le()?;
        let width = scan.u32_le()?;
        let column_type = scan.u8()?;
        let flags = scan.u16_le()?;
        let decimals = scan.u8()?;
        Some((
            name,
            Self {
                name: Box::default(),
                column_type,
                flags,
                decimals,
                width,
                character_set,
            },
        ))
    }

    /// The same, with the name kept.
    pub(crate) fn read_named(payload: &[u8]) -> Option<Self> {
        let (name, column) = Self::read(payload)?;
        Some(Self {
            name: String::from_utf8_lossy(name).into(),
            ..column
        })
    }

    /// The type of its cells; `Plain` for numbers and text.
    pub(crate) fn cell_type(&self) -> CellType {
        match self.column_type {
            kind::NEWDECIMAL => CellType::Decimal,
            kind::DATE | kind::NEWDATE => CellType::Date,
            kind::TIME => CellType::Time,
            kind::DATETIME | kind::TIMESTAMP => CellType::Timestamp,
            kind::JSON => CellType::Document,
            // Text columns have these types as well.
            kind::TINY_BLOB..=kind::BLOB if self.character_set == BINARY => CellType::Bytes,
            _ => CellType::Plain,
        }
    }

    pub(crate) fn is_unsigned(&self) -> bool {
        self.flags & column_flag::UNSIGNED != 0
    }
}

/// Limit for `ZEROFILL`: no server sends a wider number.
const WIDEST_NUMBER: usize = 255;

/// Reads the next cell of `scan`. Numbers and times are written into `text`, which is cleared
/// first; everything else is text already and is returned in place.
pub(crate) fn read_cell<'payload: 'cell, 'cell>(
    scan: &mut Scan<'payload>,
    column: &Column,
    text: &'cell mut Vec<u8>,
) -> Option<&'cell [u8]> {
    text.clear();
    match column.column_type {
        kind::TINY | kind::SHORT | kind::INT24 | kind::LONG | kind::LONGLONG => {
            integer(scan, column, text)?;
        }
        kind::YEAR => write!(text, "{:04}", scan.u16_le()?).ok()?,
        kind::FLOAT => append_float(text, f32::from_le_bytes(scan.array()?), column.decimals),
        kind::DOUBLE => append_double(text, f64::from_le_bytes(scan.array()?), column.decimals),
        kind::DATE | kind::NEWDATE => date(scan, text)?,
        kind::DATETIME | kind::TIMESTAMP => date_and_time(scan, column.decimals, text)?,
        kind::TIME => time(scan, column.decimals, text)?,
        _ => return scan.text(),
    }
    if column.flags & column_flag::ZEROFILL != 0 {
        let width = usize::try_from(column.width).ok()?.min(WIDEST_NUMBER);
        let zeros = width.saturating_sub(text.len());
        text.splice(0..0, std::iter::repeat_n(b'0', zeros));
    }
    Some(text)
}

fn integer(scan: &mut Scan<'_>, column: &Column, text: &mut Vec<u8>) -> Option<()> {
    let is_unsigned = column.is_unsigned();
    let number: i64 = match column.column_type {
        kind::TINY if is_unsigned => scan.u8()?.into(),
        kind::TINY => i8::from_le_bytes(scan.array()?).into(),
        kind::SHORT if is_unsigned => scan.u16_le()?.into(),
        kind::SHORT => i16::from_le_bytes(scan.array()?).into(),
        kind::LONGLONG if is_unsigned => {
            return write!(text, "{}", u64::from_le_bytes(scan.array()?)).ok();
        }
        kind::LONGLONG => i64::from_le_bytes(scan.array()?),
        _ if is_unsigned => scan.u32_le()?.into(),
        _ => i32::from_le_bytes(scan.array()?).into(),
    };
    write!(text, "{number}").ok()
}

/// Date and time of day; trailing fields that are zero are not sent.
fn date(scan: &mut Scan<'_>, text: &mut Vec<u8>) -> Option<()> {
    let mut fields = Scan(scan.text()?);
    write_date(&mut fields, text)
}

fn date_and_time(scan: &mut Scan<'_>, decimals: u8, text: &mut Vec<u8>) -> Option<()> {
    let mut fields = Scan(scan.text()?);
    write_date(&mut fields, text)?;
    let [hour, minute, second] = next_or_zeros(&mut fields)?;
    write!(text, " {hour:02}:{minute:02}:{second:02}").ok()?;
    fraction(&mut fields, decimals, text)
}

/// A TIME value: the protocol sends days and hours separately, the text form adds them up.
fn time(scan: &mut Scan<'_>, decimals: u8, text: &mut Vec<u8>) -> Option<()> {
    let mut fields = Scan(scan.text()?);
    let [is_negative, a, b, c, d] = next_or_zeros(&mut fields)?;
    let [hour, minute, second] = next_or_zeros(&mut fields)?;
    let hours = u64::from(u32::from_le_bytes([a, b, c, d])) * 24 + u64::from(hour);
    let sign = if is_negative == 0 { "" } else { "-" };
    write!(text, "{sign}{hours:02}:{minute:02}:{second:02}").ok()?;
    fraction(&mut fields, decimals, text)
}

fn write_date(fields: &mut Scan<'_>, text: &mut Vec<u8>) -> Option<()> {
    let [low, high, month, day] = next_or_zeros(fields)?;
    let year = u16::from_le_bytes([low, high]);
    write!(text, "{year:04}-{month:02}-{day:02}").ok()
}

fn fraction(fields: &mut Scan<'_>, decimals: u8, text: &mut Vec<u8>) -> Option<()> {
    let micros = u32::from_le_bytes(next_or_zeros(fields)?);
    if (1..=6).contains(&decimals) {
        write!(text, ".{micros:06}").ok()?;
        text.truncate(text.len() - (6 - usize::from(decimals)));
    }
    Some(())
}

/// The next bytes, or zeros if the value ends before them; `None` if it ends within them.
fn next_or_zeros<const N: usize>(fields: &mut Scan<'_>) -> Option<[u8; N]> {
    if fields.0.is_empty() {
        Some([0; N])
    } else {
        fields.array()
    }
}

const NULL: u8 = 0xFB;

/// A text row: for each column a length-encoded string, or the NULL byte.
pub(crate) fn text_row(payload: &[u8], columns: usize, answer: &mut Answer) -> Option<()> {
    let mut scan = Scan(payload);
    answer.begin_row();
    for _ in 0..columns {
        if scan.0.first() == Some(&NULL) {
            scan.take(1)?;
            answer.cell(None);
        } else {
            answer.cell(Some(scan.text()?));
        }
    }
    end(scan, answer)
}

/// A binary row: a zero byte, a NULL bitmap (whose first two bits are unused), then the values that
/// are not NULL. `text` is a buffer for the text of numbers.
pub(crate) fn binary_row(
    payload: &[u8],
    columns: &[Column],
    text: &mut Vec<u8>,
    answer: &mut Answer,
) -> Option<()> {
    let mut scan = Scan(payload);
    scan.take(1)?;
    let nulls = scan.take((columns.len() + 2).div_ceil(8))?;
    answer.begin_row();
    for (column, bit) in columns.iter().zip(2..) {
        if nulls[bit / 8] & 1 << (bit % 8) != 0 {
            answer.cell(None);
        } else {
            answer.cell(Some(read_cell(&mut scan, column, text)?));
        }
    }
    end(scan, answer)
}

fn end(scan: Scan<'_>, answer: &mut Answer) -> Option<()> {
    scan.0.is_empty().then(|| answer.end_row())
}
