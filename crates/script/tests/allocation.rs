//! After a client's first transaction, stepping through a script does not allocate; nor does writing rows.

#[path = "script/support/mod.rs"]
mod support;

use assay_script::expression::{Origin, compile};
use assay_script::{Machine, Program, Reply, Step, Values};
use assay_values::{Random, Row, Value};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use support::try_compile_as;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed unchanged to the system's allocator, which keeps the contract; the
// counter is a constant-initialised thread-local cell and does not allocate.
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

/// pgbench's built-in transaction ("TPC-B (sort of)"), with everything else the hot path may contain: a loop, a
/// condition, an expectation, a pipeline, an identifier chosen at run time, pauses.
const SCRIPT: &str = "\
\\set aid random(1, 100000 * :scale)
\\set bid 1 + permute(hash(:aid) % 10, 10)
\\set table abs(hash_fnv1a(:aid)) % 3
\\set delta random_gaussian(-5000, 5000, 2.5) * 1.5
\\set price decimal(:delta, 2)
\\set day date(15000 + :aid % 100)
\\set at timestamp(1300000000 + :aid)
\\set clock time(:aid % 86400 + 0.5)
\\begin
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND filler <> :filler;
\\expect rows 1
SELECT abalance FROM pgbench_accounts WHERE aid = :aid \\gset
\\for i in 1..3
\\if :i % 2 = 0 AND :abalance > 0
UPDATE :{table} SET bbalance = bbalance + :delta WHERE bid = :bid;
\\endif
\\endfor
\\startpipeline
INSERT INTO history VALUES (:bid, :aid, :delta, :price, :day, :at, :clock);
END;
\\endpipeline
\\think exponential:1us
\\keying uniform(1, 2) us
";

/// Runs one transaction; returns the number of statements.
fn transaction(machine: &mut Machine, columns: &[String], cells: &[Option<Box<[u8]>>]) -> usize {
    let reply = Reply {
        rows: 1,
        affected: 1,
        columns,
        first_row: Some(cells),
        last_row: Some(cells),
        types: &[],
        error: None,
    };
    let mut statements = 0;
    let mut queued = 0..0;
    loop {
        match machine.step() {
            Step::Execute { parameters, statement, is_pipelined, .. } => {
                assert!(parameters.iter().all(|value| *value != Value::Null));
                statements += 1;
                if is_pipelined {
                    queued = queued.start.max(statement)..statement + 1;
                    machine.queued();
                } else {
                    machine.answered(reply);
                }
            }
            Step::Sync => {
                queued.clone().for_each(|statement| machine.answered_pipelined(statement, reply));
            }
            Step::Sleep { .. } | Step::RollBack | Step::Defer(_) | Step::Run(_) => {}
            Step::End(_) => return statements,
        }
    }
}

#[test]
fn stepping_does_not_allocate() {
    let filler = Value::Text("a text that is bound again and again".into());
    let given = [("filler", filler), ("scale", Value::Int(10))];
    // The protocol `simple` has no pipelines.
    let pasted = SCRIPT.replace("\\startpipeline\n", "").replace("\\endpipeline\n", "");
    for (values, text) in [(Values::Bound, SCRIPT), (Values::Pasted, &pasted)] {
        let program = try_compile_as(values, text, &given).expect("the script is valid");
        step_without_allocating(program);
    }
}

fn step_without_allocating(program: Program) {
    let mut machine = Machine::new(Arc::new(program), 1, 0);
    machine.keep_start(true);
    let columns = ["abalance".to_owned()];
    let cells = [Some(b"17".as_slice().into())];
    let both = |machine: &mut Machine| {
        machine.begin_numbered(0, Random::stream(1, 2), 2);
        assert_eq!(transaction(machine, &columns, &cells), 6);
        machine.begin(0);
        assert_eq!(transaction(machine, &columns, &cells), 6);
        machine.rewind();
        assert_eq!(transaction(machine, &columns, &cells), 6);
    };
    both(&mut machine);
    let before = ALLOCATIONS.get();
    for _ in 0..1000 {
        both(&mut machine);
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[test]
fn writing_generated_rows_does_not_allocate() {
    let constants = [("scale".to_owned(), Value::Int(10))];
    let origin = Origin { path: "workload.toml", line: 1, column: 1 };
    let formulas = [
        ":row + 1",
        ":row / (100000 * :scale) + 1",
        "random(1, 100000)",
        "random_zipfian(1, 1000, 1.1) % 7",
        "CASE WHEN :row % 10 = 0 THEN NULL ELSE double(:row) / 3 END",
        "text(5, 60)",
        "digits(16)",
        "format('%08d-%s-%.2f', :row, 'x', 1.5)",
        "concat('row ', :row, 1.5)",
        "lastname(:row % 1000)",
        "substr('abcdefgh', 2, :row % 5)",
        "timestamp(1300000000 + :row)",
        "pick(1, 2, 3)",
    ]
    .map(|text| compile(text, &["row"], &constants, origin).expect(text));
    let mut random = Random::stream(1, 1);
    let mut row = Row::new();
    let mut write = |number: i64| {
        row.clear();
        for formula in &formulas {
            let written = formula.write(&[Value::Int(number)], &mut random, &mut row);
            written.expect("every row has a value");
        }
    };
    (0..1000).for_each(&mut write);
    let before = ALLOCATIONS.get();
    (0..1000).for_each(&mut write);
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
