//! Takes the meta commands that open, divide and close blocks, in order; returns the jumps whose
//! targets are now known, or an error that names the block still open.

use crate::place::{Defect, Lines};
use crate::program::opcode::Slot;

/// The blocks that are open, the innermost last.
pub(crate) struct Blocks<'p, 'a> {
    open: Vec<Block>,
    lines: &'p Lines<'a>,
}

/// A jump is identified by its index in the list of instructions.
enum Block {
    If {
        at: usize,
        /// The jump over the current branch to the next branch; none in the branch of `\else`.
        skip: Option<usize>,
        /// The jumps from the ends of earlier branches to the end of the block.
        leaves: Vec<usize>,
    },
    For {
        at: usize,
        enter: usize,
        variable: Slot,
    },
    Pipeline {
        at: usize,
    },
}

impl Block {
    /// Its opening command, its closing command and its place.
    fn names(&self) -> (&'static str, &'static str, usize) {
        match self {
            Self::If { at, .. } => ("\\if", "\\endif", *at),
            Self::For { at, .. } => ("\\for", "\\endfor", *at),
            Self::Pipeline { at } => ("\\startpipeline", "\\endpipeline", *at),
        }
    }
}

impl<'p, 'a> Blocks<'p, 'a> {
    pub fn new(lines: &'p Lines<'a>) -> Self {
        Self { open: Vec::new(), lines }
    }

    pub fn open_if(&mut self, at: usize, skip: usize) {
        self.open.push(Block::If { at, skip: Some(skip), leaves: Vec::new() });
    }

    pub fn open_for(&mut self, at: usize, enter: usize, variable: Slot) {
        self.open.push(Block::For { at, enter, variable });
    }

    /// `\elif` or `\else` ends a branch with the jump `leave`; returns the jump that skips that branch.
    pub fn next_branch(&mut self, at: usize, found: &str, leave: usize) -> Result<usize, Defect> {
        match self.open.last_mut() {
            Some(Block::If { skip: Some(_), .. } | Block::For { .. } | Block::Pipeline { .. })
            | None => {}
            Some(Block::If { at: opened, .. }) => {
                let line = self.lines.place(*opened).line;
                let message = format!("expected \\endif, found {found} after \\else");
                return Err(Defect::new(at, message).hint(format!("the \\if is on line {line}")));
            }
        }
        match self.open.last_mut() {
            Some(Block::If { skip, leaves, .. }) => {
                leaves.push(leave);
                Ok(skip.take().expect("the branch of \\else was refused above"))
            }
            _ => Err(self.mismatch(at, found, "\\if")),
        }
    }

    /// Records `skip`, the jump of an `\elif` condition over its branch.
    pub fn skip_with(&mut self, skip: usize) {
        if let Some(Block::If { skip: open, .. }) = self.open.last_mut() {
            *open = Some(skip);
        }
    }

    /// `\endif`: returns all jumps to the end of the block.
    pub fn close_if(&mut self, at: usize) -> Result<Vec<usize>, Defect> {
        match self.open.pop() {
            Some(Block::If { skip, mut leaves, .. }) => {
                leaves.extend(skip);
                Ok(leaves)
            }
            other => {
                self.open.extend(other);
                Err(self.mismatch(at, "\\endif", "\\if"))
            }
        }
    }

    /// `\endfor`: returns the instruction that enters the loop, and the loop's variable.
    pub fn close_for(&mut self, at: usize) -> Result<(usize, Slot), Defect> {
        match self.open.pop() {
            Some(Block::For { enter, variable, .. }) => Ok((enter, variable)),
            other => {
                self.open.extend(other);
                Err(self.mismatch(at, "\\endfor", "\\for"))
            }
        }
    }

    pub fn open_pipeline(&mut self, at: usize) -> Result<(), Defect> {
        if let Some(opened) = self.pipeline() {
            let line = self.lines.place(opened).line;
            return Err(Defect::new(at, "found \\startpipeline within a pipeline")
                .hint(format!("the \\startpipeline on line {line} is still open")));
        }
        self.open.push(Block::Pipeline { at });
        Ok(())
    }

    pub fn close_pipeline(&mut self, at: usize) -> Result<(), Defect> {
        match self.open.pop() {
            Some(Block::Pipeline { .. }) => Ok(()),
            other => {
                self.open.extend(other);
                Err(self.mismatch(at, "\\endpipeline", "\\startpipeline"))
            }
        }
    }

    /// Where the open pipeline begins, if there is one.
    pub fn pipeline(&self) -> Option<usize> {
        self.open.iter().find_map(|block| match block {
            Block::Pipeline { at } => Some(*at),
            _ => None,
        })
    }

    /// At the end of the script: an error if a block is still open.
    pub fn all_closed(&self) -> Result<(), Defect> {
        self.open.last().map_or(Ok(()), |block| {
            let (opening, end, at) = block.names();
            Err(Defect::new(at, format!("this {opening} is not closed: expected {end}")))
        })
    }

    fn mismatch(&self, at: usize, found: &str, opening: &str) -> Defect {
        match self.open.last() {
            None => Defect::new(at, format!("found {found} without {opening}")),
            Some(block) => {
                let (open, end, opened) = block.names();
                let line = self.lines.place(opened).line;
                Defect::new(at, format!("expected {end}, found {found}"))
                    .hint(format!("the {open} on line {line} is still open"))
            }
        }
    }
}
