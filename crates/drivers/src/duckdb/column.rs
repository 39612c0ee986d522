//! Takes the type of a column, as the library describes it; returns what is needed to read its values.

use std::ffi::c_char;

use assay_values::CellType;

use crate::duckdb::library::{Handle, Library, RawResult, type_id};
use crate::{ErrorClass, Result, SystemError};

/// How the values of a column are kept in a vector, and what text they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// A type of a fixed form, by its `duckdb_type`.
    Scalar(u32),
    Decimal {
        /// `duckdb_type` of the number without its point.
        kept_as: u32,
        scale: u8,
    },
    Enum {
        /// `duckdb_type` of the position among the words.
        kept_as: u32,
        words: Box<[String]>,
    },
    List(Box<Self>),
    Array(Box<Self>, usize),
    Struct(Box<[(String, Self)]>),
    Map(Box<(Self, Self)>),
    Union(Box<[(String, Self)]>),
}

impl ColumnKind {
    /// The kind of a column of a result.
    ///
    /// # Errors
    /// Where it has a type that this driver cannot read.
    pub(super) fn of_column(
        library: &'static Library,
        result: &mut RawResult,
        column: u64,
    ) -> Result<Self> {
        // SAFETY: the result is alive, and the column one of its columns.
        let id = unsafe { (library.column_type)(result, column) };
        if is_scalar(id) {
            return Ok(Self::Scalar(id));
        }
        // SAFETY: as above.
        let handle = unsafe { (library.column_logical_type)(result, column) };
        LogicalType { handle, library }.kind()
    }

    /// Whether the value holds others.
    pub(super) fn is_nested(&self) -> bool {
        !matches!(
            self,
            Self::Scalar(_) | Self::Decimal { .. } | Self::Enum { .. }
        )
    }

    /// How the text of a cell is to be read.
    pub(super) fn cell_type(&self) -> CellType {
        match self {
            Self::Scalar(type_id::BLOB) => CellType::HexBytes,
            Self::Scalar(type_id::DATE) => CellType::Date,
            Self::Scalar(type_id::TIME) => CellType::Time,
            Self::Scalar(
                type_id::TIMESTAMP
                | type_id::TIMESTAMP_S
                | type_id::TIMESTAMP_MS
                | type_id::TIMESTAMP_NS,
            ) => CellType::Timestamp,
            Self::Scalar(_) | Self::Enum { .. } => CellType::Plain,
            Self::Decimal { .. } => CellType::Decimal,
            Self::List(_) | Self::Array(..) => CellType::List,
            Self::Struct(_) | Self::Map(_) | Self::Union(_) => CellType::Document,
        }
    }
}

/// The cell type of a column of a result: that of its kind, and of a text with the alias JSON a document.
pub(super) fn cell_type(
    library: &'static Library,
    result: &mut RawResult,
    column: u64,
    kind: &ColumnKind,
) -> CellType {
    if *kind != ColumnKind::Scalar(type_id::VARCHAR) {
        return kind.cell_type();
    }
    // SAFETY: the result is alive, and the column one of its columns.
    let handle = unsafe { (library.column_logical_type)(result, column) };
    let described = LogicalType { handle, library };
    match described.alias().eq_ignore_ascii_case("json") {
        true => CellType::Document,
        false => CellType::Plain,
    }
}

fn is_scalar(id: u32) -> bool {
    use type_id as t;
    matches!(
        id,
        t::BOOLEAN
            | t::TINYINT
            | t::SMALLINT
            | t::INTEGER
            | t::BIGINT
            | t::UTINYINT
            | t::USMALLINT
            | t::UINTEGER
            | t::UBIGINT
            | t::FLOAT
            | t::DOUBLE
            | t::TIMESTAMP
            | t::DATE
            | t::TIME
            | t::INTERVAL
            | t::HUGEINT
            | t::VARCHAR
            | t::BLOB
            | t::TIMESTAMP_S
            | t::TIMESTAMP_MS
            | t::TIMESTAMP_NS
            | t::UUID
            | t::BIT
            | t::TIME_TZ
            | t::TIMESTAMP_TZ
            | t::UHUGEINT
            | t::SQL_NULL
    )
}

