//! Takes tokens; returns the syntax tree of the expression. Grammar and precedence are those of pgbench (its
//! `exprparse.y`), with texts (`'…'`) as an addition.

use crate::expression::function::{FUNCTIONS, OTHER_NAMES};
use crate::expression::operator::{Connective, Operator, Test};
use crate::expression::token::{Placed, Token};
use crate::nearest::nearest;
use crate::place::Defect;
use assay_values::Value;

/// How tightly operators bind, loosest first.
mod binding {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARISON: u8 = 5;
    pub const BITS: u8 = 6;
    pub const SUM: u8 = 7;
    pub const PRODUCT: u8 = 8;
    pub const SIGN: u8 = 9;
    pub const MEMBER: u8 = 10;
}

/// What may follow an operand.
#[derive(Clone, Copy)]
enum Infix {
    Binary(Operator),
    Connective(Connective),
    /// IS, ISNULL, NOTNULL: they have no right operand.
    Is,
}

/// The deepest nesting of parentheses, signs and CASE that is accepted; it bounds recursion.
const DEEPEST: u32 = 100;

impl<'a> Reader<'a> {
    pub fn expression(&mut self) -> Result<Expression<'a>, Defect> {
        self.at_least(binding::OR)
    }

    /// Precedence climbing: reads an operand, then every operator that binds at least as tightly.
    fn at_least(&mut self, floor: u8) -> Result<Expression<'a>, Defect> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("found an expression more than {DEEPEST} levels deep");
            return Err(Defect::new(self.peek().range.start, message));
        }
        let mut left = self.operand()?;
        let mut last = None;
        while let Some((tightness, infix)) = infix(&self.peek().token) {
            if tightness < floor {
                break;
            }
            if tightness == binding::COMPARISON && last == Some(tightness) {
                return Err(self
                    .expected("the end of the comparison")
                    .hint("comparisons do not chain: join them with AND"));
            }
            let operator = self.take();
            let at = operator.range.start;
            let mut sides = |left| Ok(Box::new([left, self.at_least(tightness + 1)?]));
            let node = match infix {
                Infix::Binary(operator) => Node::Binary(operator, sides(left)?),
                Infix::Connective(connective) => Node::Connected(connective, sides(left)?),
                Infix::Is => self.is_test(&operator, left)?,
            };
            left = Expression { at, node };
            last = Some(tightness);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression<'a>, Defect> {
        let placed = self.take();
        let at = placed.range.start;
        match placed.token {
            Token::Int(number) => Ok(Expression::constant(at, Value::Int(number))),
            Token::Double(number) => Ok(Expression::constant(at, Value::Double(number))),
            Token::Decimal(number) => Ok(Expression::constant(at, Value::Decimal(number))),
            Token::Text(text) => Ok(Expression::constant(at, Value::Text(text.into()))),
            Token::Variable(name) => Ok(Expression {
                at,
                node: Node::Variable(name),
            }),
            Token::Word(word) => self.worded(at, word),
            Token::Symbol("(") => {
                let inner = self.expression()?;
                self.symbol(")")?;
                Ok(inner)
            }
            Token::Symbol("+") => self.at_least(binding::SIGN),
            Token::Symbol("-") if self.peek().token == Token::SmallestInt => {
                self.take();
                Ok(Expression::constant(at, Value::Int(i64::MIN)))
            }
            // As in pgbench, -x is 0 - x, and ~x is -1 # x with the tightness of #.
            Token::Symbol("-") => self.onto(at, 0, Operator::Subtract, binding::SIGN),
            Token::Symbol("~") => self.onto(at, -1, Operator::BitXor, binding::SUM),
            Token::SmallestInt => {
                Err(placed.instead_of("an integer of at most 9223372036854775807"))
            }
            Token::Symbol(_) | Token::End => Err(placed.instead_of("a value")),
        }
    }

    fn onto(
        &mut self,
        at: usize,
        left: i64,
        operator: Operator,
        floor: u8,
    ) -> Result<Expression<'a>, Defect> {
        let left = Expression::constant(at, Value::Int(left));
        let right = self.at_least(floor)?;
        Ok(Expression {
            at,
            node: Node::Binary(operator, Box::new([left, right])),
        })
    }

    /// An operand that begins with a word: a constant, NOT, CASE, a function call.
    fn worded(&mut self, at: usize, word: &'a str) -> Result<Expression<'a>, Defect> {
        let node = match word.to_ascii_uppercase().as_str() {
            "NULL" => Node::Constant(Value::Null),
            "TRUE" => Node::Constant(Value::Bool(true)),
            "FALSE" => Node::Constant(Value::Bool(false)),
            "NOT" => Node::Test(Test::Not, Box::new(self.at_least(binding::NOT)?)),
            "CASE" => self.case(at)?,
            _ if self.takes_symbol("(") => self.call(at, word)?,
            _ => {
                return Err(
                    Defect::new(at, format!("expected a value, found {word}")).hint(format!(
                        "a variable is written :{word}, a function {word}(...)"
                    )),
                );
            }
        };
        Ok(Expression { at, node })
    }

    fn case(&mut self, at: usize) -> Result<Node<'a>, Defect> {
        let mut branches = Vec::new();
        self.word("WHEN")?;
        loop {
            let condition = self.expression()?;
            self.word("THEN")?;
            branches.push([condition, self.expression()?]);
            if !self.takes_word("WHEN") {
                break;
            }
        }
        let otherwise = if self.takes_word("ELSE") {
            self.expression()?
        } else {
            Expression::constant(at, Value::Null)
        };
        self.word("END")?;
        Ok(Node::Case(branches, Box::new(otherwise)))
    }

    fn call(&mut self, at: usize, word: &str) -> Result<Node<'a>, Defect> {
        let mut arguments = Vec::new();
        if !self.takes_symbol(")") {
            arguments.push(self.expression()?);
            while self.takes_symbol(",") {
                arguments.push(self.expression()?);
            }
            if !self.takes_symbol(")") {
                return Err(self.expected(", or )"));
            }
        }
        let known = FUNCTIONS
            .iter()
            .position(|function| word.eq_ignore_ascii_case(function.name));
        let index = known.ok_or_else(|| unknown_function(at, word))?;
        let function = &FUNCTIONS[index];
        if !function.takes(arguments.len()) {
            let plural = if function.most == 1 { "" } else { "s" };
            let expected = match (function.fewest, function.most) {
                (1, usize::MAX) => "at least 1 argument".to_owned(),
                (fewest, usize::MAX) => format!("at least {fewest} arguments"),
                (fewest, most) if fewest == most => format!("{most} argument{plural}"),
                (fewest, most) => format!("{fewest} or {most} arguments"),
            };
            let message = format!(
                "{} expects {expected}, found {}",
                function.name,
                arguments.len()
            );
            let form = format!("{}({})", function.name, function.parameters);
            return Err(Defect::new(at, message).hint(form));
        }
        if word.eq_ignore_ascii_case("debug") {
            let operand = arguments
                .pop()
                .expect("the number of arguments was checked");
            return Ok(Node::Debug(Box::new(operand)));
        }
        if arguments.len() == function.seed_after && function.seed_after > 0 {
            let node = Node::Variable("default_seed");
            arguments.push(Expression { at, node });
        }
        Ok(Node::Call(index, arguments))
    }

    /// `operand IS [NOT] NULL | TRUE | FALSE`, `operand ISNULL`, `operand NOTNULL`.
    fn is_test(
        &mut self,
        operator: &Placed<'a>,
        operand: Expression<'a>,
    ) -> Result<Node<'a>, Defect> {
        let is_one_word = |word: &str| matches!(operator.token, Token::Word(found) if found.eq_ignore_ascii_case(word));
        let (test, is_negated) = if is_one_word("ISNULL") {
            (Test::IsNull, false)
        } else if is_one_word("NOTNULL") {
            (Test::IsNull, true)
        } else {
            let is_negated = self.takes_word("NOT");
            let tests = [("NULL", Test::IsNull), ("TRUE", Test::IsTrue), ("FALSE", Test::IsFalse)];
            let found = tests.into_iter().find(|(word, _)| self.takes_word(word));
            let (_, test) = found.ok_or_else(|| self.expected("NULL, TRUE or FALSE"))?;
            (test, is_negated)
        };
        let at = operator.range.start;
        let tested = Node::Test(test, Box::new(operand));
        Ok(if is_negated {
            Node::Test(Test::Not, Box::new(Expression { at, node: tested }))
        } else {
            tested
        })
    }
}

