//! Takes documents about rows from Python; gives loads, texts and measures of them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_bibtex::{BibSource, SourceOptions};
use assay_datagen::{
    Dataset, ExportDocument, ExportError, GeneratedDocument, GeneratedSource, export,
};
use assay_engine::{EngineError, LoadDocument};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::bibliography::borrowed;
use crate::failure::{Failure, os_error, raise};
use crate::progress::Listener;
use crate::work::{ended, parsed};

const TELL_EVERY: Duration = Duration::from_millis(100);

/// Who makes the rows.
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

#[pyfunction]
#[pyo3(signature = (document, source, progress=None))]
pub fn load(
    py: Python<'_>,
    document: &str,
    source: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let document = LoadDocument::parse(document).map_err(raise)?;
    let source: SourceDocument = parsed(source, "source")?;
    let mut listener = Listener::new(progress);
    let report = py.detach(|| {
        let mut tell = |told: &assay_engine::LoadProgress| listener.tell(told);
        match source {
            SourceDocument::Bib(options) => {
                // A bibliography is read from its beginning: there is one part of it.
                let mut source = BibSource::new(&options).map_err(EngineError::Source)?;
                assay_engine::load(&document, &mut source, &mut tell)
            }
            SourceDocument::Generated(tables) => {
                let dataset = Dataset::compile(&tables).map_err(EngineError::Script)?;
                let parts = dataset.part().divided(document.sessions);
                let source_of = |part| GeneratedSource::new(Arc::clone(&dataset), part);
                let mut sources: Vec<GeneratedSource> = parts.map(source_of).collect();
                let sources = sources.iter_mut().map(|source| source as _).collect();
                assay_engine::load_parts(&document, sources, &mut tell)
            }
        }
    });
    ended(listener, report.map_err(raise))
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
    let mut listener = Listener::new(progress);
    let written = py.detach(|| {
        let mut out = borrowed(file_descriptor);
        let mut go_on = told_seldom(&mut listener);
        export(&dataset, &document, &mut *out, &mut go_on)
    });
    ended(
        listener,
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

/// Rows, bytes and checksums of the tables of a source that generates them.
#[pyfunction]
#[pyo3(signature = (source, with_checksums=false, progress=None))]
pub fn measure(
    py: Python<'_>,
    source: &str,
    with_checksums: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let dataset = compiled(source)?;
    let mut listener = Listener::new(progress);
    let measured = py.detach(|| {
        let mut go_on = |rows| listener.tell(&RowProgress { rows });
        assay_datagen::measure(&dataset, with_checksums, &mut go_on)
    });
    let measured = match measured {
        Ok(Some(measured)) => Ok(measured),
        Ok(None) => Err(PyKeyboardInterrupt::new_err("interrupted")),
        Err(error) => Err(Failure::from(error).into_exception()),
    };
    ended(listener, measured)
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

/// Tells at most ten times a second how many rows there are.
fn told_seldom(listener: &mut Listener) -> impl FnMut(u64) -> ControlFlow<()> {
    let mut next = Instant::now() + TELL_EVERY;
    move |rows| {
        let now = Instant::now();
        if now < next {
            return ControlFlow::Continue(());
        }
        next = now + TELL_EVERY;
        listener.tell(&RowProgress { rows })
    }
}
