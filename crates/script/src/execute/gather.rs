//! Takes the answer to a statement; stores its cells in variables.

use super::met;
use crate::operand::GatherId;
use crate::program::Program;
use crate::registers::Registers;
use crate::reply::Reply;
use crate::stop::Failure;

impl Registers {
    /// Stores the columns of the answer's only row.
    pub(super) fn gather(
        &mut self,
        program: &Program,
        gather: GatherId,
        reply: &Reply<'_>,
    ) -> Result<(), Box<Failure>> {
        let Some(cells) = reply.first_row.filter(|_| reply.rows == 1) else {
            return met(Some(format!(
                "\\gset expects one row, found {}",
                reply.rows
            )));
        };
        self.gather_row(program, gather, reply, cells);
        Ok(())
    }

    /// Stores the columns of the last row, if there is one.
    pub(super) fn gather_last(&mut self, program: &Program, gather: GatherId, reply: &Reply<'_>) {
        if let Some(cells) = reply.last_row {
            self.gather_row(program, gather, reply, cells);
        }
    }

    fn gather_row(
        &mut self,
        program: &Program,
        gather: GatherId,
        reply: &Reply<'_>,
        cells: &[Option<Box<[u8]>>],
    ) {
        let columns = reply.columns;
        for (name, slot) in &program.gather(gather).targets {
            let exact = columns.iter().position(|column| column == name);
            let found = exact.or_else(|| {
                columns
                    .iter()
                    .position(|column| column.eq_ignore_ascii_case(name))
            });
            if let Some((index, cell)) = found.and_then(|index| Some((index, cells.get(index)?))) {
                let of = reply.types.get(index).copied().unwrap_or_default();
                self.write(*slot, of.value(cell.as_deref()));
            }
        }
    }
}