fn infix(token: &Token<'_>) -> Option<(u8, Infix)> {
    let found = match token {
        Token::Symbol(symbol) => {
            let (tightness, operator) = match *symbol {
                "->" => (binding::MEMBER, Operator::Member),
                "->>" => (binding::MEMBER, Operator::MemberText),
                "=" => (binding::COMPARISON, Operator::Equal),
                "<>" | "!=" => (binding::COMPARISON, Operator::NotEqual),
                "<" => (binding::COMPARISON, Operator::Less),
                "<=" => (binding::COMPARISON, Operator::LessOrEqual),
                ">" => (binding::COMPARISON, Operator::Greater),
                ">=" => (binding::COMPARISON, Operator::GreaterOrEqual),
                "|" => (binding::BITS, Operator::BitOr),
                "#" => (binding::BITS, Operator::BitXor),
                "&" => (binding::BITS, Operator::BitAnd),
                "<<" => (binding::BITS, Operator::ShiftLeft),
                ">>" => (binding::BITS, Operator::ShiftRight),
                "+" => (binding::SUM, Operator::Add),
                "-" => (binding::SUM, Operator::Subtract),
                "*" => (binding::PRODUCT, Operator::Multiply),
                "/" => (binding::PRODUCT, Operator::Divide),
                "%" => (binding::PRODUCT, Operator::Remainder),
                _ => return None,
            };
            (tightness, Infix::Binary(operator))
        }
        Token::Word(word) => match word.to_ascii_uppercase().as_str() {
            "OR" => (binding::OR, Infix::Connective(Connective::Or)),
            "AND" => (binding::AND, Infix::Connective(Connective::And)),
            "IS" | "ISNULL" | "NOTNULL" => (binding::IS, Infix::Is),
            _ => return None,
        },
        _ => return None,
    };
    Some(found)
}

