//! Takes scripts; returns the values of their transactions, written to a file by a shell program.

use std::fs;

pub struct Values {
    folder: tempfile::TempDir,
}

impl Values {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("assay-values-").tempdir();
        Self {
            folder: folder.unwrap(),
        }
    }

    /// A script command that writes these variables (`:a:b`) to the file.
    pub fn write(&self, variables: &str) -> String {
        let file = self.folder.path().join("values");
        let names = variables.replace(':', " :");
        format!("\\shell sh -c 'echo $* >>{}' values{names}", file.display())
    }

    /// All written values, a line for each transaction, sorted.
    pub fn sorted(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("values")).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}
