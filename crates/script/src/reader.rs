//! Takes the tokens of one meta command; returns them one at a time, and reports
//! what was expected instead of a wrong token.

use crate::place::Defect;
use crate::token::{Placed, Token};

pub(crate) struct Reader<'a> {
    tokens: Vec<Placed<'a>>,
    next: usize,
    /// How deep the expression being read is nested.
    pub depth: u32,
}

impl<'a> Reader<'a> {
    /// `tokens` ends with [`Token::End`], which is never passed.
    pub fn new(tokens: Vec<Placed<'a>>) -> Self {
        Self {
            tokens,
            next: 0,
            depth: 0,
        }
    }

    pub fn peek(&self) -> &Placed<'a> {
        &self.tokens[self.next]
    }

    pub fn take(&mut self) -> Placed<'a> {
        let placed = self.peek().clone();
        if placed.token != Token::End {
            self.next += 1;
        }
        placed
    }

    pub fn takes_symbol(&mut self, symbol: &str) -> bool {
        let is_here = matches!(self.peek().token, Token::Symbol(found) if found == symbol);
        self.next += usize::from(is_here);
        is_here
    }

    pub fn takes_word(&mut self, word: &str) -> bool {
        let is_here =
            matches!(self.peek().token, Token::Word(found) if found.eq_ignore_ascii_case(word));
        self.next += usize::from(is_here);
        is_here
    }

    pub fn symbol(&mut self, symbol: &str) -> Result<(), Defect> {
        if self.takes_symbol(symbol) {
            Ok(())
        } else {
            Err(self.expected(symbol))
        }
    }

    pub fn word(&mut self, word: &str) -> Result<(), Defect> {
        if self.takes_word(word) {
            Ok(())
        } else {
            Err(self.expected(word))
        }
    }

    /// An error at the next token: what was expected there.
    pub fn expected(&self, what: &str) -> Defect {
        self.peek().instead_of(what)
    }

    pub fn end(&self) -> Result<(), Defect> {
        match self.peek().token {
            Token::End => Ok(()),
            _ => Err(self.expected("the end of the line")),
        }
    }
}

impl Placed<'_> {
    pub fn instead_of(&self, expected: &str) -> Defect {
        let found = match &self.token {
            Token::Int(number) => number.to_string(),
            Token::SmallestInt => (1_u64 << 63).to_string(),
            Token::Double(number) => format!("{number:?}"),
            Token::Decimal(number) => format!("{number:?}"),
            Token::Text(text) => format!("'{text}'"),
            Token::Variable(name) => format!(":{name}"),
            Token::Word(word) => (*word).to_owned(),
            Token::Symbol(symbol) => (*symbol).to_owned(),
            Token::End => "the end of the line".to_owned(),
        };
        Defect::new(
            self.range.start,
            format!("expected {expected}, found {found}"),
        )
    }
}
