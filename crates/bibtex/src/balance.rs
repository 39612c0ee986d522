//! Takes the bytes after an opening delimiter; returns the offset of the closing delimiter.

use memchr::memchr2_iter;

/// Counts delimiters up to the one that closes an item; continues where the last window ended.
pub(crate) struct Balance {
    opening: u8,
    depth: usize,
    is_quoted: bool,
}

impl Balance {
    pub(crate) fn new(opening: u8) -> Self {
        Self {
            opening,
            depth: usize::from(opening == b'{'),
            is_quoted: false,
        }
    }

    pub(crate) fn find_end(&mut self, text: &[u8]) -> Option<usize> {
        if self.opening == b'{' {
            for at in memchr2_iter(b'{', b'}', text) {
                if text[at] == b'{' {
                    self.depth += 1;
                } else {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
            }
            return None;
        }
        // A parenthesis closes the item only outside all braces and quotes, so these count too.
        text.iter().position(|byte| {
            match byte {
                b'{' => self.depth += 1,
                b'}' => self.depth = self.depth.saturating_sub(1),
                b'"' if self.depth == 0 => self.is_quoted = !self.is_quoted,
                b')' if self.depth == 0 && !self.is_quoted => return true,
                _ => {}
            }
            false
        })
    }
}
