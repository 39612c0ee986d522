//! Takes a text and an offset; returns the literal, quoted identifier or comment that begins
//! there, and where it ends. A search for `;`, `:name` or `?` skips these.

use serde::Deserialize;

use crate::place::Defect;

/// How a family of systems writes literals, names and comments. Every style accepts back quotes around
/// identifiers: systems without them do not use back quotes at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextStyle {
    /// A backslash escapes in every literal; `#` begins a comment too, `--` only if followed by white
    /// space. Otherwise a quote within a literal is doubled, and a backslash escapes only in `E'...'`;
    /// `$$...$$` and `$tag$...$tag$` are literals.
    pub backslash_escapes: bool,
    /// A `/*` within a block comment needs a `*/` of its own.
    pub nests_comments: bool,
    /// `[a;b]` is a quoted identifier.
    pub bracketed_names: bool,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// What begins at an offset, and the offset after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// A literal or a quoted identifier.
    Quoted { end: usize },
    /// A comment that no system interprets.
    Comment { end: usize },
    /// `/*+ … */` or `/*! … */`: a comment that some systems interpret.
    Hint { end: usize },
}

impl Passage {
    pub fn end(self) -> usize {
        match self {
            Self::Quoted { end } | Self::Comment { end } | Self::Hint { end } => end,
        }
    }
}

impl TextStyle {
    /// That of standard SQL.
    pub const STANDARD: Self = Self {
        backslash_escapes: false,
        nests_comments: true,
        bracketed_names: false,
    };
    /// That of systems in which a backslash escapes.
    pub const BACKSLASH: Self = Self {
        backslash_escapes: true,
        nests_comments: false,
        bracketed_names: false,
    };

    /// The passage that begins at `at`, if any.
    pub(crate) fn passage(self, text: &str, at: usize) -> Result<Option<Passage>, Defect> {
        let bytes = text.as_bytes();
        let found = match bytes[at] {
            quote @ (b'\'' | b'"') => {
                let escapes = self.backslash_escapes || (quote == b'\'' && follows_e(bytes, at));
                Passage::Quoted {
                    end: self.quoted(bytes, at, escapes)?,
                }
            }
            b'`' => Passage::Quoted {
                end: self.quoted(bytes, at, false)?,
            },
            b'[' if self.bracketed_names => Passage::Quoted {
                end: self.quoted(bytes, at, false)?,
            },
            b'$' if !self.backslash_escapes && !follows_name(bytes, at) => {
                let Some(end) = dollar_quoted(text, at)? else {
                    return Ok(None);
                };
                Passage::Quoted { end }
            }
            b'-' if self.is_dash_comment(bytes, at) => Passage::Comment {
                end: line_end(bytes, at),
            },
            b'#' if self.backslash_escapes => Passage::Comment {
                end: line_end(bytes, at),
            },
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = self.block_comment(bytes, at)?;
                match bytes[at + 2] {
                    b'+' | b'!' => Passage::Hint { end },
                    _ => Passage::Comment { end },
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(found))
    }

    fn is_dash_comment(self, bytes: &[u8], at: usize) -> bool {
        bytes.get(at + 1) == Some(&b'-')
            && (!self.backslash_escapes || bytes.get(at + 2).is_none_or(|&byte| byte <= b' '))
    }

    /// A doubled quote inside is scanned as an end and a new beginning, with the same result.
    fn quoted(self, bytes: &[u8], open: usize, escapes: bool) -> Result<usize, Defect> {
        let quote = match bytes[open] {
            b'[' => b']',
            quote => quote,
        };
        let mut at = open + 1;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            if byte == b'\\' && escapes {
                at += 1;
            } else if byte == quote {
                if bytes.get(at) != Some(&quote) {
                    return Ok(at);
                }
                at += 1;
            }
        }
        let what = if quote == b'\'' {
            "literal"
        } else {
            "quoted identifier"
        };
        let quote = char::from(quote);
        let hint = if bytes[open] == b'[' {
            "a ] cannot stand inside: write such a name in double quotes".to_owned()
        } else if self.backslash_escapes {
            format!("a {quote} inside is written twice")
        } else {
            format!("a {quote} inside is written twice, a backslash escapes nothing")
        };
        Err(Defect::new(open, format!("this {what} is not closed: expected {quote}")).hint(hint))
    }

