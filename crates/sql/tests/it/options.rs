use lance_index_sql::{IndexStatement, OptionName, OptionValue, WithOption, WithOptions, suggest};

use datafusion_sql::sqlparser::tokenizer::Span;

use crate::{error, parse};

fn options(list: &str) -> WithOptions {
    let text = format!("ALTER TABLE t REFRESH INDEX i WITH {list}");
    match parse(&text) {
        IndexStatement::RefreshIndex(refresh) => refresh.options,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_have_the_type_that_was_written() {
    let number = |text: &str| OptionValue::Number(text.to_owned());
    let string = |text: &str| OptionValue::String(text.to_owned());
    for (written, value) in [
        ("1", number("1")),
        ("-1", number("-1")),
        ("- 1", number("-1")),
        ("+1", number("+1")),
        ("1.5", number("1.5")),
        (".5", number(".5")),
        ("1e-3", number("1e-3")),
        ("9999999999999999999999", number("9999999999999999999999")),
        ("8L", number("8L")),
        ("'x'", string("x")),
        ("'7 days'", string("7 days")),
        ("'it''s'", string("it's")),
        ("E'a\\tb'", string("a\tb")),
        ("simple", string("simple")),
        ("Simple", string("Simple")),
        ("\"simple\"", string("simple")),
        ("'true'", string("true")),
        ("\"null\"", string("null")),
        ("true", OptionValue::Boolean(true)),
        ("FALSE", OptionValue::Boolean(false)),
        ("Null", OptionValue::Null),
    ] {
        let options = options(&format!("(a = {written})"));
        assert_eq!(options.get("a").map(|o| &o.value), Some(&value), "{written}");
    }
}

#[test]
fn options_are_in_the_order_written() {
    let options = options("(b = 1, \"A\" = 2, 'c d' = 3)");
    let names: Vec<_> = options.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["b", "a", "c d"]);
    assert_eq!(options.to_string(), "b = 1, a = 2, \"c d\" = 3");
    assert_eq!(options.into_iter().count(), 3);
    assert!(options.get("x").is_none());
}

/// C09: the second one is pointed at.
#[test]
fn a_name_is_given_once() {
    assert_eq!(
        error("ALTER TABLE t REFRESH INDEX i WITH (num_segments = 1, NUM_Segments = 2)"),
        "Option `num_segments` is given more than once at Line: 1, Column: 55"
    );
    assert_eq!(
        error("ALTER TABLE t ALTER INDEX i RESET (a, b, \"A\")"),
        "Option `a` is given more than once at Line: 1, Column: 42"
    );
    let option = |name| WithOption {
        name: OptionName::new(name, Span::empty()),
        value: OptionValue::Null,
        value_span: Span::empty(),
    };
    assert!(WithOptions::new(vec![option("a"), option("b")]).is_ok());
    assert!(WithOptions::new(vec![option("a"), option("A")]).is_err());
}

/// The procedure form of the statement has an argument of that name.
#[test]
fn parts_of_a_statement_are_not_options() {
    assert_eq!(
        error("CREATE INDEX i ON t (c) WITH (Method = 'btree')"),
        "`method` is a part of the statement and not an option at Line: 1, Column: 31"
    );
}

/// C03: the nearest name, if one is near.
#[test]
fn a_misspelt_name_has_a_suggestion() {
    let known = ["merge_factor", "num_segments", "train"];
    assert_eq!(suggest("merge_facter", &known), Some("merge_factor"));
    assert_eq!(suggest("Merge_Fcator", &known), Some("merge_factor"));
    assert_eq!(suggest("trian", &known), Some("train"));
    assert_eq!(suggest("rows_per_range", &known), None);
    assert_eq!(suggest("", &known), None);
    assert_eq!(suggest("x", &[]), None);
}
