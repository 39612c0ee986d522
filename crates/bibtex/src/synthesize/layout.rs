//! Takes fields; appends them in the layout of bibclean: aligned names and values, long values folded.

use std::fmt::Write as _;

/// The column where values begin.
const INDENT: usize = 17;

/// The maximum line length.
const MARGIN: usize = 72;

/// Appends `  name = "value",` and folds a long value at its blanks.
pub(super) fn text(out: &mut String, name: &str, value: &str) {
    open(out, name);
    out.push('"');
    let mut column = INDENT + 1;
    for (at, word) in value.split(' ').enumerate() {
        if at > 0 {
            if column + 1 + word.len() > MARGIN {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', INDENT));
                column = INDENT;
            } else {
                out.push(' ');
                column += 1;
            }
        }
        out.push_str(word);
        column += word.len();
    }
    out.push_str("\",\n");
}

/// Appends `  name = value,` for the name of a macro.
pub(super) fn bare(out: &mut String, name: &str, value: &str) {
    open(out, name);
    out.push_str(value);
    out.push_str(",\n");
}

fn open(out: &mut String, name: &str) {
    let name = format!("{name} =");
    write!(out, "  {name:<width$}", width = INDENT - 2).expect("writing to memory is infallible");
    if name.len() >= INDENT - 2 {
        out.push(' ');
    }
}
