//! Takes the answers to each statement and the transactions that ended; returns them as far as another run of the
//! same seed asks the same.

use assay_script::Statement;

use super::super::plan::Plan;
use crate::account::{Completed, StatementAnswers, stages};
use crate::observation::{AnswerReport, FirstAnswersReport};

/// Empty where answers were not compared; statements that were never answered are left out.
pub fn of_statements(
    plan: &Plan,
    answers: &[StatementAnswers],
    completed: &[Completed],
) -> Vec<AnswerReport> {
    let report = |(statement, answers): (&Statement, &StatementAnswers)| AnswerReport {
        transaction: plan.program.scripts[statement.script as usize].name.clone(),
        statement: statement.index_in_script,
        line: statement.line,
        text: statement.text.clone(),
        answers: answers.answers,
        rows: answers.rows,
        rows_squared: answers.rows_squared,
        varies: answers.varies,
        first: first(plan, statement, answers, completed),
    };
    let all = plan.program.statements.iter().zip(answers);
    all.filter(|(_, answers)| answers.answers > 0)
        .map(report)
        .collect()
}

/// Up to the stage at which a transaction is missing, in any group that runs the script.
fn first(
    plan: &Plan,
    statement: &Statement,
    answers: &StatementAnswers,
    completed: &[Completed],
) -> Vec<FirstAnswersReport> {
    let runs_it = |group: &&super::super::group::Group| group.scripts.contains(&statement.script);
    let is_whole = |stage: usize, transactions: u64| {
        plan.groups.iter().filter(runs_it).all(|group| {
            completed[group.number as usize].until(stage) == group.of_first(transactions)
        })
    };
    let clients = (plan.groups.iter().filter(runs_it))
        .map(super::super::group::Group::compared_clients)
        .sum();
    stages()
        .take_while(|(stage, transactions)| is_whole(*stage, *transactions))
        .map(|(stage, transactions)| {
            let until = answers.until(stage);
            FirstAnswersReport {
                transactions,
                clients,
                answers: until.answers,
                rows: until.rows,
                digest: format!("{:016x}", until.digest),
                fractions: until.fractions,
                fraction_sum: until.fraction_sum,
            }
        })
        .collect()
}
