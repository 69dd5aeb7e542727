use datafusion_sql::sqlparser::ast::{Ident, ObjectName};
use datafusion_sql::sqlparser::tokenizer::{Location, Span};
use lance_index_sql::{CreateIndex, IndexMethod, IndexStatement, IndexTarget, WithOptions};

use crate::parse;

/// Every statement, in all spellings, and what it is printed as.
const TABLE: &[(&str, &[&str])] = &[
    (
        "ALTER TABLE t CREATE INDEX i (a)",
        &[
            "CREATE INDEX i ON t (a)",
            "create index i on t(a);",
            "ALTER TABLE t CREATE INDEX i (a)",
            "alter table t create index i(a)",
        ],
    ),
    (
        "ALTER TABLE c.s.t CREATE OR REPLACE INDEX IF NOT EXISTS i USING zonemap (a.b) \
         WITH (rows_per_zone = 2048, train = false)",
        &[
            "CREATE OR REPLACE INDEX IF NOT EXISTS i ON c.s.t USING zonemap (a.b) \
             WITH (rows_per_zone = 2048, train = false)",
            "create Or Replace Index if Not exists i on c.s.t using zonemap(a . b) \
             with(ROWS_PER_ZONE=2048,Train=FALSE)",
            "ALTER TABLE c.s.t CREATE OR REPLACE INDEX IF NOT EXISTS i USING zonemap (a.b) \
             WITH (\"Rows_per_zone\" = 2048, 'TRAIN' = False)",
        ],
    ),
    ("ALTER TABLE t REFRESH INDEX i", &["alter Table t\nrefresh /* now */ index i -- done\n"]),
    (
        "ALTER TABLE t REFRESH INDEXES WITH (num_segments = 8)",
        &["ALTER TABLE t refresh indexes WITH (NUM_SEGMENTS = 8)"],
    ),
    (
        "ALTER TABLE s.t OPTIMIZE INDEX i WITH (merge_factor = 4)",
        &["ALTER TABLE s.t Optimize Index i WITH (merge_factor = 4)"],
    ),
    ("ALTER TABLE t OPTIMIZE INDEXES", &["ALTER TABLE t OPTIMIZE INDEXES"]),
    ("ALTER TABLE t DROP INDEX i", &["DROP INDEX i ON t", "alter table t drop index i"]),
    (
        "ALTER TABLE s.t DROP INDEX IF EXISTS i",
        &["DROP INDEX IF EXISTS i ON s.t", "ALTER TABLE s.t DROP INDEX if exists i"],
    ),
    (
        "SHOW INDEXES FROM t",
        &["SHOW INDEX FROM t", "SHOW INDEX IN t", "SHOW INDEXES FROM t", "show indexes in t"],
    ),
    (
        "SHOW INDEX SEGMENTS FROM s.t",
        &["SHOW INDEX SEGMENTS FROM s.t", "show index segments in s.t"],
    ),
    ("SHOW INDEX SEGMENTS FROM t INDEX i", &["SHOW INDEX SEGMENTS IN t INDEX i"]),
    ("SHOW CREATE INDEX i ON t", &["show create index i on t"]),
    (
        "ALTER TABLE t ALTER INDEX i SET (merge_factor = 4, target_rows_per_segment = 1000)",
        &["alter table t alter index i set (Merge_Factor=4, target_rows_per_segment=1000)"],
    ),
    (
        "ALTER TABLE t ALTER INDEX i RESET (merge_factor, target_rows_per_segment)",
        &["ALTER TABLE t ALTER INDEX i reset (MERGE_FACTOR, \"target_rows_per_segment\")"],
    ),
    (
        "OPTIMIZE TABLE t WITH (target_rows_per_fragment = 1000)",
        &["optimize table t with (target_rows_per_fragment = 1000)"],
    ),
    ("OPTIMIZE TABLE c.s.t", &["OPTIMIZE TABLE c.s.t"]),
    (
        "VACUUM TABLE t WITH (older_than = '7 days', delete_unverified = false)",
        &["vacuum table t with (older_than = '7 days', delete_unverified = FALSE)"],
    ),
    ("VACUUM TABLE t", &["VACUUM TABLE t"]),
];

#[test]
fn all_spellings_of_a_statement_are_equal() {
    for (printed, spellings) in TABLE {
        let statement = parse(printed);
        assert_eq!(statement.to_string(), *printed);
        for spelling in *spellings {
            assert_eq!(parse(spelling), statement, "{spelling}");
        }
    }
}

