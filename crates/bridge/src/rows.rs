//! Takes documents about rows from Python; loads, exports and measures the rows.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use assay_bibtex::{BibSource, ScanOptions, SourceOptions, SqlOptions, WriteError};
use assay_datagen::{
    Dataset, ExportDocument, ExportError, GeneratedDocument, GeneratedSource, export,
};
use assay_engine::{EngineError, LoadDocument};
use assay_values::RowSource;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, os_error, raise};
use crate::progress::ProgressCallback;
use crate::python_rows::PythonRows;
use crate::work::{ended, parsed, printed};

const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The source of the rows.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum SourceDocument {
    Bib(SourceOptions),
    Generated(GeneratedDocument),
}

#[derive(Serialize)]
struct RowProgress {
    rows: u64,
}

/// A source that can be divided between the sessions of a load.
trait Divisible {
    /// At most `most` sources, which together have all rows.
    fn parts(&self, most: u32) -> Result<Vec<Box<dyn RowSource + Send>>, EngineError>;
}

impl Divisible for SourceOptions {
    /// A single source: a bibliography is read from the start.
    fn parts(&self, _most: u32) -> Result<Vec<Box<dyn RowSource + Send>>, EngineError> {
        let source = BibSource::new(self).map_err(EngineError::Source)?;
        Ok(vec![Box::new(source)])
    }
}

impl Divisible for GeneratedDocument {
    fn parts(&self, most: u32) -> Result<Vec<Box<dyn RowSource + Send>>, EngineError> {
        let dataset = Dataset::compile(self).map_err(EngineError::Script)?;
        let parts = dataset.part.divided(most);
        let part_of = |part| Box::new(GeneratedSource::new(Arc::clone(&dataset), part)) as _;
        Ok(parts.map(part_of).collect())
    }
}

/// Loads the rows of a source document, or of a mapping from table to rows.
#[pyfunction]
#[pyo3(signature = (document, source, progress=None))]
pub fn load(
    py: Python<'_>,
    document: &str,
    source: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let document = LoadDocument::parse(document).map_err(raise)?;
    if let Ok(rows) = source.cast::<PyMapping>() {
        let rows = PythonRows::new(&document, rows)?;
        let raised = rows.raised();
        let parts = move || Ok(vec![Box::new(rows) as Box<dyn RowSource + Send>]);
        let loaded = load_parts(py, &document, parts, progress);
        let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        return raised.map_or(loaded, Err);
    }
    let source: SourceDocument = parsed(source.extract()?, "source")?;
    let source: Box<dyn Divisible + Send> = match source {
        SourceDocument::Bib(options) => Box::new(options),
        SourceDocument::Generated(tables) => Box::new(tables),
    };
    let sessions = document.sessions;
    load_parts(py, &document, move || source.parts(sessions), progress)
}

fn load_parts(
    py: Python<'_>,
    document: &LoadDocument,
    parts: impl FnOnce() -> Result<Vec<Box<dyn RowSource + Send>>, EngineError> + Send,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut callback = ProgressCallback::new(progress);
    let loaded = py.detach(|| {
        let mut report = |progress: &assay_engine::LoadProgress| callback.report(progress);
        let mut parts = parts()?;
        let sources = parts.iter_mut().map(|part| &mut **part as _).collect();
        assay_engine::load_parts(document, sources, &mut report)
    });
    ended(callback, loaded.map_err(raise))
}

/// Writes the rows of one table to an open file, which stays open.
#[pyfunction]
#[pyo3(signature = (source, document, file_descriptor, progress=None))]
pub fn generate(
    py: Python<'_>,
    source: &str,
    document: &str,
    file_descriptor: i32,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let dataset = compiled(source)?;
    let document: ExportDocument = parsed(document, "export")?;
    let mut callback = ProgressCallback::new(progress);
    let mut out = duplicate(file_descriptor).map_err(|error| os_error(&error))?;
    let written = py.detach(|| {
        let mut go_on = rate_limited(&mut callback);
        export(&dataset, &document, &mut out, &mut go_on)
    });
    ended(
        callback,
        written.map_err(|error| match error {
            ExportError::Document(message) => {
                Failure::document(format!("export document: {message}")).into_exception()
            }
            ExportError::Source(error) => Failure::from(error).into_exception(),
            ExportError::Output(error) => os_error(&error),
            ExportError::Interrupted => PyKeyboardInterrupt::new_err("interrupted"),
        }),
    )
}

