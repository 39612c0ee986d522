//! Takes the paths of all inputs; returns a warning for each file whose base name equals that of another.

use std::path::PathBuf;

use assay_values::SourceError;

use crate::input::base_name;
use crate::problems::{Flaw, Place};

/// Warns because column `filename` contains only base names, which do not distinguish such files.
pub(crate) fn equal_names(paths: &[&str]) -> Vec<SourceError> {
    let mut names: Vec<(&str, &str)> = paths.iter().map(|path| (base_name(path), *path)).collect();
    names.sort_unstable();
    names
        .chunk_by(|left, right| left.0 == right.0)
        .filter(|same| same.len() > 1)
        .flat_map(|same| of_one_name(same.iter().map(|name| name.1)))
        .collect()
}

/// The warnings for `paths`, which have the same base name.
fn of_one_name<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<SourceError> {
    // Each file by its first path, and how often it was named.
    let mut files: Vec<(Option<PathBuf>, &str, u64)> = Vec::new();
    for path in paths {
        let real = std::fs::canonicalize(path).ok();
        match files
            .iter_mut()
            .find(|file| file.1 == path || (real.is_some() && file.0 == real))
        {
            Some(file) => file.2 += 1,
            None => files.push((real, path, 1)),
        }
    }
    let warning = |path: &str, message: String, hint: &str| {
        let flaw = Flaw {
            place: Place::default(),
            message,
            hint: Some(hint.to_owned()),
        };
        flaw.in_file(path)
    };
    let again = files.iter().filter(|file| file.2 > 1).map(|file| {
        let times = match file.2 {
            2 => "twice".to_owned(),
            times => format!("{times} times"),
        };
        let message = format!("is given {times}; every entry is loaded {times}");
        warning(file.1, message, "name it once")
    });
    let others = files.windows(2).map(|pair| {
        let message = format!(
            "has the same name as {}; column `filename` does not distinguish them",
            pair[0].1
        );
        warning(pair[1].1, message, "rename one")
    });
    again.chain(others).collect()
}