/// A `duckdb_logical_type`.
pub(super) struct LogicalType {
    handle: Handle,
    library: &'static Library,
}

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: the library gave the description to us.
        unsafe { (self.library.destroy_logical_type)(&raw mut self.handle) }
    }
}

impl LogicalType {
    /// Takes what the library has given away.
    pub(super) fn of(library: &'static Library, handle: Handle) -> Self {
        Self { handle, library }
    }

    pub(super) fn id(&self) -> u32 {
        // SAFETY: the description is alive, as in all functions of this type; a null one has the id 0.
        unsafe { (self.library.get_type_id)(self.handle) }
    }

    /// Digits, and digits after the point, of a decimal.
    pub(super) fn width_and_scale(&self) -> (u8, u8) {
        // SAFETY: see `id`.
        unsafe {
            (
                (self.library.decimal_width)(self.handle),
                (self.library.decimal_scale)(self.handle),
            )
        }
    }

    fn alias(&self) -> String {
        // SAFETY: see `id`; the text is ours.
        unsafe {
            self.library
                .take_text((self.library.logical_type_get_alias)(self.handle))
        }
    }

    fn child(&self, of: unsafe extern "C" fn(Handle) -> Handle) -> Result<ColumnKind> {
        // SAFETY: see `id`; callers choose the function by the id.
        Self::of(self.library, unsafe { of(self.handle) }).kind()
    }

    fn fields(
        &self,
        count: unsafe extern "C" fn(Handle) -> u64,
        name: unsafe extern "C" fn(Handle, u64) -> *mut c_char,
        described: unsafe extern "C" fn(Handle, u64) -> Handle,
    ) -> Result<Box<[(String, ColumnKind)]>> {
        let library = self.library;
        // SAFETY: see `id`; callers choose the functions by the id.
        (0..unsafe { count(self.handle) })
            .map(|field| {
                // SAFETY: as above, and the field is one of those counted.
                let (name, described) = unsafe {
                    (
                        library.take_text(name(self.handle, field)),
                        described(self.handle, field),
                    )
                };
                Ok((name, Self::of(library, described).kind()?))
            })
            .collect()
    }

    fn kind(&self) -> Result<ColumnKind> {
        let library = self.library;
        Ok(match self.id() {
            id if is_scalar(id) => ColumnKind::Scalar(id),
            type_id::DECIMAL => ColumnKind::Decimal {
                // SAFETY: see `id`.
                kept_as: unsafe { (library.decimal_internal_type)(self.handle) },
                scale: self.width_and_scale().1,
            },
            type_id::ENUM => self.enumeration(),
            type_id::LIST => ColumnKind::List(Box::new(self.child(library.list_type_child_type)?)),
            type_id::ARRAY => {
                // SAFETY: see `id`.
                let size = unsafe { (library.array_type_array_size)(self.handle) };
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                ColumnKind::Array(Box::new(self.child(library.array_type_child_type)?), size)
            }
            type_id::MAP => ColumnKind::Map(Box::new((
                self.child(library.map_type_key_type)?,
                self.child(library.map_type_value_type)?,
            ))),
            type_id::STRUCT => ColumnKind::Struct(self.fields(
                library.struct_type_child_count,
                library.struct_type_child_name,
                library.struct_type_child_type,
            )?),
            type_id::UNION => ColumnKind::Union(self.fields(
                library.union_type_member_count,
                library.union_type_member_name,
                library.union_type_member_type,
            )?),
            id => {
                return Err(SystemError::new(
                    ErrorClass::Data,
                    "",
                    format!("DuckDB's type number {id} cannot be read; cast the column to VARCHAR"),
                ));
            }
        })
    }

    fn enumeration(&self) -> ColumnKind {
        let library = self.library;
        // SAFETY: see `id`.
        let (kept_as, size) = unsafe {
            (
                (library.enum_internal_type)(self.handle),
                (library.enum_dictionary_size)(self.handle),
            )
        };
        // SAFETY: see `id`; the word is one of the dictionary, and ours.
        let word = |number: u32| unsafe {
            library.take_text((library.enum_dictionary_value)(self.handle, number.into()))
        };
        ColumnKind::Enum {
            kept_as,
            words: (0..size).map(word).collect(),
        }
    }
}
