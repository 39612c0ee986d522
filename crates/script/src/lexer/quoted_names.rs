//! Takes the text of a script; returns it cut before and after each name in double quotes of its statements.

use crate::lexer::{Lexer, LiteralStyle, Part, Passage};
use crate::place::Defect;

/// The text in pieces, which joined are the text: those with an odd index are names with their quotes, as
/// `"year"`. Literals, comments and the lines of meta commands hold none. A text that does not compile may
/// be one piece: the compiler says why.
#[must_use]
pub fn cut_at_names(text: &str, style: LiteralStyle) -> Vec<&str> {
    pieces(text, Lexer::Sql(style)).unwrap_or_else(|_| vec![text])
}

fn pieces(text: &str, lexer: Lexer) -> Result<Vec<&str>, Defect> {
    let (mut found, mut copied) = (Vec::new(), 0);
    for part in lexer.parts(text)? {
        let Part::Statement { range, .. } = part else {
            continue;
        };
        let mut at = range.start;
        while at < range.end {
            let end = lexer.passage(text, at)?.map_or(at + 1, Passage::end);
            if text.as_bytes()[at] == b'"' {
                found.extend([&text[copied..at], &text[at..end]]);
                copied = end;
            }
            at = end;
        }
    }
    found.push(&text[copied..]);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, style: LiteralStyle) -> Vec<&str> {
        let pieces = cut_at_names(text, style);
        assert_eq!(pieces.concat(), text);
        pieces.into_iter().skip(1).step_by(2).collect()
    }

    #[test]
    fn names_are_not_sought_in_literals_comments_and_commands() {
        let text = "-- \"no\"\n\\set x 'a \"no\"'\nselect \"a b\".\"c\"\"d\", '\"no\"', $$\"no\"$$ /* \"no\" */\n\
                    from \"é\" where x = 'it''s \"no\"' \\gset path $.k.\"no\" name\nselect \"last\"";
        assert_eq!(
            names(text, LiteralStyle::Doubled),
            ["\"a b\"", "\"c\"\"d\"", "\"é\"", "\"last\""]
        );
    }

    #[test]
    fn a_backslash_escapes_where_the_system_reads_it_so() {
        let text = "select 'it\\'s \"no\"', \"yes\" # \"no\"";
        assert_eq!(names(text, LiteralStyle::Backslash), ["\"yes\""]);
    }

    #[test]
    fn a_text_that_does_not_compile_is_one_piece() {
        for text in ["select \"open", "select (\"a\"", "select 'open \"a\"", ""] {
            assert_eq!(cut_at_names(text, LiteralStyle::Doubled), [text]);
        }
    }
}
