//! Examples of every rule that computes a column from a field.

use assay_bibtex::COLUMNS;

use crate::reading::{Cells, cell, rows, rows_kept_going};

/// The value of `column` for an article whose only field is `field`.
fn of_field(field: &str, column: &str) -> Option<String> {
    cell(&format!("@Article{{key,\n  {field},\n}}\n"), column)
}

fn check(column: &str, table: &[(&str, Option<&str>)]) {
    for (field, expected) in table {
        let found = of_field(field, column);
        assert_eq!(found.as_deref(), *expected, "{column} of {field}");
    }
}

#[test]
fn white_space_collapses_and_empty_fields_are_null() {
    #[rustfmt::skip]
    check("volume", &[
        ("volume = \" 4A\n      \t and  more \"", Some("4A and more")),
        ("volume = {7}", Some("7")),
        ("volume = 12", Some("12")),
        ("VOLUME = 12", Some("12")),
        ("volume = \"\"", None),
        ("volume = {  }", None),
        ("volume = {??}", None),
        ("volume = {????}", None),
        ("volume = {??--??}", Some("??--??")),
        ("number = 3", None),
    ]);
    check(
        "title",
        &[("title = {{}}", None), ("title = {{????}}", None)],
    );
}

#[test]
fn tex_markup_is_removed_from_columns_used_in_searches() {
    #[rustfmt::skip]
    check("title", &[
        ("title = {The {\\TeX}book and {\\LaTeX{}} and \\TeX\\ too}", Some("The TeXbook and LaTeX and TeX too")),
        ("title = {Erd{\\H{o}}s, G\\\"odel, {\\'E}tude, \\'{\\i}, {\\c c}a va, \\v{s}, Stra{\\ss}e}", Some("Erdos, Godel, Etude, i, ca va, s, Strasse")),
        ("title = {{\\AE}sir, {\\O}re, {\\L}{\\'o}d{\\'z}, \\aa rhus}", Some("AEsir, Ore, Lodz, arhus")),
        ("title = {R\\&D at 100\\% for \\$5, \\#1, a\\_b}", Some("R&D at 100% for $5, #1, a_b")),
        ("title = {One\\emdash{}two \\Dash three\\endash four}", Some("One -- two -- three -- four")),
        ("title = {pages 1--2, D.~E.\\,Knuth, hy\\-phen}", Some("pages 1--2, D. E. Knuth, hyphen")),
        ("title = {{\\em First} \\emph{second} \\pkg{third} {\\bf\\tt x}}", Some("First second third x")),
        ("title = {\\textquoteleft a\\textquoteright{} \\textquotedblleft b\\textquotedblright}", Some("`a' ``b''")),
        ("title = {{\\guillemotleft}c{\\guillemotright} d\\textquotesingle s \\textless\\textbar\\textgreater}", Some("<<c>> d's <|>")),
        ("title = {\\verb|a b| and \\path|c|}", Some("a b and c")),
        ("title = {\\noopsort{zzz}Real, and/\\slash or}", Some("Real, and//or")),
        ("title = {tilde \\~{} and hat \\^{}}", Some("tilde ~ and hat ^")),
        ("title = {Caf\u{e9} na\u{ef}ve \u{201c}x\u{201d}}", Some("Caf\u{e9} na\u{ef}ve \u{201c}x\u{201d}")),
        ("title = {a trailing backslash \\\\}", Some("a trailing backslash")),
    ]);
    check(
        "URL",
        &[("URL = {http://x.org/~{\\'e}}", Some("http://x.org/~{\\'e}"))],
    );
    check(
        "TOC",
        &[(
            "tableofcontents = {One / 1 \\\\ Two / 2}",
            Some("One / 1 Two / 2"),
        )],
    );
}

#[test]
fn macros_stay_names_and_pieces_are_joined() {
    #[rustfmt::skip]
    check("journal", &[
        ("journal = j-TUGboat", Some("j-TUGboat")),
        ("journal = j-TUGboat # \" (\" # {{\\TeX}} # 3 # \")\"", Some("j-TUGboat (TeX3)")),
        ("journal = \"A\" # \"B\"", Some("AB")),
        ("journal = \"A \" # \" B\"", Some("A B")),
        ("journal = {} # {}", None),
    ]);
}

