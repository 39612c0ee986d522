//! Enlarged bibliographies: what changes, what does not, and that the random choices depend only on the seed.

use assay_bibtex::{BibSource, COLUMNS, Replicas, SourceOptions, Variant, write_replicated};

use crate::reading::{Cells, Folder, keys, place, rows_from, sample};

const TEXT: &str = r#"@String{j = "J"}
@Article{a:1, title = {T}, remark = "old", bibdate = {Fri Mar 4 17:53:38 MST 2011}, year = 2011,}
@Book{b:2,
  remark = later # 5,
  bibdate = "12 August 2014"
}
@Misc(c:3)
@String{later = "x"}
"#;

fn options(files: Vec<String>, replicas: Replicas) -> SourceOptions {
    SourceOptions {
        files,
        replicas: Some(replicas),
        ..SourceOptions::default()
    }
}

fn rows(files: Vec<String>, replicas: Replicas) -> Vec<Cells> {
    let source = BibSource::new(&options(files, replicas)).expect("the options are valid");
    rows_from(source).expect("the files are valid").0
}

fn cell<'r>(row: &'r Cells, column: &str) -> Option<&'r str> {
    row.1[place(column)].as_deref()
}

pub fn replicas_of(count: u32) -> Replicas {
    Replicas {
        count,
        ..Replicas::default()
    }
}

#[test]
fn a_replica_differs_only_in_the_documented_columns() {
    let folder = Folder::new("replicas");
    let files = vec![folder.file("x.bib", TEXT.as_bytes())];
    let plain = rows(files.clone(), Replicas::default());
    let rows = rows(files, replicas_of(2));
    let labels = "a:1-r001 b:2-r001 c:3-r001 a:1-r002 b:2-r002 c:3-r002";
    assert_eq!(keys(&rows).join(" "), labels);
    assert_eq!(cell(&rows[0], "filename"), Some("x-r001.bib"));
    assert_eq!(cell(&rows[5], "filename"), Some("x-r002.bib"));
    let changed = "filename label bibdate bibtimestamp remark entry";
    let is_kept = |column: &&&str| !changed.split(' ').any(|name| name == **column);
    for (at, row) in rows[..6].iter().enumerate() {
        let original = &plain[at % 3];
        for column in COLUMNS.iter().filter(is_kept) {
            assert_eq!(cell(row, column), cell(original, column), "{column}");
        }
        let entry = cell(row, "entry").expect("every row has an entry");
        let number = format!("replica =      \"{}\"", at / 3 + 1);
        assert!(entry.contains(&number), "{entry}");
    }
    for row in [&rows[0], &rows[3]] {
        let stamp = cell(row, "bibtimestamp").expect("a valid date stays valid");
        assert!(("2001.03.06".."2011.03.04").contains(&stamp), "{stamp}");
        assert!(stamp.ends_with(" MST"));
        let remark = cell(row, "remark").expect("a remark");
        let added = remark.strip_prefix("old ").expect("it comes first");
        assert!((20..=200).contains(&added.len()), "{added}");
    }
    assert_ne!(cell(&rows[0], "remark"), cell(&rows[3], "remark"));
    assert_eq!(cell(&rows[1], "bibdate"), Some("12 August 2014"));
    assert!(cell(&rows[1], "remark").is_some_and(|remark| remark.starts_with("later5 ")));
    assert!((20..=200).contains(&cell(&rows[2], "remark").expect("a new remark").len()));
    // Definitions occur once for any number of replicas.
    assert_eq!(rows.iter().filter(|(table, _)| *table == 1).count(), 2);
}

#[test]
fn random_choices_depend_only_on_the_seed_and_the_entry() {
    let folder = Folder::new("seeds");
    let files = vec![folder.file("x.bib", TEXT.as_bytes())];
    let with_seed = |seed| {
        let replicas = Replicas {
            seed,
            ..replicas_of(3)
        };
        rows(files.clone(), replicas)
    };
    assert_eq!(with_seed(1), with_seed(1));
    assert_ne!(with_seed(1), with_seed(2));
    // The same entry in another file, after other entries, gets the same text.
    let second_file = folder.file("y.bib", format!("@Misc{{z,}} {TEXT}").as_bytes());
    let both = rows(vec![files[0].clone(), second_file], replicas_of(2));
    assert_eq!(cell(&both[0], "entry"), cell(&both[4], "entry"));
}

#[test]
fn clean_replicas_leave_out_what_checks_report() {
    let folder = Folder::new("clean");
    let files = vec![folder.file("x.bib", TEXT.as_bytes()), folder.file("y.bib", b"@Misc{a:1,}")];
    let some = |text: &str| Some(text.to_owned());
    let reported = vec![(some("x.bib"), some("a:1")), (None, some("c:3"))];
    let clean = Replicas {
        count: 2,
        variant: Variant::Clean,
        reported,
        ..Replicas::default()
    };
    let rows = rows(files, clean);
    let labels = "a:1-r001 b:2-r001 c:3-r001 a:1-r001 b:2-r002 a:1-r002";
    assert_eq!(keys(&rows).join(" "), labels);
}

#[test]
fn entries_come_from_the_selected_files_and_strings_and_names_from_all() {
    let folder = Folder::new("only");
    let files = vec![
        folder.file("x.bib", b"@String{s = {S}} @Misc{a, author = {A}}"),
        folder.file("y.bib", b"@Misc{b, author = {A and B}}"),
    ];
    let only = Some(vec!["y.bib".to_owned()]);
    let source = BibSource::new(&SourceOptions {
        files,
        only,
        ..SourceOptions::default()
    });
    let (rows, _) = rows_from(source.expect("the options are valid")).expect("the files are valid");
    assert_eq!(keys(&rows), ["b"]);
    let tables: Vec<usize> = rows.iter().map(|(table, _)| *table).collect();
    assert_eq!(tables, [0, 1, 2, 2]);
    assert_eq!(rows[2].1, [Some("A".to_owned()), Some("2".to_owned())]);
}

#[test]
fn the_enlarged_file_holds_the_entries_of_the_rows() {
    let folder = Folder::new("file");
    let files = vec![sample("sample.bib"), folder.file("y.bib", b"@Misc{one:1999:A, note = {y}}")];
    let options = options(files, replicas_of(4));
    let mut text = Vec::new();
    let written = write_replicated(&options, &mut text).expect("the files are valid");
    assert_eq!(written.bytes, text.len() as u64);
    // The second file repeats a key of the first, which one file cannot contain twice.
    assert_eq!(written.left_out, 4);
    let whole = folder.file("all.bib", &text);
    let rows = rows(vec![whole], Replicas::default());
    assert_eq!(keys(&rows).len() as u64, written.entries);
    let direct = BibSource::new(&options).expect("the options are valid");
    let (direct, _) = rows_from(direct).expect("the files are valid");
    let entries = |rows: &[Cells]| -> Vec<Option<String>> {
        let entries = rows.iter().filter(|(table, _)| *table == 0);
        entries
            .map(|row| cell(row, "entry").map(str::to_owned))
            .collect()
    };
    let (mut kept, written) = (entries(&direct), entries(&rows));
    kept.retain(|entry| written.contains(entry));
    assert_eq!(kept, written);
}

#[test]
fn zero_replicas_are_refused() {
    let options = options(vec![sample("sample.bib")], replicas_of(0));
    assert!(BibSource::new(&options).is_err());
}
