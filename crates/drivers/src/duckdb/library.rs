//! Takes the path of the shared library; returns its functions, loaded once for the whole process, with the types and
//! constants of DuckDB's C interface, as its header `duckdb.h` declares them.

use std::error::Error;
use std::ffi::{c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::os::unix;

use crate::{ErrorClass, Result, SystemError};

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

/// Libraries that are loaded. They stay loaded: threads of their own may still be running.
static LOADED: Mutex<Vec<(PathBuf, &'static Library)>> = Mutex::new(Vec::new());

/// Makes the struct of the functions, and what looks each of them up by its name.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the C interface that this driver calls, without the prefix `duckdb_` of
        /// their names. `duckdb.h` describes each.
        pub(super) struct Library {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn look_up(loaded: &unix::Library, path: &Path) -> Result<Self> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the type is that of the function of this name in `duckdb.h`, and the
                        // library is never unloaded.
                        let symbol = unsafe { loaded.get(concat!("duckdb_", stringify!($name), "\0").as_bytes()) };
                        *symbol.map_err(|_| lacks(path, concat!("duckdb_", stringify!($name))))?
                    },)*
                })
            }
        }
    };
}

functions! {
    library_version: fn() -> *const c_char;
    free: fn(*mut c_void);
    // Databases and connections.
    create_config: fn(*mut Handle) -> u32;
    set_config: fn(Handle, *const c_char, *const c_char) -> u32;
    destroy_config: fn(*mut Handle);
    open_ext: fn(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> u32;
    close: fn(*mut Handle);
    connect: fn(Handle, *mut Handle) -> u32;
    disconnect: fn(*mut Handle);
    interrupt: fn(Handle);
    // Statements.
    extract_statements: fn(Handle, *const c_char, *mut Handle) -> u64;
    extract_statements_error: fn(Handle) -> *const c_char;
    prepare_extracted_statement: fn(Handle, Handle, u64, *mut Handle) -> u32;
    destroy_extracted: fn(*mut Handle);
    prepare_error: fn(Handle) -> *const c_char;
    prepared_statement_type: fn(Handle) -> u32;
    destroy_prepare: fn(*mut Handle);
    nparams: fn(Handle) -> u64;
    param_type: fn(Handle, u64) -> u32;
    param_logical_type: fn(Handle, u64) -> Handle;
    bind_null: fn(Handle, u64) -> u32;
    bind_boolean: fn(Handle, u64, bool) -> u32;
    bind_int8: fn(Handle, u64, i8) -> u32;
    bind_int16: fn(Handle, u64, i16) -> u32;
    bind_int32: fn(Handle, u64, i32) -> u32;
    bind_int64: fn(Handle, u64, i64) -> u32;
    bind_hugeint: fn(Handle, u64, HugeInt) -> u32;
    bind_float: fn(Handle, u64, f32) -> u32;
    bind_double: fn(Handle, u64, f64) -> u32;
    bind_decimal: fn(Handle, u64, RawDecimal) -> u32;
    bind_varchar_length: fn(Handle, u64, *const c_char, u64) -> u32;
    bind_blob: fn(Handle, u64, *const c_void, u64) -> u32;
    bind_date: fn(Handle, u64, i32) -> u32;
    bind_time: fn(Handle, u64, i64) -> u32;
    bind_timestamp: fn(Handle, u64, i64) -> u32;
    bind_timestamp_tz: fn(Handle, u64, i64) -> u32;
    execute_prepared: fn(Handle, *mut RawResult) -> u32;
    // Results.
    destroy_result: fn(*mut RawResult);
    result_error: fn(*mut RawResult) -> *const c_char;
    result_error_type: fn(*mut RawResult) -> u32;
    result_return_type: fn(RawResult) -> u32;
    rows_changed: fn(*mut RawResult) -> u64;
    column_count: fn(*mut RawResult) -> u64;
    column_name: fn(*mut RawResult, u64) -> *const c_char;
    column_type: fn(*mut RawResult, u64) -> u32;
    column_logical_type: fn(*mut RawResult, u64) -> Handle;
    fetch_chunk: fn(RawResult) -> Handle;
    destroy_data_chunk: fn(*mut Handle);
    data_chunk_get_size: fn(Handle) -> u64;
    data_chunk_get_vector: fn(Handle, u64) -> Handle;
    vector_get_data: fn(Handle) -> *mut c_void;
    vector_get_validity: fn(Handle) -> *mut u64;
    list_vector_get_child: fn(Handle) -> Handle;
    array_vector_get_child: fn(Handle) -> Handle;
    struct_vector_get_child: fn(Handle, u64) -> Handle;
    // Types.
    get_type_id: fn(Handle) -> u32;
    destroy_logical_type: fn(*mut Handle);
    logical_type_get_alias: fn(Handle) -> *mut c_char;
    decimal_width: fn(Handle) -> u8;
    decimal_scale: fn(Handle) -> u8;
    decimal_internal_type: fn(Handle) -> u32;
    enum_internal_type: fn(Handle) -> u32;
    enum_dictionary_size: fn(Handle) -> u32;
    enum_dictionary_value: fn(Handle, u64) -> *mut c_char;
    list_type_child_type: fn(Handle) -> Handle;
    array_type_child_type: fn(Handle) -> Handle;
    array_type_array_size: fn(Handle) -> u64;
    map_type_key_type: fn(Handle) -> Handle;
    map_type_value_type: fn(Handle) -> Handle;
    struct_type_child_count: fn(Handle) -> u64;
    struct_type_child_name: fn(Handle, u64) -> *mut c_char;
    struct_type_child_type: fn(Handle, u64) -> Handle;
    union_type_member_count: fn(Handle) -> u64;
    union_type_member_name: fn(Handle, u64) -> *mut c_char;
    union_type_member_type: fn(Handle, u64) -> Handle;
    // Bulk loads.
    appender_create: fn(Handle, *const c_char, *const c_char, *mut Handle) -> u32;
    appender_add_column: fn(Handle, *const c_char) -> u32;
    appender_column_count: fn(Handle) -> u64;
    appender_column_type: fn(Handle, u64) -> Handle;
    appender_end_row: fn(Handle) -> u32;
    appender_flush: fn(Handle) -> u32;
    appender_clear: fn(Handle) -> u32;
    appender_destroy: fn(*mut Handle) -> u32;
    appender_error_data: fn(Handle) -> Handle;
    error_data_error_type: fn(Handle) -> u32;
    error_data_message: fn(Handle) -> *const c_char;
    destroy_error_data: fn(*mut Handle);
    append_null: fn(Handle) -> u32;
    append_bool: fn(Handle, bool) -> u32;
    append_int64: fn(Handle, i64) -> u32;
    append_double: fn(Handle, f64) -> u32;
    append_varchar_length: fn(Handle, *const c_char, u64) -> u32;
    append_blob: fn(Handle, *const c_void, u64) -> u32;
    append_date: fn(Handle, i32) -> u32;
    append_time: fn(Handle, i64) -> u32;
    append_timestamp: fn(Handle, i64) -> u32;
}

impl Library {
    /// Loads the library, unless that was done before.
    ///
    /// # Errors
    /// Where there is no such file, it is no shared library for this program, or it lacks a function.
    pub(super) fn at(path: &Path) -> Result<&'static Self> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = loaded.iter().find(|(place, _)| place == path) {
            return Ok(known);
        }
        let flags = unix::RTLD_LAZY | unix::RTLD_LOCAL;
        // SAFETY: the user chose this library; loading it runs its initializers, as linking to it would.
        let opened = unsafe { unix::Library::open(Some(path), flags) }
            .map_err(|error| refused(path, &cause(&error)))?;
        let functions = Self::look_up(&opened, path)?;
        std::mem::forget(opened);
        let functions: &'static Self = Box::leak(Box::new(functions));
        loaded.push((path.to_owned(), functions));
        Ok(functions)
    }

    /// The library's name and version.
    pub(super) fn version(&self) -> String {
        // SAFETY: the library returns a constant text.
        let version = unsafe { text_of((self.library_version)()) };
        format!("DuckDB {}", version.trim_start_matches('v'))
    }

    /// A text that the library allocated and the caller frees.
    ///
    /// # Safety
    /// `text` is null or a text of this library, and is not used afterwards.
    pub(super) unsafe fn take_text(&self, text: *mut c_char) -> String {
        // SAFETY: as the caller says.
        unsafe {
            let copied = text_of(text);
            (self.free)(text.cast());
            copied
        }
    }
}

/// What the dynamic linker says, which an error of `libloading` has as its source.
fn cause(error: &dyn Error) -> String {
    error.source().unwrap_or(error).to_string()
}

fn refused(path: &Path, why: &str) -> SystemError {
    let what = match why.contains(&*path.to_string_lossy()) {
        true => why.to_owned(),
        false => format!("{}: {why}", path.display()),
    };
    SystemError::new(
        ErrorClass::ConnectionRefused,
        "",
        format!("the DuckDB library cannot be loaded: {what}"),
    )
}

fn lacks(path: &Path, function: &str) -> SystemError {
    let why = format!(
        "it has no function {function}; expected the library of DuckDB 1.5 or later, as a shared library or \
         as the extension module of its Python package"
    );
    refused(path, &why)
}
