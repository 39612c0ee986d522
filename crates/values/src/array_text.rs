//! Takes the values of a list, or a JSON array; returns the array literal of SQL systems, `{1,NULL,"a b"}`, and back:
//! takes such a text and returns the JSON array.

use crate::json::{elements, of_json};
use crate::value::write_json_string;
use crate::{ElementType, Value};

/// How the elements of a literal in braces are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BracedElement {
    /// As JSON numbers; what JSON has no number for (`NaN`), as text.
    Number,
    /// `t` or `f`.
    Bool,
    /// As JSON text.
    Json,
    /// As texts.
    Text,
}

/// How deep lists may be in each other: a deeper literal is not read.
const DEEPEST: usize = 100;

/// Appends the literal of an array, in these brackets (`{}` or `[]`). Texts are in quotes, in which a backslash stands
/// before quotes and backslashes only.
pub fn write_array(values: &[Value], brackets: [u8; 2], out: &mut Vec<u8>) {
    let [open, close] = brackets;
    out.push(open);
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        match value {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::List(values) => write_array(values, brackets, out),
            Value::Int(_) | Value::Double(_) | Value::Bool(_) | Value::Decimal(_) => {
                value.write_text(out);
            }
            other => {
                out.push(b'"');
                for byte in other.to_text().bytes() {
                    if matches!(byte, b'"' | b'\\') {
                        out.push(b'\\');
                    }
                    out.push(byte);
                }
                out.push(b'"');
            }
        }
    }
    out.push(close);
}

/// The literal in braces of a JSON array; `None` if the text is not one, or an element is not of this type.
pub fn braced_of_json(text: &[u8], of: ElementType) -> Option<Vec<u8>> {
    let values: Vec<Value> = elements(text, of)?.iter().map(of_json).collect();
    let mut out = Vec::with_capacity(text.len());
    write_array(&values, *b"{}", &mut out);
    Some(out)
}

/// The JSON array of a literal; `None` if the text is not one. Bounds before it (`[0:1]={1,2}`) are left out.
pub fn json_of_braced(text: &[u8], of: BracedElement) -> Option<Vec<u8>> {
    let start = text.iter().position(|&byte| byte == b'{')?;
    let has_bounds = start > 0 && text.starts_with(b"[") && text[..start].ends_with(b"=");
    if start > 0 && !has_bounds {
        return None;
    }
    let mut reader = Reader {
        rest: &text[start..],
        of,
        out: Vec::with_capacity(text.len()),
    };
    reader.array(0)?;
    reader.rest.is_empty().then_some(reader.out)
}

struct Reader<'t> {
    rest: &'t [u8],
    of: BracedElement,
    out: Vec<u8>,
}

impl Reader<'_> {
    fn take(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST || self.take()? != b'{' {
            return None;
        }
        self.out.push(b'[');
        if self.rest.first() == Some(&b'}') {
            self.take();
            self.out.push(b']');
            return Some(());
        }
        loop {
            match self.rest.first()? {
                b'{' => self.array(depth + 1)?,
                _ => self.element()?,
            }
            match self.take()? {
                b',' => self.out.push(b','),
                b'}' => break,
                _ => return None,
            }
        }
        self.out.push(b']');
        Some(())
    }

    fn element(&mut self) -> Option<()> {
        let is_quoted = self.rest.first() == Some(&b'"');
        let mut text = Vec::new();
        if is_quoted {
            self.take();
            loop {
                match self.take()? {
                    b'"' => break,
                    b'\\' => text.push(self.take()?),
                    byte => text.push(byte),
                }
            }
        } else {
            while !matches!(self.rest.first()?, b',' | b'}') {
                text.push(self.take()?);
            }
        }
        if !is_quoted && text == b"NULL" {
            self.out.extend_from_slice(b"null");
            return Some(());
        }
        match self.of {
            BracedElement::Bool => self.out.extend_from_slice(match &*text {
                b"t" => b"true",
                b"f" => b"false",
                _ => return None,
            }),
            BracedElement::Number | BracedElement::Json
                if serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok() =>
            {
                self.out.extend_from_slice(&text);
            }
            _ => write_json_string(&String::from_utf8_lossy(&text), &mut self.out),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_becomes_the_json_array_that_it_was_made_of() {
        for (braced, of, json) in [
            ("{}", BracedElement::Number, "[]"),
            ("{1,NULL,-2.5}", BracedElement::Number, "[1,null,-2.5]"),
            ("{NaN,1e+300}", BracedElement::Number, "[\"NaN\",1e+300]"),
            ("{t,f,NULL}", BracedElement::Bool, "[true,false,null]"),
            ("{{1,2},{3,4}}", BracedElement::Number, "[[1,2],[3,4]]"),
            ("[0:1]={1,2}", BracedElement::Number, "[1,2]"),
            (
                "{a,\"b c\",\"\\\"\\\\\",\"NULL\",NULL,\"\"}",
                BracedElement::Text,
                "[\"a\",\"b c\",\"\\\"\\\\\",\"NULL\",null,\"\"]",
            ),
            ("{\"{\\\"a\\\": 1}\"}", BracedElement::Json, "[{\"a\": 1}]"),
        ] {
            let found = json_of_braced(braced.as_bytes(), of).expect("a literal");
            assert_eq!(String::from_utf8_lossy(&found), json);
        }
        for wrong in ["", "1", "{", "{1", "{1,", "{1}x", "{\"a}", "x{1}", "{{1}"] {
            assert!(
                json_of_braced(wrong.as_bytes(), BracedElement::Text).is_none(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn values_are_written_as_their_literal() {
        let text = |text: &str| Value::Text(text.into());
        let inner = Value::List([Value::Bool(true), Value::Null].into());
        let mut out = Vec::new();
        let values = [Value::Int(1), text("a \"b\"\\"), inner];
        write_array(&values, *b"{}", &mut out);
        write_array(&values, *b"[]", &mut out);
        let expected = r#"{1,"a \"b\"\\",{true,NULL}}[1,"a \"b\"\\",[true,NULL]]"#;
        assert_eq!(String::from_utf8_lossy(&out), expected);
        let braced = |json: &[u8]| braced_of_json(json, ElementType::Int);
        assert_eq!(braced(b"[1, null]").as_deref(), Some(&b"{1,NULL}"[..]));
        assert_eq!(braced(b"[true]"), None);
    }
}