/// Rows, bytes and checksums of the tables of a generated source.
#[pyfunction]
#[pyo3(signature = (source, with_checksums=false, progress=None))]
pub fn measure(
    py: Python<'_>,
    source: &str,
    with_checksums: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let dataset = compiled(source)?;
    let mut callback = ProgressCallback::new(progress);
    let measured = py.detach(|| {
        let mut go_on = |rows| callback.report(&RowProgress { rows });
        assay_datagen::measure(&dataset, with_checksums, &mut go_on)
    });
    let measured = match measured {
        Ok(Some(measured)) => Ok(measured),
        Ok(None) => Err(PyKeyboardInterrupt::new_err("interrupted")),
        Err(error) => Err(Failure::from(error).into_exception()),
    };
    ended(callback, measured)
}

fn compiled(source: &str) -> PyResult<Arc<Dataset>> {
    match parsed(source, "source")? {
        SourceDocument::Generated(tables) => {
            Dataset::compile(&tables).map_err(|error| Failure::from(error).into_exception())
        }
        SourceDocument::Bib(_) => {
            let message = "source document: expected the kind generated, found bib";
            Err(Failure::document(message).into_exception())
        }
    }
}

/// Reports the number of rows at most ten times a second.
fn rate_limited(callback: &mut ProgressCallback) -> impl FnMut(u64) -> ControlFlow<()> {
    let mut next = Instant::now() + REPORT_EVERY;
    move |rows| {
        let now = Instant::now();
        if now < next {
            return ControlFlow::Continue(());
        }
        next = now + REPORT_EVERY;
        callback.report(&RowProgress { rows })
    }
}

// Takes the number of a file that Python has open; returns the same open file, owned.

/// `EBADF`, the same on every Unix.
const BAD_DESCRIPTOR: i32 = 9;

/// A second descriptor of an open file. The first one stays open, and Python closes it.
///
/// # Errors
/// If no file is open under that number, or the process cannot open another.
pub fn duplicate(file_descriptor: i32) -> io::Result<File> {
    if file_descriptor < 0 {
        return Err(io::Error::from_raw_os_error(BAD_DESCRIPTOR));
    }
    // SAFETY: the number is not negative. It is borrowed for one call only, which fails if no file is open
    // under it.
    let borrowed = unsafe { BorrowedFd::borrow_raw(file_descriptor) };
    borrowed.try_clone_to_owned().map(File::from)
}

// Takes documents about bibliographies from Python; returns scan reports, SQL scripts and synthetic
// bibliographies.

/// Entries of a synthetic bibliography if the document gives no number: as many as the 13 real files have.
const SYNTHETIC_ENTRIES: u64 = 9_733;

#[derive(Serialize)]
struct ReadProgress {
    bytes_read: u64,
    bytes_total: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SynthesizeDocument {
    folder: String,
    #[serde(default = "synthetic_entries")]
    entries: u64,
    #[serde(default)]
    seed: u64,
}

fn synthetic_entries() -> u64 {
    SYNTHETIC_ENTRIES
}

#[pyfunction]
#[pyo3(signature = (document, progress=None))]
pub fn bib_scan(py: Python<'_>, document: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let options: ScanOptions = parsed(document, "scan")?;
    let mut callback = ProgressCallback::new(progress);
    let found = py.detach(|| {
        assay_bibtex::scan(&options, &mut |bytes_read, bytes_total| {
            callback.report(&ReadProgress {
                bytes_read,
                bytes_total,
            })
        })
    });
    ended(
        callback,
        found.map_err(|error| Failure::from(error).into_exception()),
    )
}

/// Writes the SQL script to an open file, which stays open.
#[pyfunction]
pub fn bib_write_sql(py: Python<'_>, document: &str, file_descriptor: i32) -> PyResult<String> {
    let options: SqlOptions = parsed(document, "SQL")?;
    let mut out = duplicate(file_descriptor).map_err(|error| os_error(&error))?;
    let written = py.detach(|| assay_bibtex::write_sql(&options, &mut out));
    written.map(|report| printed(&report)).map_err(not_written)
}

/// Writes the enlarged bibliography as BibTeX to an open file, which stays open.
#[pyfunction]
pub fn bib_replicate(py: Python<'_>, document: &str, file_descriptor: i32) -> PyResult<String> {
    let options: SourceOptions = parsed(document, "source")?;
    let mut out = duplicate(file_descriptor).map_err(|error| os_error(&error))?;
    let written = py.detach(|| assay_bibtex::write_replicated(&options, &mut out));
    written.map(|report| printed(&report)).map_err(not_written)
}

#[pyfunction]
pub fn bib_synthesize(py: Python<'_>, document: &str) -> PyResult<String> {
    let options: SynthesizeDocument = parsed(document, "synthesize")?;
    let made = py.detach(|| {
        assay_bibtex::synthesize(Path::new(&options.folder), options.entries, options.seed)
    });
    made.map(|made| printed(&made)).map_err(not_written)
}

fn not_written(error: WriteError) -> PyErr {
    match error {
        WriteError::Source(error) => Failure::from(error).into_exception(),
        WriteError::Output(error) => os_error(&error),
    }
}