    fn block_comment(self, bytes: &[u8], open: usize) -> Result<usize, Defect> {
        let (mut at, mut depth) = (open + 2, 1_usize);
        while depth > 0 {
            match bytes.get(at..) {
                Some([b'*', b'/', ..]) => (at, depth) = (at + 2, depth - 1),
                Some([b'/', b'*', ..]) if self.nests_comments => {
                    (at, depth) = (at + 2, depth + 1);
                }
                Some([_, ..]) => at += 1,
                _ => return Err(unclosed_comment(open, self.nests_comments)),
            }
        }
        Ok(at)
    }
}

fn unclosed_comment(open: usize, nests: bool) -> Defect {
    let defect = Defect::new(open, "this comment is not closed: expected */");
    if nests {
        defect.hint("comments nest: every /* inside needs its own */")
    } else {
        defect
    }
}

/// Where the `$tag$…$tag$` that opens at `open` ends; `None` if none opens there (`$1`, `$`).
fn dollar_quoted(text: &str, open: usize) -> Result<Option<usize>, Defect> {
    let rest = &text[open + 1..];
    let tag_length = rest.bytes().take_while(|&byte| is_name_byte(byte)).count();
    let begins_with_digit = rest.as_bytes().first().is_some_and(u8::is_ascii_digit);
    if begins_with_digit || rest.as_bytes().get(tag_length) != Some(&b'$') {
        return Ok(None);
    }
    let body = open + tag_length + 2;
    let mark = &text[open..body];
    match text[body..].find(mark) {
        Some(length) => Ok(Some(body + length + mark.len())),
        None => Err(Defect::new(
            open,
            format!("this literal is not closed: expected {mark}"),
        )),
    }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..]
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(bytes.len(), |length| at + length)
}

/// Whether the quote at `at` follows an `E` that is a word of its own.
fn follows_e(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1].eq_ignore_ascii_case(&b'e') && !follows_name(bytes, at - 1)
}

fn follows_name(bytes: &[u8], at: usize) -> bool {
    at > 0 && (is_name_byte(bytes[at - 1]) || bytes[at - 1] == b'$')
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

// Takes the name of a language and its text style; returns its lexer, which finds literals and comments. How a value is sent
// with a statement is declared here.

/// The language of a script's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lexer {
    /// SQL: nothing is special within text literals, quoted identifiers and comments.
    Sql(TextStyle),
    /// CQL: SQL's literals, also `//` comments; a batch of statements is one statement.
    Cql,
    /// JSON: each statement is one document.
    Json,
}

impl Default for Lexer {
    fn default() -> Self {
        Self::Sql(TextStyle::default())
    }
}

impl Lexer {
    /// All languages, by their names in workload files.
    pub const ALL: [(&str, Self); 3] =
        [("sql", Self::Sql(TextStyle::STANDARD)), ("cql", Self::Cql), ("json", Self::Json)];

    /// The language of that name.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|&(_, lexer)| lexer)
    }

    /// The same language as a family of systems writes it. Only SQL has more than one style.
    #[must_use]
    pub fn with_style(self, style: TextStyle) -> Self {
        match self {
            Self::Sql(_) => Self::Sql(style),
            other => other,
        }
    }

    /// The literal, quoted identifier or comment that begins at `at`, if any.
    pub(crate) fn passage(self, text: &str, at: usize) -> Result<Option<Passage>, Defect> {
        // Every byte is asked for, also those within a character.
        if self == Self::Cql && text.as_bytes()[at..].starts_with(b"//") {
            let end = text[at..].find('\n').map_or(text.len(), |line| at + line);
            return Ok(Some(Passage::Comment { end }));
        }
        let style = match self {
            Self::Sql(style) => style,
            _ => TextStyle {
                nests_comments: false,
                ..TextStyle::STANDARD
            },
        };
        style.passage(text, at)
    }
}

/// How the value of a `:name` is sent with its statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// As a bound parameter: the driver writes a placeholder. A `:name` within quotes stays text.
    #[default]
    Bound,
    /// Substituted into the text, wherever the name occurs, as in pgbench's `simple`.
    Pasted,
    /// Not at all: a statement with a value is refused, except for one that no script changes (a parameter of the
    /// workload), which is written into the text as a literal.
    Refused,
}
