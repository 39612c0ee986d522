//! Takes files; prints the speed and the memory of reading them, for work on the reader.
//!
//! ```text
//! measure scan FILE…            reading and checking alone
//! measure rows FILE…            the rows of the three tables, thrown away
//! measure sql FILE…             the SQL text on standard output
//! measure document JSON         the same for the `SqlOptions` that the text says
//! measure synthesize N FOLDER   N invented entries, as files in a folder
//! measure replicate K FILE…     the files K times over, as BibTeX on standard output
//! ```

use std::io::stdout;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use assay_bibtex::{
    BibSource, Replicas, ScanOptions, SourceOptions, SqlOptions, scan, synthesize,
    write_replicated, write_sql,
};
use assay_values::{Row, RowSource as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mode, rest) = arguments.split_first().ok_or("which measurement?")?;
    let files = rest.to_vec();
    let started = Instant::now();
    let bytes = match mode.as_str() {
        "scan" => {
            let options = ScanOptions { files, ..ScanOptions::default() };
            let found = scan(&options, &mut |_, _| ControlFlow::Continue(()))?;
            eprintln!(
                "{} entries, {} strings, {} errors, {} warnings",
                found.entries, found.strings, found.problems.errors, found.problems.warnings
            );
            found.bytes
        }
        "rows" => {
            let options = SourceOptions { files, ..SourceOptions::default() };
            let mut source = BibSource::new(&options)?;
            let mut row = Row::new();
            while source.next_row(&mut row)?.is_some() {}
            source.bytes_read()
        }
        "sql" => {
            let source = SourceOptions { files, ..SourceOptions::default() };
            let options = SqlOptions { source, ..SqlOptions::default() };
            write_sql(&options, &mut stdout().lock())?.bytes_read
        }
        "document" => {
            let options: SqlOptions = serde_json::from_str(rest.first().ok_or("no document")?)?;
            write_sql(&options, &mut stdout().lock())?.bytes_read
        }
        "synthesize" => {
            let [count, folder] = rest else {
                return Err("how many, and where?".into());
            };
            synthesize(Path::new(folder), count.parse()?, 1)?.bytes
        }
        "replicate" => {
            let (count, files) = rest.split_first().ok_or("how many replicas?")?;
            let options = SourceOptions {
                files: files.to_vec(),
                replicas: Some(Replicas { count: count.parse()?, ..Replicas::default() }),
                ..SourceOptions::default()
            };
            write_replicated(&options, &mut stdout().lock())?.bytes
        }
        _ => return Err("expected scan, rows, sql, document, synthesize or replicate".into()),
    };
    let elapsed_s = started.elapsed().as_secs_f64();
    eprintln!(
        "{:.1} MB in {elapsed_s:.3} s: {:.0} MB/s; resident at most {} kB",
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / elapsed_s,
        resident_peak_kb().unwrap_or_default(),
    );
    Ok(())
}

fn resident_peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
