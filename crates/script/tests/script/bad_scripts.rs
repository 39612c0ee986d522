//! Every kind of mistake in a script is reported with its line, its column, what was expected, and the
//! fix where there is one.
use crate::support::{source, try_compile};

/// Script, place, part of the message, part of the hint.
#[rustfmt::skip]
const BAD: &[(&str, &str, &str, &str)] = &[
    // Literals, identifiers, comments.
    ("SELECT 'open", "1:8", "this literal is not closed: expected '", "written twice"),
    ("SELECT 1;\n  SELECT 'it''s", "2:10", "this literal is not closed", "written twice"),
    ("SELECT \"open;\n", "1:8", "this quoted identifier is not closed: expected \"", "twice"),
    ("SELECT `open", "1:8", "this quoted identifier is not closed: expected `", "twice"),
    ("SELECT 'a\\'; SELECT 'b\\''", "1:21", "not closed", "a backslash escapes nothing"),
    ("SELECT E'a\\'", "1:9", "this literal is not closed", ""),
    ("SELECT $$open$x$", "1:8", "this literal is not closed: expected $$", ""),
    ("SELECT $t$open$$", "1:8", "expected $t$", ""),
    ("/* open", "1:1", "this comment is not closed: expected */", "comments nest"),
    ("SELECT 1 /* a /* b */ ;", "1:10", "this comment is not closed", "every /* inside"),
    ("SELECT\0 1", "1:7", "found a NUL character", ""),
    // The script as a whole.
    ("SELECT 1;\n { \"find\": \"a\"};", "2:2", "found a JSON document, expected SQL", "takes statements in SQL"),
    ("", "1:1", "found no statement", ""),
    ("-- only\n/* comments */ ;\n", "1:1", "found no statement", ""),
    // Parameters.
    ("SELECT :x", "1:8", "nothing sets the variable :x", "\\set x"),
    ("SELECT 'é', :x", "1:13", "nothing sets the variable :x", "\\set x"),
    ("\\set account 1\nSELECT :acount", "2:8", "nothing sets the variable :acount", "did you mean :account?"),
    ("SELECT :x;\n\\set x 1", "1:8", ":x is used before it is set", "set it above this line"),
    ("\\set x :x + 1", "1:8", ":x is used before it is set", ""),
    ("\\set client 1 + :cleint_id", "1:17", "nothing sets", "did you mean :client_id?"),
    ("SELECT 1 \\gset p_\nSELECT :q_a", "2:8", "nothing sets the variable :q_a", ""),
    // Transactions that are open at the end.
    ("SELECT 1;\n\\begin\nSELECT 1;", "2:1", "the transaction that begins here is still open", "COMMIT, ROLLBACK or \\abort"),
    ("BEGIN;\n\\if :client_id\nUPDATE t SET a = 1;\n\\else\nSAVEPOINT a; ROLLBACK TO a;\n\\endif", "1:1", "still open", ""),
    ("\\begin\nSELECT 1;\n\\defer test\n\\commit", "3:1", "found \\defer within a transaction", "put it after \\commit"),
    // Meta commands.
    ("\\defer", "1:7", "expected the name of a script, found the end", ""),
    ("\\defer tset", "1:8", "expected the name of a script, found tset", "did you mean test?"),
    ("\\defer test amount", "1:13", "nothing sets the variable :amount", ""),
    ("\\sett x 1", "1:1", "expected a meta command, found \\sett", "did you mean \\set?"),
    ("SELECT 1;\n  \\endfi", "2:3", "found \\endfi", "did you mean \\endif?"),
    ("\\frobnicate", "1:1", "expected a meta command", "the meta commands are \\abort"),
    ("\\setrandom a 1 2", "1:1", "found \\setrandom", "\\set NAME random(FIRST, LAST)"),
    ("\\timing on", "1:1", "found \\timing", "--per-statement"),
    ("\\ set x 1", "1:1", "expected the name of a meta command after \\", "within literals"),
    ("\\set", "1:5", "expected the name of a variable, found the end of the line", "\\set name expression"),
    ("\\set x", "1:7", "expected a value, found the end of the line", "\\set name expression"),
    ("\\set :x 1", "1:6", "expected the name of a variable, found :x", "here it is written x"),
    ("\\set 1 1", "1:6", "expected the name of a variable, found 1", ""),
    ("\\set x 1;", "1:9", "found ;, which no expression contains", "ends with its line, without ;"),
    ("\\set x 1 2", "1:10", "expected the end of the line, found 2", "\\set name"),
    ("\\abort now", "1:8", "expected the end of the line, found now", "\\abort"),
    ("\\set x 1 \\set y 2", "1:10", "found \\", "a line of its own"),
    ("\\sleep", "1:7", "expected a value", "\\sleep duration [us | ms | s]"),
    ("SELECT 1;\n\\sleep -1 ms", "2:8", "expected a duration of zero or more, found -1", ""),
    ("\\think 'soon'", "1:8", "expected a number, found", ""),
    ("\\sleep 1 min", "1:10", "expected us, ms or s, found min", ""),
    ("SELECT 1;\n\\gset 1", "2:7", "expected the name of a variable, found 1", "\\gset [prefix]"),
    ("\\sleep exponential:1", "1:8", "expected a distribution, found exponential:1", "as in constant:1ms"),
    ("\\think normal:1s", "1:8", "expected a distribution, found normal:1s", "exponential:12s,120s"),
    ("\\think", "1:7", "expected a value, found the end of the line", "\\think duration [us | ms | s]"),
    ("\\keying 3 minutes", "1:11", "expected us, ms or s, found minutes", "\\keying duration"),
    ("\\begin serialisable", "1:1", "expected an isolation level, found serialisable", "did you mean serializable?"),
    ("\\begin snapshot", "1:1", "expected an isolation level, found snapshot", "the levels known here are read committed, serializable"),
    ("\\begin; ", "1:7", "found ;, which no expression contains", "ends with its line, without ;"),
    ("\\shell", "1:7", "expected a command, found the end of the line", "\\shell command [argument ...]"),
    ("\\setshell", "1:10", "expected the name of a variable, found the end", "\\setshell name command"),
    ("\\setshell x", "1:12", "expected a command, found the end of the line", "\\setshell name command"),
    ("\\setshell :x date", "1:11", "expected the name of a variable, found :x", "\\setshell name"),
    ("\\shell echo :y", "1:13", "nothing sets the variable :y", "\\set y"),
    // Pipelines and combined statements.
    ("\\startpipeline\nSELECT 1;", "1:1", "this \\startpipeline is not closed: expected \\endpipeline", ""),
    ("SELECT 1;\n\\endpipeline", "2:1", "found \\endpipeline without \\startpipeline", ""),
    ("\\startpipeline\n\\startpipeline", "2:1", "found \\startpipeline within a pipeline", "on line 1 is still open"),
    ("\\syncpipeline", "1:1", "found \\syncpipeline outside a pipeline", "begins with \\startpipeline"),
    ("\\startpipeline\n\\if 1\n\\endpipeline", "3:1", "expected \\endif, found \\endpipeline", "the \\if on line 2"),
    ("\\if 1\n\\startpipeline\n\\endif", "3:1", "expected \\endpipeline, found \\endif", "the \\startpipeline on line 2"),
    ("\\startpipeline\nSELECT 1 \\gset", "2:10", "within a pipeline", "only after \\endpipeline"),
    ("\\startpipeline\nSELECT 1;\n\\expect rows 1", "3:1", "within a pipeline", "only after \\endpipeline"),
    ("SELECT 1 \\; SELECT 2;\n\\expect rows 1", "2:1", "expected no \\expect for statements combined", "with ;"),
    // Identifiers.
    ("SELECT * FROM :{tabel}", "1:15", "nothing declares the identifier :{tabel}", "did you mean :{table}?"),
    ("SELECT * FROM :{other}", "1:15", "nothing declares the identifier :{other}", "are :{column}, :{table}"),
    ("SELECT * FROM :{table}", "1:15", "nothing sets the variable :table", "\\set table"),
    ("SELECT * FROM :{table", "1:15", "expected a name and } after :{", "is written :{name}"),
    ("SELECT * FROM :{ table }", "1:15", "expected a name and } after :{", "is written :{name}"),
    ("\\set x :{table}", "1:8", "expected a value, found :{", "allowed in statements only"),
    ("\\set t 1\nSELECT * FROM :t", "2:15", "a bound parameter cannot name a table", ":{t}"),
    ("\\set t 1\nINSERT INTO :t VALUES (1)", "2:13", "a bound parameter cannot name a table", ":{t}"),
    ("\\set t 1\nUPDATE :t SET a = 1", "2:8", "a bound parameter cannot name a table", ":{t}"),
    ("\\set t 1\nSELECT 1 FROM a JOIN :t ON TRUE", "2:22", "a bound parameter cannot name a table", ":{t}"),
    ("\\set t 1\nSELECT a FROM tbl_:t", "2:19", "a bound parameter cannot be part of a name", ":{t}"),
    ("SELECT f(1;\nSELECT 2;", "1:9", "this parenthesis is not closed: expected )", "; does not end a statement"),
    ("SELECT (1 \\gset", "1:8", "this parenthesis is not closed", ""),
    // Commands that apply to an answer.
    ("\\gset", "1:1", "expected a statement right before this line", "to the answer to the statement"),
    ("\\set x 1\n\\expect rows 1", "2:1", "expected a statement right before", ""),
    ("SELECT 1;\n\\set x 1\n\\expect rows :x", "3:1", "expected a statement right before", ""),
    ("SELECT 1;\n\\expect", "2:8", "expected rows, value or error", "\\expect rows n"),
    ("SELECT 1;\n\\expect row 1", "2:9", "expected rows, value or error, found row", ""),
    ("SELECT 1;\n\\expect error constrain", "2:15", "expected a class of errors, found constrain", "did you mean constraint?"),
    ("SELECT 1;\n\\expect error", "2:14", "expected a class of errors, found none", "the classes are constraint"),
    ("SELECT 1;\n\\expect error lost connection", "2:15", "found lost connection", "the classes are"),
    ("SELECT 1;\n\\expect rows 1\n\\expect error data", "3:1", "expected no further", "one error, or it has rows"),
    ("SELECT 1;\n\\expect error data\n\\gset", "3:1", "expected no further", ""),
    // Blocks.
    ("\\if 1\nSELECT 1;", "1:1", "this \\if is not closed: expected \\endif", ""),
    ("\\for i in 1..2\n\\if 1\n\\endif\nS;", "1:1", "this \\for is not closed: expected \\endfor", ""),
    ("SELECT 1;\n\\endif", "2:1", "found \\endif without \\if", ""),
    ("\\else", "1:1", "found \\else without \\if", ""),
    ("\\elif 1", "1:1", "found \\elif without \\if", ""),
    ("\\endfor", "1:1", "found \\endfor without \\for", ""),
    ("\\if 1\n\\else\n\\else\n\\endif", "3:1", "expected \\endif, found \\else after \\else", "the \\if is on line 1"),
    ("\\if 1\n\\else\n\\elif 1\n\\endif", "3:1", "found \\elif after \\else", ""),
    ("\n\\if 1\n\\endfor", "3:1", "expected \\endif, found \\endfor", "the \\if on line 2 is still open"),
    ("\\for i in 1..2\n\\endif", "2:1", "expected \\endfor, found \\endif", "the \\for on line 1"),
    ("\\for i in 1..2\n\\else", "2:1", "expected \\endfor, found \\else", ""),
    ("\\if", "1:4", "expected a value", "\\if condition"),
    ("\\for i 1..2", "1:8", "expected in, found 1", "\\for name in from..to"),
    ("\\for i in 1", "1:12", "expected .., found the end of the line", "\\for name in"),
    ("\\for i in 1..", "1:14", "expected a value", ""),
    // Expressions.
    ("\\set x foo", "1:8", "expected a value, found foo", "a variable is written :foo"),
    ("\\set x 1 +", "1:11", "expected a value, found the end of the line", ""),
    ("\\set x (1", "1:10", "expected ), found the end of the line", ""),
    ("\\set x )", "1:8", "expected a value, found )", ""),
    ("\\set x 1 = 1 = 1", "1:14", "expected the end of the comparison, found =", "join them with AND"),
    ("\\set x 1 IS 2", "1:13", "expected NULL, TRUE or FALSE, found 2", ""),
    ("\\set x CASE 1 END", "1:13", "expected WHEN, found 1", ""),
    ("\\set x CASE WHEN 1 THEN 2", "1:26", "expected END, found the end of the line", ""),
    ("\\set x : y", "1:8", "expected the name of a variable after :", ""),
    ("\\set x 'open", "1:8", "this text is not closed on its line", ""),
    ("\\set x \"text\"", "1:8", "found \", which no expression contains", "'...'"),
    ("\\set x @", "1:8", "found @, which no expression contains", ""),
    ("\\set x 9223372036854775808", "1:8", "at most 9223372036854775807", ""),
    ("\\set x 1 - 9223372036854775808", "1:12", "at most 9223372036854775807", ""),
    ("\\set x 99999999999999999999", "1:8", "does not fit into an integer of 64 bits", "99999999999999999999.0"),
    ("\\set x 1e999", "1:8", "1e999 is too large for a double", ""),
    ("\\set x radnom(1, 2)", "1:8", "expected a function, found radnom", "did you mean random?"),
    ("\\set x max(1, 2)", "1:8", "expected a function, found max", "did you mean greatest?"),
    ("\\set x crypt(1)", "1:8", "expected a function, found crypt", "the functions are abs, "),
    ("\\set x random(1)", "1:8", "random expects 2 arguments, found 1", "random(lb, ub)"),
    ("\\set x least()", "1:8", "least expects at least 1 argument, found 0", "least(x [, ...])"),
    ("\\set x abs(1 2)", "1:14", "expected , or ), found 2", ""),
    ("\\set x permute(1)", "1:8", "permute expects 2 or 3 arguments, found 1", "permute(i, size [, seed])"),
    ("\\set x hash()", "1:8", "hash expects 1 or 2 arguments, found 0", "hash(x [, seed])"),
    ("\\set x random_gaussian(1, 9)", "1:8", "random_gaussian expects 3 arguments, found 2", "lb, ub, parameter"),
    ("\\set x radnom_gaussian(1, 9, 3)", "1:8", "found radnom_gaussian", "did you mean random_gaussian?"),
    ("\\set x substring('abc', 1)", "1:8", "expected a function, found substring", "did you mean substr?"),
    ("\\set x 1 == 2", "1:11", "expected a value, found =", ""),
    ("\\set x 2 ** 3", "1:11", "expected a value, found *", ""),
    // Expressions that can never have a value.
    ("\\set x random_gaussian(1, 9, 1.9)", "1:8", "expects a parameter at least 2.0, found 1.9", ""),
    ("\\set x random_zipfian(1, :client_id, 0)", "1:8", "expects a parameter above 0, at most 1000.0, found 0", ""),
    ("\\set x random_exponential(1, 9, 0)", "1:8", "expects a parameter above 0, found 0", ""),
    ("\\set x permute(1, 0, 5)", "1:8", "permute expects a size above 0, found 0", ""),
    ("\\set x text(3, 2)", "1:8", "expected 0 <= min <= max", ""),
    ("\\set x digits(-1)", "1:8", "expected 0 <= n", ""),
    ("\\set x lastname(1000)", "1:8", "expected a number of 0 to 999", ""),
    ("\\set x numeral(4, 2, '01')", "1:8", "fits into 2 digits of base 2", ""),
    ("\\set x numeral(4, 2, '0')", "1:8", "expected an alphabet of at least 2 ASCII characters, found '0'", ""),
    ("\\set x hash_text(1, -1, 'ab', 0)", "1:8", "hash_text expects 0 to", ""),
    ("\\set x normal_quantile(1)", "1:8", "expects a probability between 0 and 1, found 1", ""),
    ("\\set x zipf_quantile(0.5, 0, 1)", "1:8", "zipf_quantile(0.5, 0, 1)", ""),
    ("\\set x nurand(255, 9, 3)", "1:8", "expected 0 <= x <= y", ""),
    ("\\set x format('%d %d', :client_id)", "1:8", "expected 2 values for the format '%d %d', found 1", ""),
    ("\\set x format('%q', 1)", "1:8", "expected %d, %f, %s, %x or %% in the format '%q', found %q", ""),
    ("\\set x format('100%')", "1:8", "in the format '100%', found %", ""),
    ("\\set x date(1e9)", "1:8", "expected a date or time of the years 1 to 9999", ""),
    ("\\set x substr('a', 1, -1)", "1:8", "a number of characters of 0 or more", ""),
    ("\\set x uniform(2, 1)", "1:8", "uniform(2, 1) has an empty range", ""),
    ("\\set x 5 + 1 / 0", "1:14", "division by zero: 1 / 0", ""),
    ("\\set x 9223372036854775807 + 1", "1:28", "integer overflow", ""),
    ("\\set x random(2, 1)", "1:8", "random(2, 1) has an empty range", ""),
    ("\\set x NOT 1", "1:8", "expected TRUE or FALSE, found 1", ""),
    ("\\set x 1 AND TRUE", "1:10", "expected TRUE or FALSE, found 1", ""),
    ("\\set x 'one' + 1", "1:14", "expected a number, found 'one'", ""),
    ("\\set x \\\n 1 + \\\n  foo", "3:3", "expected a value, found foo", ""),
];

