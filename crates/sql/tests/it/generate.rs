//! Statements with all that they may hold.

use datafusion_sql::sqlparser::ast::{Ident, ObjectName};
use datafusion_sql::sqlparser::tokenizer::Span;
use lance_index_sql::{
    AlterIndexReset, AlterIndexSet, CreateIndex, DropIndex, Explain, IndexMethod, IndexStatement,
    IndexTarget, OptimizeIndex, OptimizeTable, OptionName, OptionValue, RefreshIndex,
    ShowCreateIndex, ShowIndexSegments, ShowIndexes, VacuumTable, WithOption, WithOptions,
};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;

/// Letters of any script, all kinds of quotes, and what ends a token or begins a comment.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_][a-z0-9_]{0,8}",
        "[A-Za-zéß漢]{1,4}",
        "[\"'`\\[\\]\\\\.;() \n\t\\-/*a#@$1]{1,6}",
        any::<String>().prop_filter("a name isn't empty", |s| !s.is_empty()),
        sample(&[
            "select",
            "table",
            "index",
            "INDEX",
            "with",
            "WITH",
            "on",
            "if",
            "from",
            "true",
            "NULL",
            "reset",
            "set",
            "using",
            "\"\"",
            "''",
            "a\"\"b",
            "concurrently",
        ]),
    ]
}

fn sample(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

fn quoted() -> impl Strategy<Value = Ident> {
    (text(), prop::sample::select(&['"', '`'][..]))
        .prop_map(|(text, quote)| Ident::with_quote(quote, text))
}

fn name() -> impl Strategy<Value = Ident> {
    let word = prop_oneof![
        "[a-zA-Z_é漢][a-zA-Z0-9_$#@]{0,8}",
        sample(&["select", "table", "from", "segments", "Refresh", "create"]),
    ];
    let word = word.prop_filter("reserved", |word| {
        !["if", "in", "index", "on", "set", "with", "using", "reset"]
            .contains(&word.to_lowercase().as_str())
    });
    prop_oneof![word.prop_map(Ident::new), quoted()]
}

fn table() -> impl Strategy<Value = ObjectName> {
    vec(name(), 1..=3).prop_map(ObjectName::from)
}

fn column() -> impl Strategy<Value = Vec<Ident>> {
    let word = sample(&["index", "with", "A", "b", "on"]).prop_map(Ident::new);
    vec(prop_oneof![name(), word], 1..4)
}

fn option_names(least: usize) -> impl Strategy<Value = Vec<OptionName>> {
    let taken = ["table", "index", "column", "method", "or_replace", "if_not_exists", "if_exists"];
    let name = text()
        .prop_map(|text| text.to_ascii_lowercase())
        .prop_filter("a part of the statement", move |text| !taken.contains(&text.as_str()));
    btree_set(name, least..4).prop_map(|names| {
        let names = names.iter();
        names.map(|n| OptionName::new(n, Span::empty())).collect()
    })
}

fn value() -> impl Strategy<Value = OptionValue> {
    prop_oneof![
        "[+-]?[0-9]{1,20}".prop_map(OptionValue::Number),
        "[+-]?[0-9]{1,3}\\.[0-9]{1,3}(e-?[0-9])?".prop_map(OptionValue::Number),
        text().prop_map(OptionValue::String),
        Just(OptionValue::String(String::new())),
        any::<bool>().prop_map(OptionValue::Boolean),
        Just(OptionValue::Null),
    ]
}

fn options(least: usize) -> impl Strategy<Value = WithOptions> {
    (option_names(least), vec(value(), 4)).prop_map(|(names, values)| {
        let options = names.into_iter().zip(values);
        let options =
            options.map(|(name, value)| WithOption { name, value, value_span: Span::empty() });
        WithOptions::new(options.collect()).unwrap()
    })
}

fn target() -> impl Strategy<Value = IndexTarget> {
    prop_oneof![name().prop_map(IndexTarget::One), Just(IndexTarget::All)]
}

fn create() -> impl Strategy<Value = CreateIndex> {
    let method = option::of(text().prop_map(|name| IndexMethod::new(name, Span::empty())));
    let flags = (any::<bool>(), any::<bool>());
    (flags, name(), table(), method, column(), options(0)).prop_map(
        |((or_replace, if_not_exists), index, table, method, column, options)| CreateIndex {
            or_replace,
            if_not_exists,
            index,
            table,
            method,
            column,
            options,
        },
    )
}

pub fn statement() -> impl Strategy<Value = IndexStatement> {
    prop_oneof![
        3 => create().prop_map(IndexStatement::CreateIndex),
        1 => (table(), target(), options(0)).prop_map(|(table, target, options)| {
            IndexStatement::RefreshIndex(RefreshIndex { table, target, options })
        }),
        1 => (table(), target(), options(0)).prop_map(|(table, target, options)| {
            IndexStatement::OptimizeIndex(OptimizeIndex { table, target, options })
        }),
        1 => (table(), name(), any::<bool>()).prop_map(|(table, index, if_exists)| {
            IndexStatement::DropIndex(DropIndex { table, index, if_exists })
        }),
        1 => table().prop_map(|table| IndexStatement::ShowIndexes(ShowIndexes { table })),
        1 => (table(), option::of(name())).prop_map(|(table, index)| {
            IndexStatement::ShowIndexSegments(ShowIndexSegments { table, index })
        }),
        1 => (table(), name()).prop_map(|(table, index)| {
            IndexStatement::ShowCreateIndex(ShowCreateIndex { table, index })
        }),
        1 => (table(), name(), options(1)).prop_map(|(table, index, options)| {
            IndexStatement::AlterIndexSet(AlterIndexSet { table, index, options })
        }),
        1 => (table(), name(), option_names(1)).prop_map(|(table, index, options)| {
            IndexStatement::AlterIndexReset(AlterIndexReset { table, index, options })
        }),
        1 => (table(), options(0)).prop_map(|(table, options)| {
            IndexStatement::OptimizeTable(OptimizeTable { table, options })
        }),
        1 => (table(), options(0)).prop_map(|(table, options)| {
            IndexStatement::VacuumTable(VacuumTable { table, options })
        }),
    ]
}

pub fn explain() -> impl Strategy<Value = Explain> {
    let format = option::of(text());
    (any::<bool>(), any::<bool>(), format, statement()).prop_map(
        |(analyze, verbose, format, statement)| Explain { analyze, verbose, format, statement },
    )
}
