//! Takes values of scripts and cells of rows; returns the Python objects that a module binds.

use std::collections::BTreeMap;

use assay_drivers::{ErrorClass, SystemError};
use assay_values::{Cell, ColumnType, Piece, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};

/// The options of a deployment document.
pub type Options = BTreeMap<String, String>;

/// The classes of Python for values that have none built in, and what a module cannot bind.
pub struct Binder {
    decimal: Py<PyAny>,
    date: Py<PyAny>,
    time: Py<PyAny>,
    timestamp: Py<PyAny>,
    /// Types that the module takes as text: it has none for them.
    decimals_as_text: bool,
    dates_as_text: bool,
    /// The system has no truth values.
    bools_as_int: bool,
}

impl Binder {
    pub fn new(py: Python<'_>, options: &Options) -> PyResult<Self> {
        let datetime = py.import("datetime")?;
        let bound_as = |what: &str| {
            let words = options.get("bound_as").map_or("", String::as_str);
            words.split(',').any(|word| word == what)
        };
        Ok(Self {
            decimal: py.import("decimal")?.getattr("Decimal")?.unbind(),
            date: datetime.getattr("date")?.getattr("fromisoformat")?.unbind(),
            time: datetime.getattr("time")?.getattr("fromisoformat")?.unbind(),
            timestamp: (datetime.getattr("datetime")?)
                .getattr("fromisoformat")?
                .unbind(),
            decimals_as_text: bound_as("decimal=text"),
            dates_as_text: bound_as("date=text"),
            bools_as_int: bound_as("bool=int"),
        })
    }

    /// The object of a script's value.
    pub fn value<'py>(&self, py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
        Ok(match value {
            Value::Null => py.None().into_bound(py),
            Value::Bool(truth) => self.truth(py, *truth),
            Value::Int(number) => PyInt::new(py, *number).into_any(),
            Value::Double(number) => PyFloat::new(py, *number).into_any(),
            Value::Text(text) | Value::Document(text) => PyString::new(py, text).into_any(),
            Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
            Value::Decimal(_) => self.decimal(py, &value.to_text())?,
            Value::Date(_) => self.of_text(py, &self.date, &value.to_text())?,
            Value::Time(_) => self.of_text(py, &self.time, &value.to_text())?,
            Value::Timestamp(_) => self.of_text(py, &self.timestamp, &value.to_text())?,
            Value::List(_) => PyString::new(py, &value.to_text()).into_any(),
        })
    }

    /// The object of a cell of a bulk load, whose column has this type. A text that is none of the type is
    /// passed as it is: the system refuses it.
    pub fn cell<'py>(
        &self,
        py: Python<'py>,
        cell: Cell<'_>,
        kind: Option<ColumnType>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match cell {
            Cell::Null => py.None().into_bound(py),
            Cell::Bool(truth) => self.truth(py, truth),
            Cell::Int(number) => PyInt::new(py, number).into_any(),
            Cell::Double(number) => PyFloat::new(py, number).into_any(),
            Cell::Text(bytes) => match (kind, std::str::from_utf8(bytes)) {
                (Some(ColumnType::Bytes), _) | (_, Err(_)) => PyBytes::new(py, bytes).into_any(),
                (Some(kind), Ok(text)) => match self.typed(py, kind, text) {
                    Some(object) => object,
                    None => PyString::new(py, text).into_any(),
                },
                (None, Ok(text)) => PyString::new(py, text).into_any(),
            },
        })
    }

    fn typed<'py>(
        &self,
        py: Python<'py>,
        kind: ColumnType,
        text: &str,
    ) -> Option<Bound<'py, PyAny>> {
        match kind {
            ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt => {
                let number: i64 = text.parse().ok()?;
                Some(PyInt::new(py, number).into_any())
            }
            ColumnType::Float | ColumnType::Double => {
                let number: f64 = text.parse().ok()?;
                Some(PyFloat::new(py, number).into_any())
            }
            ColumnType::Bool => match text {
                "1" | "t" | "true" => Some(self.truth(py, true)),
                "0" | "f" | "false" => Some(self.truth(py, false)),
                _ => None,
            },
            ColumnType::Decimal { .. } => self.decimal(py, text).ok(),
            ColumnType::Date => self.of_text(py, &self.date, text).ok(),
            ColumnType::Timestamp => self.of_text(py, &self.timestamp, text).ok(),
            ColumnType::Char(_)
            | ColumnType::Varchar(_)
            | ColumnType::Text
            | ColumnType::Bytes
            | ColumnType::Json
            | ColumnType::Array(_) => None,
        }
    }

    fn truth<'py>(&self, py: Python<'py>, truth: bool) -> Bound<'py, PyAny> {
        match self.bools_as_int {
            true => PyInt::new(py, i64::from(truth)).into_any(),
            false => PyBool::new(py, truth).to_owned().into_any(),
        }
    }

    fn decimal<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.decimals_as_text {
            true => Ok(PyString::new(py, text).into_any()),
            false => self.decimal.bind(py).call1((text,)),
        }
    }

    /// A date or a time, of its text.
    fn of_text<'py>(
        &self,
        py: Python<'py>,
        parse: &Py<PyAny>,
        text: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.dates_as_text {
            true => Ok(PyString::new(py, text).into_any()),
            false => parse.bind(py).call1((text,)),
        }
    }
}

