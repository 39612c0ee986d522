//! Takes the text of `INSERT INTO table (column, …) VALUES …`; returns the table and the columns.

/// The table and the columns; `None` where the text has another form.
pub(crate) fn columns_of(text: &str) -> Option<(String, Vec<String>)> {
    let mut rest = text;
    for word in ["INSERT", "INTO"] {
        let (found, behind) = name(rest)?;
        if !found.eq_ignore_ascii_case(word) {
            return None;
        }
        rest = behind;
    }
    let (table, behind) = name(rest)?;
    let mut rest = behind.trim_start().strip_prefix('(')?;
    let mut columns = Vec::new();
    loop {
        let (column, behind) = name(rest)?;
        columns.push(column);
        let behind = behind.trim_start();
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None => return behind.starts_with(')').then_some((table, columns)),
        }
    }
}

/// A name, plain or in double quotes, and what follows it.
fn name(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let mut from = 0;
        loop {
            let end = from + quoted[from..].find('"')?;
            // A doubled quote is one of the name.
            if !quoted[end + 1..].starts_with('"') {
                return Some((quoted[..end].replace("\"\"", "\""), &quoted[end + 1..]));
            }
            from = end + 2;
        }
    }
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::columns_of;

    #[test]
    fn columns_are_read_from_the_insert_of_a_dialect() {
        let found = columns_of("INSERT INTO \"group\" (a, \"or\"\"der\" , _c9) VALUES (?, ?, ?)");
        let expected = ["a", "or\"der", "_c9"].map(str::to_owned).to_vec();
        assert_eq!(found, Some(("group".to_owned(), expected)));
        for unsupported in [
            "INSERT INTO t VALUES (?)",
            "REPLACE INTO t (a) VALUES (?)",
            "INSERT INTO",
            "",
        ] {
            assert_eq!(columns_of(unsupported), None, "{unsupported}");
        }
    }
}