#[test]
fn every_mistake_is_reported_with_its_place_and_its_fix() {
    let mut wrong = Vec::new();
    for &(text, place, message, hint) in BAD {
        match try_compile(text) {
            Ok(_) => wrong.push(format!("{text:?} is accepted")),
            Err(error) => {
                let found = error.to_string();
                let is_right = found.starts_with(&format!("test.sql:{place}: "))
                    && error.message.contains(message)
                    && error.hint.as_deref().unwrap_or_default().contains(hint);
                if !is_right {
                    wrong.push(format!(
                        "{text:?}\n  expected {place}: {message} ({hint})\n  found {found} ({:?})",
                        error.hint
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_deeply_nested_expression_is_refused_and_does_not_overflow_the_stack() {
    for (open, close) in [("(", ")"), ("-", ""), ("NOT ", ""), ("abs(", ")"), ("~", "")] {
        let text = format!("\\set x {}1{}", open.repeat(200), close.repeat(200));
        let message = try_compile(&text).unwrap_err().message;
        assert!(message.contains("more than 100 levels deep"), "{message}");
    }
    let text = format!("\\set x 1{}", " + 1".repeat(10_000));
    let message = try_compile(&text).unwrap_err().message;
    assert!(message.contains("more than 1000 words"), "{message}");
}

#[test]
fn an_error_names_the_script_it_is_in() {
    use assay_script::{Options, compile};
    let good = source("good.sql", "\\set a 1\nSELECT :a;");
    let bad = source("bad.sql", "SELECT :a, :b;");
    let error = compile(&[good, bad], &Options::default()).unwrap_err();
    let expected = "bad.sql:1:12: nothing sets the variable :b";
    assert_eq!(error.to_string(), expected);
}
