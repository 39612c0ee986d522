//! The types and constants of DuckDB's C interface, as its header `duckdb.h` declares them.

use std::ffi::{c_char, c_void};

/// `duckdb_state`: it worked.
pub(super) const NO_ERROR: u32 = 0;

/// `duckdb_result_type`: the answer to an INSERT, UPDATE or DELETE.
pub(super) const CHANGED_ROWS: u32 = 1;
/// `duckdb_result_type`: the answer has rows.
pub(super) const QUERY_RESULT: u32 = 3;

/// `duckdb_statement_type`: BEGIN, COMMIT or ROLLBACK.
pub(super) const TRANSACTION_STATEMENT: u32 = 10;

/// An opaque handle of the library.
pub(super) type Handle = *mut c_void;

/// `duckdb_result`. Its fields are deprecated; the library is asked by functions.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawResult {
    deprecated_counts: [u64; 3],
    deprecated_pointers: [*mut c_void; 2],
    internal: *mut c_void,
}

impl RawResult {
    /// What the library fills.
    pub(super) fn empty() -> Self {
        Self {
            deprecated_counts: [0; 3],
            deprecated_pointers: [std::ptr::null_mut(); 2],
            internal: std::ptr::null_mut(),
        }
    }
}

/// `duckdb_hugeint`: 128 bits.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct HugeInt {
    pub lower: u64,
    pub upper: i64,
}

impl From<i128> for HugeInt {
    fn from(number: i128) -> Self {
        let upper = i64::try_from(number >> 64).expect("64 of 128 bits are left");
        let lower = u64::try_from(number.cast_unsigned() & u128::from(u64::MAX))
            .expect("64 of 128 bits are left");
        Self { lower, upper }
    }
}

/// `duckdb_decimal`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawDecimal {
    pub width: u8,
    pub scale: u8,
    pub digits: HugeInt,
}

/// `duckdb_string_t` as it lies in a vector.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawString {
    length: u32,
    prefix: [u8; 4],
    pointer: *const u8,
}

/// Strings up to this length lie where longer ones have their prefix and pointer.
const INLINED: u32 = 12;

impl RawString {
    /// The bytes of the string.
    ///
    /// # Safety
    /// `this` points to a string in a vector of a data chunk that is not destroyed while the bytes are used.
    pub(super) unsafe fn bytes<'a>(this: *const Self) -> &'a [u8] {
        // SAFETY: the caller's pointer is valid. An inlined string begins where the prefix is, and both it
        // and what the pointer of a longer one leads to are `length` bytes that live as long as the chunk.
        unsafe {
            let length = (*this).length;
            let begin = match length <= INLINED {
                true => (&raw const (*this).prefix).cast::<u8>(),
                false => (*this).pointer,
            };
            std::slice::from_raw_parts(begin, length as usize)
        }
    }
}

/// `duckdb_list_entry`: where the elements of a list begin in the child vector, and how many there are.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ListEntry {
    pub offset: u64,
    pub length: u64,
}

/// `duckdb_interval`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawInterval {
    pub months: i32,
    pub days: i32,
    pub us: i64,
}

/// `duckdb_type`: the ids of the types of columns and parameters.
pub(super) mod type_id {
    pub const BOOLEAN: u32 = 1;
    pub const TINYINT: u32 = 2;
    pub const SMALLINT: u32 = 3;
    pub const INTEGER: u32 = 4;
    pub const BIGINT: u32 = 5;
    pub const UTINYINT: u32 = 6;
    pub const USMALLINT: u32 = 7;
    pub const UINTEGER: u32 = 8;
    pub const UBIGINT: u32 = 9;
    pub const FLOAT: u32 = 10;
    pub const DOUBLE: u32 = 11;
    pub const TIMESTAMP: u32 = 12;
    pub const DATE: u32 = 13;
    pub const TIME: u32 = 14;
    pub const INTERVAL: u32 = 15;
    pub const HUGEINT: u32 = 16;
    pub const VARCHAR: u32 = 17;
    pub const BLOB: u32 = 18;
    pub const DECIMAL: u32 = 19;
    pub const TIMESTAMP_S: u32 = 20;
    pub const TIMESTAMP_MS: u32 = 21;
    pub const TIMESTAMP_NS: u32 = 22;
    pub const ENUM: u32 = 23;
    pub const LIST: u32 = 24;
    pub const STRUCT: u32 = 25;
    pub const MAP: u32 = 26;
    pub const UUID: u32 = 27;
    pub const UNION: u32 = 28;
    pub const BIT: u32 = 29;
    pub const TIME_TZ: u32 = 30;
    pub const TIMESTAMP_TZ: u32 = 31;
    pub const UHUGEINT: u32 = 32;
    pub const ARRAY: u32 = 33;
    pub const SQL_NULL: u32 = 36;
}

/// A text of the library, which belongs to something else; empty for null.
///
/// # Safety
/// `text` is null, or points to a text that ends in a NUL byte.
pub(super) unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller says that it ends in a NUL byte.
    let text = unsafe { std::ffi::CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}
