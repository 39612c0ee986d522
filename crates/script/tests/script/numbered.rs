//! A numbered transaction is the same whichever client runs it, and whatever the client ran before.

use crate::support::try_compile_as;
use assay_script::{Machine, Step, Values};
use assay_values::{Random, Value};
use std::sync::Arc;

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
fn values_depend_on_the_number_and_not_on_the_client() {
    let given = [("sum", Value::Int(0))];
    let program = try_compile_as(Values::Bound, SCRIPT, &given).expect("the script is valid");
    let program = Arc::new(program);
    let begun = |machine: &mut Machine, number: u64| {
        machine.begin_numbered(0, Random::stream(9, number), number);
        values(machine)
    };
    let mut first_client = Machine::new(program.clone(), 1, 0);
    let first: Vec<_> = (0..5).map(|number| begun(&mut first_client, number)).collect();
    let mut second_client = Machine::new(program, 1, 7);
    second_client.keep_start(true);
    for number in [3, 0, 4, 1, 2] {
        let expected = &first[usize::try_from(number).expect("it is small")];
        assert_eq!(&begun(&mut second_client, number), expected);
        assert_eq!(expected[0], expected[1], "the sum starts again");
        assert_eq!(expected[2], Value::Int(number.cast_signed()));
        second_client.rewind();
        assert_eq!(&values(&mut second_client), expected);
    }
    assert_ne!(first[0], first[1]);
}