// Takes the pieces of a statement and a module's `paramstyle`; returns the text for `cursor.execute`.

/// How a module wants the places of values to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterStyle {
    /// `?`
    QuestionMark,
    /// `:1`
    Numeric,
    /// `:p1`, with a mapping of the values
    Named,
    /// `%s`
    Format,
    /// `%(p1)s`, with a mapping of the values
    PyFormat,
}

impl ParameterStyle {
    /// # Errors
    /// If PEP 249 has no such word.
    pub fn parse(word: &str) -> Result<Self, SystemError> {
        Ok(match word {
            "qmark" => Self::QuestionMark,
            "numeric" => Self::Numeric,
            "named" => Self::Named,
            "format" => Self::Format,
            "pyformat" => Self::PyFormat,
            _ => {
                let message = format!(
                    "the module's paramstyle: expected qmark, numeric, named, format or pyformat, found {word:?}"
                );
                return Err(SystemError::new(ErrorClass::Other, "", message));
            }
        })
    }

    /// Whether the values are passed by name.
    pub fn is_by_name(self) -> bool {
        matches!(self, Self::Named | Self::PyFormat)
    }

    /// The text of a statement whose values are passed beside it. A module looks for `%` only in a statement
    /// with values: there every other `%` is doubled.
    pub fn spell(self, pieces: &[Piece]) -> String {
        let has_values = pieces.contains(&Piece::Value);
        let doubles = has_values && matches!(self, Self::Format | Self::PyFormat);
        let escaped: Vec<Piece>;
        let pieces = if doubles {
            escaped = pieces.iter().map(without_percent).collect();
            &escaped
        } else {
            pieces
        };
        Piece::join(pieces, |number, text| {
            let number = number + 1;
            match self {
                Self::QuestionMark => text.push('?'),
                Self::Numeric => *text = format!(":{number}"),
                Self::Named => *text = format!(":p{number}"),
                Self::Format => text.push_str("%s"),
                Self::PyFormat => *text = format!("%(p{number})s"),
            }
        })
    }

    /// The places of so many values, with commas between, in parentheses.
    pub fn places(self, columns: usize) -> String {
        let mut pieces = vec![Piece::Text("(".into())];
        for column in 0..columns {
            if column > 0 {
                pieces.push(Piece::Text(", ".into()));
            }
            pieces.push(Piece::Value);
        }
        pieces.push(Piece::Text(")".into()));
        self.spell(&pieces)
    }
}

fn without_percent(piece: &Piece) -> Piece {
    match piece {
        Piece::Text(text) => Piece::Text(text.replace('%', "%%").into()),
        Piece::Identifier(name) => Piece::Identifier(name.replace('%', "%%").into()),
        Piece::Value => Piece::Value,
    }
}
