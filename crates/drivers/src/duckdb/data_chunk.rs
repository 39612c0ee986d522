//! Takes a result; returns its data chunks, and the vectors in them: the values of one column for some
//! thousands of rows.

use crate::duckdb::library::{Handle, Library, ListEntry, RawResult, RawString};

/// Some rows of a result.
pub(super) struct DataChunk {
    handle: Handle,
    library: &'static Library,
}

impl DataChunk {
    /// The next chunk of a result; `None` after the last.
    pub(super) fn next(library: &'static Library, result: &RawResult) -> Option<Self> {
        // SAFETY: the result is alive.
        let handle = unsafe { (library.fetch_chunk)(*result) };
        (!handle.is_null()).then_some(Self { handle, library })
    }

    pub(super) fn row_count(&self) -> u64 {
        // SAFETY: the chunk is alive.
        unsafe { (self.library.data_chunk_get_size)(self.handle) }
    }

    /// The vector of a column, which must be one of the result's. It must not be used after the chunk.
    pub(super) fn vector(&self, column: u64) -> Vector {
        // SAFETY: the chunk is alive, and its columns are those of the result.
        let handle = unsafe { (self.library.data_chunk_get_vector)(self.handle, column) };
        Vector::of(self.library, handle)
    }
}

impl Drop for DataChunk {
    fn drop(&mut self) {
        // SAFETY: the chunk is ours, and its vectors are no longer used.
        unsafe { (self.library.destroy_data_chunk)(&raw mut self.handle) }
    }
}

/// The values of a column within a chunk.
#[derive(Clone, Copy)]
pub(super) struct Vector {
    handle: Handle,
    data: *const u8,
    /// A bit for each row; null where no value is NULL.
    validity: *const u64,
    library: &'static Library,
}

/// Numbers and structs of the interface, for which any bytes are a value.
pub(super) trait FixedSize: Copy {}
impl FixedSize for u8 {}
impl FixedSize for i8 {}
impl FixedSize for u16 {}
impl FixedSize for i16 {}
impl FixedSize for u32 {}
impl FixedSize for i32 {}
impl FixedSize for u64 {}
impl FixedSize for i64 {}
impl FixedSize for u128 {}
impl FixedSize for i128 {}
impl FixedSize for f32 {}
impl FixedSize for f64 {}
impl FixedSize for ListEntry {}
impl FixedSize for super::library::RawInterval {}

impl Vector {
    fn of(library: &'static Library, handle: Handle) -> Self {
        // SAFETY: the vector belongs to a chunk that is alive.
        let (data, validity) =
            unsafe { ((library.vector_get_data)(handle), (library.vector_get_validity)(handle)) };
        Self { handle, data: data.cast(), validity, library }
    }

    /// Whether the value of a row is NULL.
    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        if self.validity.is_null() {
            return false;
        }
        // SAFETY: there is a bit for each row of the vector, and callers stay within its rows.
        let word = unsafe { *self.validity.add(row / 64) };
        word >> (row % 64) & 1 == 0
    }

    /// The value of a row of a column whose type is kept as `T`.
    #[inline]
    pub(super) fn value<T: FixedSize>(&self, row: usize) -> T {
        // SAFETY: callers ask for the type that the interface documents for the column's type, and for a row
        // of the vector. A vector of nested values may begin anywhere, so nothing is assumed of its alignment.
        unsafe { self.data.cast::<T>().add(row).read_unaligned() }
    }

    /// The bytes of a row of a column of texts or blobs, which must not be used after the chunk.
    #[inline]
    pub(super) fn bytes(&self, row: usize) -> &[u8] {
        // SAFETY: as for `value`; the borrow of the vector is shorter than the life of its chunk.
        unsafe { RawString::bytes(self.data.cast::<RawString>().add(row)) }
    }

    /// The elements of a column of lists or maps.
    pub(super) fn of_list(&self) -> Self {
        // SAFETY: callers ask for it only where the column's type is a list or a map.
        Self::of(self.library, unsafe { (self.library.list_vector_get_child)(self.handle) })
    }

    /// The elements of a column of arrays.
    pub(super) fn of_array(&self) -> Self {
        // SAFETY: callers ask for it only where the column's type is an array.
        Self::of(self.library, unsafe { (self.library.array_vector_get_child)(self.handle) })
    }

    /// A field of a column of structs or unions; the first of a union is the number of its member.
    pub(super) fn of_struct(&self, field: usize) -> Self {
        // SAFETY: callers ask for it only where the column's type has this field.
        Self::of(self.library, unsafe {
            (self.library.struct_vector_get_child)(self.handle, field as u64)
        })
    }
}
