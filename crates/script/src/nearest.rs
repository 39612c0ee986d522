//! Takes an unknown word and the known words; returns the one that is probably meant.

/// The known word with the smallest edit distance, if that is small enough to be a typing error: one
/// edit for short words, one more for every three letters.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let bound = 1 + word.chars().count() / 4;
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, _)| distance <= bound)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The number of insertions, deletions, substitutions and transpositions between the two words
/// (optimal string alignment distance), ignoring case.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().flat_map(char::to_lowercase).collect();
    let right: Vec<char> = right.chars().flat_map(char::to_lowercase).collect();
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, &a) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &b) in right.iter().enumerate() {
            let substituted = last[column] + usize::from(a != b);
            let mut best = substituted.min(last[column + 1] + 1).min(current[column] + 1);
            let are_swapped = row > 0 && column > 0 && a == right[column - 1] && left[row - 1] == b;
            if are_swapped {
                let swapped: &Vec<usize> = &before_last;
                best = best.min(swapped[column - 1] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distances_count_single_edits() {
        for (left, right, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("random", "radnom", 1),
            ("sleep", "slep", 1),
            ("a", "b", 1),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn only_near_words_are_suggested() {
        let known = ["random", "greatest", "least"];
        assert_eq!(nearest("radnom", known), Some("random"));
        assert_eq!(nearest("LEAST", known), Some("least"));
        assert_eq!(nearest("median", known), None);
    }
}
