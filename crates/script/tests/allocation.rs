//! Stepping through a script does not allocate, once the client has been through it.

mod support;

use assay_datagen::Value;
use assay_script::{Machine, Reply, Step};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use support::try_compile_with;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed on unchanged to the system's allocator, which keeps the contract; the
// counter is a constant-initialised cell of the thread and allocates nothing itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and the block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `realloc`, and the block came from `System`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// pgbench's own transaction («TPC-B, sort of»), with a loop, a condition and an expectation more.
const SCRIPT: &str = "\
\\set aid random(1, 100000 * 10)
\\set bid random(1, 10)
\\set delta random(-5000, 5000) * 1.5
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND filler <> :filler;
\\expect rows 1
SELECT abalance FROM pgbench_accounts WHERE aid = :aid \\gset
\\for i in 1..3
\\if :i % 2 = 0 AND :abalance > 0
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
\\endif
\\endfor
END;
";

fn transaction(machine: &mut Machine, columns: &[String], cells: &[Option<Box<[u8]>>]) -> usize {
    let mut statements = 0;
    machine.begin(0);
    loop {
        match machine.step() {
            Step::Execute { parameters, .. } => {
                assert!(parameters.iter().all(|value| *value != Value::Null));
                statements += 1;
                let first_row = Some(cells);
                machine.answered(Reply {
                    rows: 1,
                    affected: 1,
                    columns,
                    first_row,
                    error: None,
                });
            }
            Step::Sleep { .. } => {}
            Step::End(_) => return statements,
        }
    }
}

#[test]
fn stepping_does_not_allocate() {
    let filler = Value::Text("a text that is bound again and again".into());
    let program = try_compile_with(SCRIPT, &[("filler", filler)]).expect("the script is good");
    let mut machine = Machine::new(Arc::new(program), 1, 0);
    let columns = ["abalance".to_owned()];
    let cells = [Some(b"17".as_slice().into())];
    assert_eq!(transaction(&mut machine, &columns, &cells), 5);
    let before = ALLOCATIONS.get();
    for _ in 0..1000 {
        transaction(&mut machine, &columns, &cells);
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
