use datafusion_sql::sqlparser::ast::Ident;
use datafusion_sql::sqlparser::dialect::{GenericDialect, MySqlDialect};
use datafusion_sql::sqlparser::tokenizer::Span;
use lance_index_sql::{OptionValue, WithOptions, options_in, path_in};

use crate::{IndexStatement, parse};

#[test]
fn names_and_paths() {
    let plain = Ident::new;
    let exact = |name: &str| Ident::with_quote('"', name);
    for (text, path) in [
        ("t", vec![plain("t")]),
        (" t\n", vec![plain("t")]),
        ("Camel", vec![plain("Camel")]),
        ("\"My t\"", vec![exact("My t")]),
        ("\"a\"\"b\"", vec![exact("a\"b")]),
        ("`My t`", vec![Ident::with_quote('`', "My t")]),
        ("'My t'", vec![exact("My t")]),
        ("index", vec![plain("index")]),
        ("größe", vec![plain("größe")]),
        ("a.b", vec![plain("a"), plain("b")]),
        ("a . \"b.c\"", vec![plain("a"), exact("b.c")]),
        // No identifiers.
        ("my-index", vec![exact("my-index")]),
        ("my--index", vec![exact("my--index")]),
        ("my/**/index", vec![exact("my/**/index")]),
        ("my index", vec![exact("my index")]),
        ("a.", vec![exact("a.")]),
        (".a", vec![exact(".a")]),
        ("a..b", vec![exact("a..b")]),
        ("a.b-c", vec![exact("a.b-c")]),
        ("\"open", vec![exact("\"open")]),
        ("1", vec![exact("1")]),
        ("", vec![exact("")]),
        ("\"", vec![exact("\"")]),
    ] {
        assert_eq!(path_in(text, &GenericDialect), path, "{text}");
    }
}

#[test]
fn nothing_has_a_place() {
    for ident in path_in("a.\"b\"", &GenericDialect) {
        assert_eq!(ident.span, Span::empty());
    }
    for option in options_in("a = 1, b = x", &GenericDialect).unwrap() {
        assert_eq!((option.name.span(), option.value_span), (Span::empty(), Span::empty()));
    }
}

#[test]
fn options_are_those_of_with() {
    for list in ["num_segments=8", "a = 'x, y', B=true,c = -1.5", "\"my option\" = null"] {
        let options = WithOptions::new(options_in(list, &GenericDialect).unwrap()).unwrap();
        let statement = format!("ALTER TABLE t REFRESH INDEX i WITH ({list})");
        let IndexStatement::RefreshIndex(refresh) = parse(&statement) else { panic!("{list}") };
        assert_eq!(options, refresh.options);
    }
    let options = options_in("language=\"English\"", &MySqlDialect {}).unwrap();
    assert_eq!(options[0].value, OptionValue::String("English".to_string()));
}

#[test]
fn what_is_no_list_of_options() {
    for (text, error) in [
        ("", "Expected: the name of an option, found: EOF"),
        ("a", "Expected: '=', found: EOF"),
        ("a=", "Expected: a number, a string, a word, TRUE, FALSE or NULL, found: EOF"),
        ("a=1,", "Expected: the name of an option, found: EOF"),
        ("a=1 b=2", "Expected: ',' or the end, found: b"),
        ("a=1)", "Expected: ',' or the end, found: )"),
        ("a=1; b=2", "Expected: ',' or the end, found: ;"),
        ("a='x", "Unterminated string literal"),
    ] {
        assert_eq!(options_in(text, &GenericDialect).unwrap_err().to_string(), error, "{text}");
    }
}