#[test]
fn authors_are_split_at_the_word_and_outside_braces() {
    #[rustfmt::skip]
    let table = [
        ("author = {A. One}", Some("1"), Some("A. One")),
        (
            "author = {A. One and B. Two\n    AND C. {\\'E}toile}",
            Some("3"),
            Some("A. One and B. Two and C. Etoile"),
        ),
        (
            "author = {{Barnes and Noble} and others}",
            Some("1"),
            Some("Barnes and Noble and others"),
        ),
        (
            "author = {A. One and {others} and others}",
            Some("2"),
            Some("A. One and others and others"),
        ),
        ("author = {Sand and Andersen}", Some("2"), Some("Sand and Andersen")),
        ("author = {Brand Andy}", Some("1"), Some("Brand Andy")),
        ("author = {????}", None, None),
        ("author = one # { and } # {Two}", Some("2"), Some("one and Two")),
    ];
    for (field, count, text) in table {
        assert_eq!(of_field(field, "authorcount").as_deref(), count, "{field}");
        assert_eq!(of_field(field, "author").as_deref(), text, "{field}");
    }
    #[rustfmt::skip]
    check("editorcount", &[
        ("author = {A. One}", None),
        ("editor = {A and B}", Some("2")),
    ]);
}

#[test]
fn pages_are_counted() {
    #[rustfmt::skip]
    check("pagecount", &[
        ("pages = {20--32}", Some("13")),
        ("pages = {17:1--17:13}", Some("13")),
        ("pages = {xxiv + 324}", Some("348")),
        ("pages = {20--22, 24}", Some("4")),
        ("pages = {20--??}", None),
        ("pages = 5", Some("1")),
    ]);
    let of_book = cell("@Book{k, pages = 324}", "pagecount");
    assert_eq!(of_book.as_deref(), Some("324"));
}

#[test]
fn months_are_three_letters_and_a_number() {
    // The field; the columns month, monthnumber and day.
    #[rustfmt::skip]
    let table = [
        ("month = \"10~\" # jan", Some("jan"), Some("1"), Some("10")),
        ("month = \"20--28~\" # mar", Some("mar"), Some("3"), Some("20--28")),
        ("month = jan # \"~10\"", Some("jan"), Some("1"), Some("10")),
        ("month = oct # \" 10\"", Some("oct"), Some("10"), Some("10")),
        ("month = jun # \" 12--15\"", Some("jun"), Some("6"), Some("12--15")),
        ("month = \"1~\" # feb # \"/\" # mar", Some("feb"), Some("2"), Some("1")),
        ("month = \"28~\" # FEB # \"--3~\" # mar", Some("feb"), Some("2"), Some("28")),
        ("month = 4 # \"~\" # jul", Some("jul"), Some("7"), Some("4")),
        ("month = jul # 4", Some("jul"), Some("7"), Some("4")),
        ("month = {10~January}", Some("jan"), Some("1"), Some("10")),
        ("month = {15 September}", Some("sep"), Some("9"), Some("15")),
        ("month = {Sept. 15, 1999}", Some("sep"), Some("9"), Some("15")),
        ("month = {3rd May}", Some("may"), Some("5"), Some("3")),
        ("month = {1999 May}", Some("may"), Some("5"), None),
        ("month = may # \" 1999\"", Some("may"), Some("5"), None),
        ("month = {{May}}", Some("may"), Some("5"), None),
        ("month = 7", Some("jul"), Some("7"), None),
        ("month = {07}", Some("jul"), Some("7"), None),
        ("month = 13", Some("13"), None, None),
        ("month = 0", Some("0"), None, None),
        ("month = jun # \"\\slash \" # sep", Some("jun"), Some("6"), None),
        ("month = {45~} # jun", Some("45~"), None, None),
        ("month = {4th Quarter}", Some("4th"), None, None),
        ("day = 3, month = \"10~\" # jan", Some("jan"), Some("1"), Some("3")),
        ("month = mar", Some("mar"), Some("3"), None),
        ("month = Dec", Some("dec"), Some("12"), None),
        ("month = {January}", Some("jan"), Some("1"), None),
        ("month = jul # \"--\" # aug", Some("jul"), Some("7"), None),
        ("month = \"31 \" # aug", Some("31"), None, None),
        ("month = {Winter}", Some("win"), None, None),
        ("month = {????}", None, None, None),
        ("month = {d{\\'e}cembre}", Some("d{\\"), None, None),
    ];
    for (field, month, number, day) in table {
        assert_eq!(of_field(field, "month").as_deref(), month, "{field}");
        assert_eq!(of_field(field, "monthnumber").as_deref(), number, "{field}");
        assert_eq!(of_field(field, "day").as_deref(), day, "{field}");
    }
}

#[test]
fn isbn_and_issn_are_stored_with_and_without_hyphens() {
    #[rustfmt::skip]
    check("ISBN", &[
        ("ISBN = {0-201-03804-8}", Some("0-201-03804-8 OR 0201038048")),
        ("ISBN = {0-1-2, 3-4}", Some("0-1-2, 3-4 OR 012, 34")),
        ("ISBN = {0201038048}", Some("0201038048")),
    ]);
    check(
        "ISBN13",
        &[("ISBN-13 = {978-0-2}", Some("978-0-2 OR 97802"))],
    );
    check(
        "ISSN",
        &[("ISSN = {0896-3207}", Some("0896-3207 OR 08963207"))],
    );
    check("CODEN", &[("CODEN = {ABC-D}", Some("ABC-D"))]);
}