fn unknown_function(at: usize, word: &str) -> Defect {
    let known_alias = OTHER_NAMES
        .iter()
        .find(|(alias, _)| word.eq_ignore_ascii_case(alias));
    let names: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
    let meant = known_alias
        .map(|&(_, name)| name)
        .or_else(|| nearest(word, names.iter().copied()));
    Defect::new(at, format!("expected a function, found {word}"))
        .hint(format!("the functions are {}", names.join(", ")))
        .perhaps(meant.map(str::to_owned))
}

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

/// An expression, and where it begins (an operation: where its operator is).
#[derive(Clone, Debug)]
pub(crate) struct Expression<'a> {
    pub at: usize,
    pub node: Node<'a>,
}

#[derive(Clone, Debug)]
pub(crate) enum Node<'a> {
    Constant(Value),
    Variable(&'a str),
    Binary(Operator, Box<[Expression<'a>; 2]>),
    Test(Test, Box<Expression<'a>>),
    /// AND and OR, whose right operand may not be evaluated.
    Connected(Connective, Box<[Expression<'a>; 2]>),
    /// `debug(x)`, which prints its operand.
    Debug(Box<Expression<'a>>),
    /// An index into the table of functions, and the arguments.
    Call(usize, Vec<Expression<'a>>),
    /// Conditions with their values, then the value of ELSE.
    Case(Vec<[Expression<'a>; 2]>, Box<Expression<'a>>),
}

impl Expression<'_> {
    pub fn constant(at: usize, value: Value) -> Self {
        Self {
            at,
            node: Node::Constant(value),
        }
    }

    /// The value, if it is constant.
    pub fn known(&self) -> Option<&Value> {
        match &self.node {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }
}
