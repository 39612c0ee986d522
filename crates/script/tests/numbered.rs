//! A numbered transaction is the same whichever client runs it, and whatever that has run before.

mod support;

use assay_script::{Machine, Step, Values};
use assay_values::{Random, Value};
use std::sync::Arc;
use support::try_compile_as;

const SCRIPT: &str = "\
\\set drawn random(1, 1000000)
\\set sum :sum + :drawn
SELECT :drawn, :sum, :transaction_number;
";

fn values(machine: &mut Machine) -> Vec<Value> {
    match machine.step() {
        Step::Execute { parameters, .. } => parameters.to_vec(),
        step => panic!("{step:?}"),
    }
}

#[test]
fn values_follow_the_number_and_not_the_client_or_its_past() {
    let given = [("sum", Value::Int(0))];
    let program = try_compile_as(Values::Bound, SCRIPT, &given).expect("the script is good");
    let program = Arc::new(program);
    let begun = |machine: &mut Machine, number: u64| {
        machine.begin_numbered(0, Random::stream(9, number), number);
        values(machine)
    };
    let mut one = Machine::new(program.clone(), 1, 0);
    let first: Vec<_> = (0..5).map(|number| begun(&mut one, number)).collect();
    let mut other = Machine::new(program, 1, 7);
    other.keep_start(true);
    for number in [3, 0, 4, 1, 2] {
        let expected = &first[usize::try_from(number).expect("it is small")];
        assert_eq!(&begun(&mut other, number), expected);
        assert_eq!(expected[0], expected[1], "the sum begins anew");
        assert_eq!(expected[2], Value::Int(number.cast_signed()));
        other.rewind();
        assert_eq!(&values(&mut other), expected);
    }
    assert_ne!(first[0], first[1]);
}