/// A caller finds the parts of a statement without knowing the grammar.
#[test]
fn parts_of_a_statement() {
    let statement = parse("CREATE INDEX i ON s.\"T\" USING BTree (a.\"B c\") WITH (zone_size = 1)");
    let IndexStatement::CreateIndex(create) = statement else {
        panic!("{statement:?}");
    };
    let CreateIndex { or_replace, if_not_exists, index, table, method, column, options } = create;
    assert!(!or_replace && !if_not_exists);
    assert_eq!(index, Ident::new("i"));
    assert_eq!(table, ObjectName::from(vec![Ident::new("s"), Ident::with_quote('"', "T")]));
    assert_eq!(method.map(|m| m.to_lowercase()).as_deref(), Some("btree"));
    assert_eq!(column, [Ident::new("a"), Ident::with_quote('"', "B c")]);
    assert_eq!(options.len(), 1);

    let statement = parse("ALTER TABLE t REFRESH INDEX i");
    assert_eq!(*statement.table(), ObjectName::from(vec![Ident::new("t")]));
    let IndexStatement::RefreshIndex(refresh) = statement else {
        panic!("{statement:?}");
    };
    assert_eq!(refresh.target, IndexTarget::One(Ident::new("i")));
    assert_eq!(refresh.options, WithOptions::default());
}

/// `a.b` is the leaf b of a, `"a.b"` is a column of that name.
#[test]
fn a_column_is_a_path() {
    let column = |text: &str| {
        let text = format!("CREATE INDEX i ON t ({text})");
        match parse(&text) {
            IndexStatement::CreateIndex(create) => create.column,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(column("a.b"), [Ident::new("a"), Ident::new("b")]);
    assert_eq!(column("\"a.b\""), [Ident::with_quote('"', "a.b")]);
    assert_eq!(column("entityId"), [Ident::new("entityId")]);
    assert_eq!(column("`x`"), [Ident::with_quote('`', "x")]);
    // No word of the grammar can be here.
    assert_eq!(column("index.with"), [Ident::new("index"), Ident::new("with")]);
}

/// C05, as far as the text goes: what a method means is decided elsewhere.
#[test]
fn a_method_is_what_was_written() {
    for (using, written) in [
        ("'BTree'", "BTree"),
        ("BTREE", "BTREE"),
        ("btree", "btree"),
        ("\"btree\"", "btree"),
        ("Hash", "Hash"),
        ("'a ''method'", "a 'method"),
    ] {
        for text in [
            format!("CREATE INDEX i ON t USING {using} (c)"),
            format!("ALTER TABLE t CREATE INDEX i USING {using} (c)"),
        ] {
            let IndexStatement::CreateIndex(create) = parse(&text) else {
                panic!("{text}");
            };
            let method = create.method.unwrap();
            assert_eq!(method.as_written(), written, "{text}");
            assert_eq!(method.to_lowercase(), written.to_lowercase(), "{text}");
            assert_eq!(method, IndexMethod::new(written, Span::empty()));
            let column = u64::try_from(text.find(using).unwrap()).unwrap() + 1;
            assert_eq!(method.span().start, Location::new(1, column), "{text}");
        }
    }
}

/// Quoted, a word of the grammar is a name as any other.
#[test]
fn words_of_the_grammar_as_names() {
    let statement = parse("ALTER TABLE \"index\" REFRESH INDEX \"with\"");
    assert_eq!(statement.to_string(), "ALTER TABLE \"index\" REFRESH INDEX \"with\"");
    // These are never in the way.
    for word in ["table", "refresh", "segments", "select", "from", "create"] {
        let text = format!("ALTER TABLE {word} REFRESH INDEX {word}");
        assert_eq!(parse(&text).to_string(), text);
    }
}

#[test]
fn places_are_kept_and_do_not_matter() {
    let text = "ALTER TABLE t\n  REFRESH INDEX i WITH (num_segments = -8)";
    let IndexStatement::RefreshIndex(refresh) = parse(text) else {
        panic!("{text}");
    };
    let IndexTarget::One(index) = &refresh.target else {
        panic!("{text}");
    };
    let span = |line, from, to| Span::new(Location::new(line, from), Location::new(line, to));
    assert_eq!(index.span, span(2, 17, 18));
    let option = refresh.options.get("Num_Segments").unwrap();
    assert_eq!(option.name.span(), span(2, 25, 37));
    assert_eq!(option.value_span, span(2, 40, 42));

    let elsewhere = parse("ALTER TABLE t REFRESH INDEX i WITH (num_segments = -8)");
    assert_eq!(elsewhere, IndexStatement::RefreshIndex(refresh));
}

/// A statement that wasn't read from a text prints in a form that can be.
#[test]
fn names_are_quoted_where_needed() {
    let create = CreateIndex {
        or_replace: false,
        if_not_exists: false,
        index: Ident::new("My Index"),
        table: vec![Ident::new("if"), Ident::with_quote('"', "a\"\"b")].into(),
        method: Some(IndexMethod::new("with", Span::empty())),
        column: vec![Ident::new("my-column"), Ident::new("index")],
        options: WithOptions::default(),
    };
    let text = IndexStatement::CreateIndex(create).to_string();
    assert_eq!(
        text,
        "ALTER TABLE \"if\".\"a\"\"\"\"b\" CREATE INDEX \"my index\" USING 'with' \
         (\"my-column\".index)"
    );
    assert_eq!(parse(&text).to_string(), text);
}
