//! Takes a column definition; returns what is needed to read that column's cells.

use crate::mysql::shared::constants::{BINARY, column_flag, column_type as kind};
use crate::scan::Scan;
use assay_values::CellType;

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

    pub(crate) fn is_zerofill(&self) -> bool {
        self.flags & column_flag::ZEROFILL != 0
    }
}
