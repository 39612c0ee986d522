//! Takes the rows of a bulk load; hands them to the library's appender, which writes them in blocks.

use std::ffi::CString;

use assay_values::calendar::{parse_date, parse_time, parse_timestamp};
use assay_values::{Cell, Row};

use crate::duckdb::column::LogicalType;
use crate::duckdb::database::{Connection, c_text};
use crate::duckdb::library::{Handle, Library, NO_ERROR, text_of, type_id as t};
use crate::duckdb::{bind, refusal};
use crate::lexer::columns_of;
use crate::{ErrorClass, Result, SystemError};

/// A bulk load. Its owner ends it before the connection.
pub(super) struct Appender {
    handle: Handle,
    library: &'static Library,
    /// `duckdb_type` of each column.
    types: Vec<u32>,
    /// Rows handed over so far.
    rows: u64,
    /// The first error; later rows are skipped.
    error: Option<SystemError>,
    is_ended: bool,
}

// SAFETY: an appender is used only together with its connection, by one thread at a time.
unsafe impl Send for Appender {}

impl Appender {
    /// `text` is an INSERT that names the table and the columns.
    ///
    /// # Errors
    /// Where the text has another form, or there is no such table or column.
    pub(super) fn begin(connection: &Connection, text: &str) -> Result<Self> {
        let (table, columns) = columns_of(text).ok_or_else(|| {
            let message =
                format!("expected INSERT INTO table (column, …) VALUES (?, …), found {text:?}");
            SystemError::new(ErrorClass::Syntax, "", message)
        })?;
        let table = c_text(&table)?;
        let columns: Vec<CString> = columns
            .iter()
            .map(|column| c_text(column))
            .collect::<Result<_, _>>()?;
        let library = connection.database.library;
        let mut appender = Self {
            handle: std::ptr::null_mut(),
            library,
            types: Vec::with_capacity(columns.len()),
            rows: 0,
            error: None,
            is_ended: false,
        };
        // SAFETY: the connection is open, the text ends in a NUL byte, and the library gives an appender, which
        // holds the error where there is one.
        let state = unsafe {
            (library.appender_create)(
                connection.handle,
                std::ptr::null(),
                table.as_ptr(),
                &raw mut appender.handle,
            )
        };
        appender.checked(state)?;
        for column in &columns {
            // SAFETY: the appender is alive, and the text ends in a NUL byte.
            let state = unsafe { (library.appender_add_column)(appender.handle, column.as_ptr()) };
            appender.checked(state)?;
        }
        // SAFETY: the appender is alive, here and below; the descriptions are ours.
        for column in 0..unsafe { (library.appender_column_count)(appender.handle) } {
            // SAFETY: as above.
            let described = unsafe { (library.appender_column_type)(appender.handle, column) };
            appender
                .types
                .push(LogicalType::of(library, described).id());
        }
        Ok(appender)
    }

    /// Hands over a row, unless an earlier one had an error.
    pub(super) fn row(&mut self, row: &Row) {
        if self.error.is_some() {
            return;
        }
        match self.append(row) {
            Ok(()) => self.rows += 1,
            Err(error) => {
                let message = format!("row {}: {}", self.rows + 1, error.message);
                self.error = Some(SystemError { message, ..error });
            }
        }
    }

    /// Writes the rows that are left; returns how many there were.
    ///
    /// # Errors
    /// Where a row could not be kept.
    pub(super) fn end(mut self) -> Result<u64> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        // SAFETY: the appender is alive.
        let state = unsafe { (self.library.appender_flush)(self.handle) };
        self.checked(state)?;
        self.is_ended = true;
        Ok(self.rows)
    }

    fn append(&self, row: &Row) -> Result<()> {
        if row.len() != self.types.len() {
            return Err(SystemError::new(
                ErrorClass::Data,
                "",
                format!("expected {} cells, found {}", self.types.len(), row.len()),
            ));
        }
        for (cell, &type_id) in row.cells().zip(&self.types) {
            self.checked(self.cell(cell, type_id))?;
        }
        // SAFETY: the appender is alive.
        self.checked(unsafe { (self.library.appender_end_row)(self.handle) })
    }

    fn cell(&self, cell: Cell<'_>, type_id: u32) -> u32 {
        let (library, appender) = (self.library, self.handle);
        // SAFETY: the appender is alive, and the library copies the bytes; here and below.
        unsafe {
            match cell {
                Cell::Null => (library.append_null)(appender),
                Cell::Bool(truth) => (library.append_bool)(appender, truth),
                Cell::Int(number) => (library.append_int64)(appender, number),
                Cell::Double(number) => (library.append_double)(appender, number),
                Cell::Text(text) => self.text(text, type_id),
            }
        }
    }

    /// A text, or the text form of another type: the frequent ones are read here, which costs less than the
    /// library's own cast. What is not read here is left to that cast, and to its error.
    fn text(&self, text: &[u8], type_id: u32) -> u32 {
        let (library, appender) = (self.library, self.handle);
        // SAFETY: see `cell`.
        unsafe {
            match type_id {
                t::BLOB => {
                    return (library.append_blob)(
                        appender,
                        text.as_ptr().cast(),
                        text.len() as u64,
                    );
                }
                t::DATE => {
                    if let Some(days) = parse_date(text) {
                        return (library.append_date)(appender, days);
                    }
                }
                t::TIMESTAMP => {
                    if let Some(us) = parse_timestamp(text) {
                        return (library.append_timestamp)(appender, us);
                    }
                }
                t::TIME => {
                    if let Some(us) = parse_time(text) {
                        return (library.append_time)(appender, us);
                    }
                }
                t::TINYINT | t::SMALLINT | t::INTEGER | t::BIGINT => {
                    let number = std::str::from_utf8(text)
                        .ok()
                        .and_then(|text| text.parse().ok());
                    if let Some(number) = number {
                        return (library.append_int64)(appender, number);
                    }
                }
                t::LIST => {
                    if let Some(list) = bind::list_text_of_array(text) {
                        return (library.append_varchar_length)(
                            appender,
                            list.as_ptr().cast(),
                            list.len() as u64,
                        );
                    }
                }
                _ => {}
            }
            (library.append_varchar_length)(appender, text.as_ptr().cast(), text.len() as u64)
        }
    }

    fn checked(&self, state: u32) -> Result<()> {
        if state == NO_ERROR {
            return Ok(());
        }
        let library = self.library;
        // SAFETY: the appender is alive; the error's data are ours, and its text is copied.
        unsafe {
            let mut data = (library.appender_error_data)(self.handle);
            let error_type = (library.error_data_error_type)(data);
            let message = text_of((library.error_data_message)(data));
            (library.destroy_error_data)(&raw mut data);
            Err(refusal::of(error_type, &message))
        }
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // SAFETY: the appender is ours. Destroying it would write the rows that are left, so those of a load
        // that is not ended are cleared first.
        unsafe {
            if !self.is_ended {
                (self.library.appender_clear)(self.handle);
            }
            (self.library.appender_destroy)(&raw mut self.handle);
        }
    }
}
