//! Takes the text of a statement; tells by its first words whether it begins or ends a transaction.

/// What a statement does to the transaction of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    None,
    Begins,
    Ends,
}

impl Effect {
    /// Of a statement, or of the last of several in one text that has any effect.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut effects = text.rsplit(';').map(Self::of_one);
        effects
            .find(|effect| *effect != Self::None)
            .unwrap_or(Self::None)
    }

    fn of_one(text: &str) -> Self {
        let words: Vec<String> = text
            .split_whitespace()
            .take(5)
            .map(str::to_ascii_lowercase)
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            // A block of statements.
            ["begin", "not", ..] => Self::None,
            ["begin", ..] | ["start", "transaction", ..] => Self::Begins,
            // Back to a savepoint; and on with a further transaction.
            ["rollback" | "abort", ..] if words.contains(&"to") => Self::None,
            ["commit" | "end" | "rollback" | "abort", ..] => match words.contains(&"chain") {
                true if !words.contains(&"no") => Self::None,
                _ => Self::Ends,
            },
            ["prepare", "transaction", ..] => Self::Ends,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_tell_what_a_statement_does_to_the_transaction() {
        for (text, expected) in [
            ("Start Transaction READ ONLY", Effect::Begins),
            ("begin", Effect::Begins),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE", Effect::Begins),
            ("BEGIN NOT ATOMIC SELECT 1", Effect::None),
            ("START REPLICA", Effect::None),
            ("ROLLBACK", Effect::Ends),
            ("rollback to savepoint a", Effect::None),
            ("COMMIT AND CHAIN", Effect::None),
            ("COMMIT AND NO CHAIN", Effect::Ends),
            ("PREPARE TRANSACTION 'x'", Effect::Ends),
            ("SELECT 'begin'", Effect::None),
            ("BEGIN; UPDATE t SET a = 1;", Effect::Begins),
            ("BEGIN; DELETE FROM t; COMMIT", Effect::Ends),
        ] {
            assert_eq!(Effect::of(text), expected, "{text}");
        }
    }
}
