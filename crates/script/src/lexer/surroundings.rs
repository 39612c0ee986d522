//! Takes a statement, byte by byte; reports a parameter in the place of a table or of a part of
//! a name, where no system accepts bound parameters: there an identifier is meant.

use crate::place::Defect;

/// The parentheses and words around a position in a statement.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// For each parenthesis, whether it contains a query; otherwise it contains arguments, where FROM has
    /// another meaning: `extract(year from :x)`.
    parentheses: Vec<bool>,
    brackets: usize,
}

impl Surroundings {
    /// Takes a byte outside literals and comments; `behind` is the text after it.
    pub fn pass(&mut self, byte: u8, behind: &str) {
        match byte {
            b'(' => {
                let word = first_word(behind.trim_start());
                let begins_query = ["select", "with", "delete", "update", "insert"];
                self.parentheses.push(is_one_of(word, &begins_query));
            }
            b')' => _ = self.parentheses.pop(),
            b'[' => self.brackets += 1,
            b']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether a `:` may separate the bounds of a slice here.
    pub fn is_slice(&self) -> bool {
        self.brackets > 0
    }

    /// Rejects the parameter `name` at `at` if the text `before` it requires an identifier. The last
    /// `own` bytes of `before` are the text since the previous parameter.
    pub fn take_parameter(
        &self,
        at: usize,
        before: &str,
        own: usize,
        name: &str,
    ) -> Result<(), Defect> {
        let hint = format!(
            "an identifier chosen at run time is written :{{{name}}}, with its choices in the workload's [identifiers]"
        );
        if own > 0 && before.ends_with(is_name_letter) && !self.is_slice() {
            let message = "a bound parameter cannot be part of a name";
            return Err(Defect::new(at, message).hint(hint));
        }
        let (rest, word) = split_last_word(before);
        let stands_for_table = match word.to_ascii_lowercase().as_str() {
            "into" | "update" | "join" | "table" => true,
            "from" => {
                let is_in_query = self.parentheses.last().copied().unwrap_or(true);
                let is_distinct = is_one_of(split_last_word(rest).1, &["distinct"]);
                is_in_query && !is_distinct
            }
            _ => false,
        };
        if stands_for_table {
            let message = "a bound parameter cannot name a table";
            return Err(Defect::new(at, message).hint(hint));
        }
        Ok(())
    }
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn first_word(text: &str) -> &str {
    let end = text.find(|letter| !is_name_letter(letter));
    &text[..end.unwrap_or(text.len())]
}

/// The last word, and the text before it.
fn split_last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let start = text.rfind(|letter| !is_name_letter(letter));
    let start = start.map_or(0, |at| {
        at + text[at..].chars().next().map_or(0, char::len_utf8)
    });
    text.split_at(start)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}