#[test]
fn dates_become_time_stamps() {
    #[rustfmt::skip]
    check("bibtimestamp", &[
        ("bibdate = {Fri Mar 4 17:53:38 MST 2011}", Some("2011.03.04 17:53:38 MST")),
        ("bibdate = {Fri Oct 23 16:59:25 2009}", Some("2009.10.23 16:59:25 ???")),
        ("bibdate = {12 August 2014}", None),
    ]);
    check(
        "bibdate",
        &[("bibdate = {12 August 2014}", Some("12 August 2014"))],
    );
}

#[test]
fn the_text_of_the_entry_is_unchanged() {
    let entry = "@ARTICLE ( Key:1 ,\r\n\ttitle = \"A ) {\"} ) b\" , x = {unknown}\r\n)";
    let text = format!("text % @Article{{no,\n{entry} more text");
    assert_eq!(cell(&text, "entry"), Some(format!("\n{entry}")));
    assert_eq!(cell(&text, "label").as_deref(), Some("Key:1"));
    assert_eq!(cell(&text, "bibtype").as_deref(), Some("article"));
    assert_eq!(cell(&text, "filename").as_deref(), Some("test.bib"));
    assert_eq!(cell(&text, "title").as_deref(), Some("A ) \" ) b"));
}

#[test]
fn if_a_field_occurs_twice_the_first_counts() {
    let text = "@Misc{k, note = {one}, NOTE = {two}}";
    assert_eq!(cell(text, "note").as_deref(), Some("one"));
}

#[test]
fn strings_are_listed_once_in_order_and_names_with_their_counts() {
    let rows = rows(
        "@String{b = \"B  {x}\"} @string(a = {A} # b)\n@String{b = \"B\n {x}\"}\n@STRING{b = \"other\"}
         @Misc{1, author = {X and Y}, editor = {X}} @Misc{2, author = {Y and {\\'X}}}",
    );
    let text = |cell: &Option<String>| cell.clone().unwrap_or_default();
    let texts = |(_, cells): &Cells| cells.iter().map(text).collect::<Vec<_>>();
    let of_table = |number: usize| -> Vec<Vec<String>> {
        let of_it = rows.iter().filter(|(table, _)| *table == number);
        of_it.map(texts).collect()
    };
    let expected = [
        ["b", "B {x}", "\n@String{b = \"B  {x}\"}"],
        ["a", "Ab", "\n@string(a = {A} # b)"],
        ["b", "other", "\n@STRING{b = \"other\"}"],
    ];
    assert_eq!(of_table(1), expected);
    assert_eq!(of_table(2), [["X", "3"], ["Y", "2"]]);
}

#[test]
fn a_page_count_above_the_int_range_is_null_with_a_warning() {
    let text = "@Misc{a, pages = \"1--2147483647\"}\n\n@Misc{b,\n  pages = \"1--99999999999\"}\n";
    let (rows, problems) = rows_kept_going(text.as_bytes());
    let index = COLUMNS.iter().position(|name| *name == "pagecount");
    let count = |(_, cells): &Cells| cells[index.expect("a column")].clone();
    let counts: Vec<_> = rows.iter().map(count).collect();
    assert_eq!(counts, [Some("2147483647".to_owned()), None]);
    assert_eq!((problems.errors, problems.warnings), (0, 1));
    let warning = &problems.kept[0];
    assert_eq!((warning.line, warning.column), (4, 3));
    assert!(warning.message.contains("`pages` of `b`"), "{warning:?}");
}

#[test]
fn both_tables_count_the_same_names_and_an_empty_name_is_a_warning() {
    for (authors, count, warnings) in [
        ("A and B and C", 3, 0),
        ("A and B and and C", 3, 1),
        ("A and B and", 2, 0), // the last word belongs to the name
        ("A and B and ", 2, 1),
        ("{} and A", 1, 1),
        ("A and {Barnes and Noble} and others", 2, 0),
        ("\\'Etienne and {\\O}re and 42", 3, 0),
    ] {
        let text = format!("@Misc{{k,\n  author = \"{authors}\"}}\n");
        let (rows, problems) = rows_kept_going(text.as_bytes());
        let names = rows.iter().filter(|(table, _)| *table == 2);
        let counts = names.map(|(_, cells)| cells[1].as_deref().expect("a count"));
        let uses: u64 = counts
            .map(|count| count.parse::<u64>().expect("a number"))
            .sum();
        assert_eq!(rows[0].1[0], Some(count.to_string()), "{authors}");
        assert_eq!(uses, count, "{authors}");
        assert_eq!(problems.warnings, warnings, "{authors}");
        let mut lines = problems.kept.iter().map(|warning| warning.line);
        assert!(lines.all(|line| line == 2), "{authors}");
    }
}
