//! Takes the text of a TOML file; returns where each of its keys, tables and elements begins, and how a value is
//! spelled there.

use std::collections::HashMap;
use std::ops::Range;

use pyo3::prelude::*;
use toml_parser::Source;
use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind, parse_document};

/// The places of one text that is TOML: who reads its values has refused another one. Values are not decoded, so
/// that a number that no reader takes has its place too.
#[pyclass(frozen, module = "assay._engine")]
pub struct TomlPlaces {
    text: String,
    nodes: Vec<Node>,
    below: HashMap<(usize, Part), usize>,
}

/// A table, a key or an element; the first one is the file.
#[derive(Default)]
struct Node {
    /// Where it begins; of a table without a heading, where the first thing in it does.
    line: usize,
    /// Where the text of its value begins, inside its quotes.
    column: usize,
    /// Where its value is in the text; empty: it has none, or one of several parts.
    spelled: Range<usize>,
    has_own_line: bool,
    elements: usize,
}

/// What a path consists of.
#[derive(FromPyObject, PartialEq, Eq, Hash)]
pub enum Part {
    Element(usize),
    Name(String),
}

#[pymethods]
impl TomlPlaces {
    #[new]
    fn new(text: String) -> Self {
        let mut reader = Reader::new(&text);
        let tokens: Vec<_> = reader.source.lex().collect();
        parse_document(&tokens, &mut |event| reader.take(event), &mut ());
        let (nodes, below) = (reader.nodes, reader.below);
        Self { text, nodes, below }
    }

    /// The 1-based line, the 1-based column of the value in it, and the value as it is spelled. Of what is not
    /// there: the line of the innermost table around it that has one, 0 for the whole file.
    fn place(&self, path: Vec<Part>) -> (usize, usize, &str) {
        let mut at = 0;
        let mut around = 0;
        for part in path {
            let Some(&node) = self.below.get(&(at, part)) else {
                return (around, 0, "");
            };
            at = node;
            if self.nodes[at].has_own_line {
                around = self.nodes[at].line;
            }
        }
        let found = &self.nodes[at];
        (found.line, found.column, &self.text[found.spelled.clone()])
    }
}

/// Follows the parser through the text.
struct Reader<'t> {
    text: &'t str,
    source: Source<'t>,
    nodes: Vec<Node>,
    below: HashMap<(usize, Part), usize>,
    /// The last place that was asked for: bytes before it, and its line and column.
    offset: usize,
    line: usize,
    column: usize,
    /// The table of the last heading.
    table: usize,
    /// The arrays and inline tables around this place.
    around: Vec<usize>,
    /// Of the key or heading that is being read, and its line.
    names: Vec<String>,
    begins: usize,
    /// The key whose value comes next; None in an array.
    key: Option<usize>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            source: Source::new(text),
            nodes: vec![Node::default()],
            below: HashMap::new(),
            offset: 0,
            line: 1,
            column: 1,
            table: 0,
            around: Vec::new(),
            names: Vec::new(),
            begins: 0,
            key: None,
        }
    }

    fn take(&mut self, event: Event) {
        match event.kind() {
            EventKind::SimpleKey => self.name(event),
            EventKind::StdTableClose => self.table = self.named(0),
            EventKind::ArrayTableClose => {
                let array = self.named(0);
                self.table = self.element(array, self.begins);
            }
            EventKind::KeyValSep => {
                let table = self.around.last().copied().unwrap_or(self.table);
                self.key = Some(self.named(table));
            }
            EventKind::Scalar | EventKind::ArrayOpen | EventKind::InlineTableOpen => {
                self.value(event);
            }
            EventKind::ArrayClose | EventKind::InlineTableClose => {
                self.around.pop();
            }
            _ => {}
        }
    }

    /// A part of a key or of a heading.
    fn name(&mut self, event: Event) {
        self.move_to(event.span().start());
        if self.names.is_empty() {
            self.begins = self.line;
        }
        let mut name = String::new();
        if let Some(raw) = self.source.get(event) {
            raw.decode_key(&mut name, &mut ());
        }
        self.names.push(name);
    }

    fn value(&mut self, event: Event) {
        let span = event.span();
        self.move_to(span.start());
        let node = match (self.key.take(), self.around.last()) {
            (Some(key), _) => key,
            (None, Some(&array)) => self.element(array, self.line),
            (None, None) => return,
        };
        let quotes = match event.encoding() {
            None => 0,
            Some(Encoding::BasicString | Encoding::LiteralString) => 1,
            Some(Encoding::MlBasicString | Encoding::MlLiteralString) => 3,
        };
        self.nodes[node].column = self.column + quotes;
        if event.kind() == EventKind::Scalar {
            self.nodes[node].spelled = span.start()..span.end();
        } else {
            self.around.push(node);
        }
    }

    /// What the names that were read lead to from there, which begins where they do. Those before the last one may lead
    /// through arrays of tables, each to its last table so far.
    fn named(&mut self, from: usize) -> usize {
        let mut at = from;
        for name in std::mem::take(&mut self.names) {
            if let Some(last) = self.nodes[at].elements.checked_sub(1) {
                at = self.child(at, Part::Element(last), self.begins);
            }
            at = self.child(at, Part::Name(name), self.begins);
        }
        self.begin(at, self.begins);
        at
    }

    /// The next element of an array.
    fn element(&mut self, array: usize, line: usize) -> usize {
        let number = self.nodes[array].elements;
        self.nodes[array].elements += 1;
        let element = self.child(array, Part::Element(number), line);
        self.begin(element, line);
        element
    }

    fn child(&mut self, of: usize, part: Part, line: usize) -> usize {
        let next = self.nodes.len();
        let node = *self.below.entry((of, part)).or_insert(next);
        if node == next {
            self.nodes.push(Node {
                line,
                ..Node::default()
            });
        }
        node
    }

    fn begin(&mut self, node: usize, line: usize) {
        let node = &mut self.nodes[node];
        if !node.has_own_line {
            (node.line, node.has_own_line) = (line, true);
        }
    }

    fn move_to(&mut self, offset: usize) {
        for sign in self.text[self.offset..offset].chars() {
            if sign == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.offset = offset;
    }
}
