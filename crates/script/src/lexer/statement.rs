//! Holds a statement of a script, cut at its values and identifiers, whose names
//! are not resolved yet.

/// A statement as written in the script.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    pub at: usize,
    pub parts: Vec<Part<'a>>,
}

#[derive(Debug)]
pub(crate) enum Part<'a> {
    Text(String),
    Value(Name<'a>),
    /// A `:name` that may be plain text: within quotes, or the bound of a slice.
    Perhaps {
        name: Name<'a>,
        is_quoted: bool,
    },
    /// An identifier chosen at run time.
    Identifier(Name<'a>),
}

/// The name of a variable, and its offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a> {
    pub at: usize,
    pub name: &'a str,
}

impl<'a> Written<'a> {
    /// A statement that is sent unchanged.
    pub fn plain(text: &str) -> Self {
        Self { at: 0, parts: vec![Part::Text(text.to_owned())] }
    }

    pub fn identifiers(&self) -> impl Iterator<Item = Name<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Identifier(name) => Some(*name),
            _ => None,
        })
    }

    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    pub fn trim_end(&mut self) {
        if let Some(Part::Text(last)) = self.parts.last_mut() {
            last.truncate(last.trim_end().len());
            if last.is_empty() {
                self.parts.pop();
            }
        }
    }
}
