//! sqlparser's own nodes, and its expressions where the grammar has names, columns and values.

use datafusion_sql::sqlparser::ast::{
    self, BinaryOperator, Expr, Ident, IndexColumn, IndexType, ObjectName, ObjectType, Spanned,
    Statement, UnaryOperator, Value,
};
use datafusion_sql::sqlparser::tokenizer::Span;

use crate::grammar::{DROP_INDEX_SYNTAX, unsupported};
use crate::statement::{CreateIndex, DropIndex, IndexMethod, IndexStatement};
use crate::{OptionName, OptionValue, SyntaxError, WithOption, WithOptions};

pub(crate) fn create_index(create: &ast::CreateIndex) -> Result<IndexStatement, SyntaxError> {
    // All fields by name: a clause that a later sqlparser adds must not be ignored.
    let ast::CreateIndex {
        name,
        table_name,
        using,
        columns,
        unique,
        concurrently,
        if_not_exists,
        include,
        nulls_distinct,
        with,
        predicate,
        index_options,
        alter_options,
    } = create;
    let place = table_name.span();
    let foreign = [
        ("UNIQUE", *unique, place),
        ("CONCURRENTLY", *concurrently, place),
        ("INCLUDE", !include.is_empty(), place),
        ("NULLS DISTINCT", nulls_distinct.is_some(), place),
        ("WHERE", predicate.is_some(), span_of(predicate)),
        (
            "a clause after the options",
            !(index_options.is_empty() && alter_options.is_empty()),
            place,
        ),
    ];
    if let Some((clause, _, span)) = foreign.into_iter().find(|(_, is_there, _)| *is_there) {
        return Err(unsupported(clause, span));
    }
    let Some(name) = name else {
        let what = "CREATE INDEX needs the name of an index";
        return Err(SyntaxError::new(what, place).with_hint("write `CREATE INDEX i ON t ...`"));
    };
    let options = with.iter().map(option).collect::<Result<_, _>>()?;
    Ok(IndexStatement::CreateIndex(CreateIndex {
        or_replace: false,
        if_not_exists: *if_not_exists,
        index: index_name(name)?,
        table: checked_table(table_name)?,
        method: using.as_ref().map(method),
        column: only_column(columns, place)?,
        options: WithOptions::new(options)?,
    }))
}

fn span_of<'a, T: Spanned + 'a>(nodes: impl IntoIterator<Item = &'a T>) -> Span {
    Span::union_iter(nodes.into_iter().map(Spanned::span))
}

fn only_column(columns: &[IndexColumn], place: Span) -> Result<Vec<Ident>, SyntaxError> {
    let [column] = columns else {
        let span = columns.get(1).map_or(place, |second| second.column.span());
        let what = "An index of a Lance table has one column";
        return Err(SyntaxError::new(what, span).with_hint("create one index for each"));
    };
    let order = &column.column;
    let is_ordered = order.options.asc.is_some() || order.options.nulls_first.is_some();
    if is_ordered || order.with_fill.is_some() {
        return Err(unsupported("an order of the column", order.span()));
    }
    if let Some(class) = &column.operator_class {
        return Err(unsupported("an operator class", class.span()));
    }
    path(&order.expr).ok_or_else(|| unsupported("an expression", order.expr.span()))
}

fn method(using: &IndexType) -> IndexMethod {
    match using {
        IndexType::Custom(ident) => IndexMethod::new(&ident.value, ident.span),
        keyword => IndexMethod::new(keyword.to_string(), Span::empty()),
    }
}

/// `None` if a `DROP` is of something else.
pub(crate) fn drop_index(drop: &Statement) -> Result<Option<IndexStatement>, SyntaxError> {
    let Statement::Drop {
        object_type: ObjectType::Index,
        if_exists,
        names,
        cascade,
        restrict,
        purge,
        temporary,
        table,
    } = drop
    else {
        return Ok(None);
    };
    let ([name], Some(table)) = (names.as_slice(), table) else {
        let what = "DROP INDEX needs the name of one index and of its table";
        return Err(SyntaxError::new(what, span_of(names)).with_hint(DROP_INDEX_SYNTAX));
    };
    if *cascade || *restrict || *purge || *temporary {
        let what = "DROP INDEX doesn't support CASCADE, RESTRICT, PURGE or TEMPORARY";
        return Err(SyntaxError::new(what, name.span()).with_hint(DROP_INDEX_SYNTAX));
    }
    Ok(Some(IndexStatement::DropIndex(DropIndex {
        table: checked_table(table)?,
        index: index_name(name)?,
        if_exists: *if_exists,
    })))
}

fn index_name(name: &ObjectName) -> Result<Ident, SyntaxError> {
    match name.0.as_slice() {
        [part] if let Some(ident) = part.as_ident() => Ok(ident.clone()),
        _ => {
            let what = format!("`{name}` isn't the name of an index, which has one part");
            Err(SyntaxError::new(what, name.span()))
        }
    }
}

fn checked_table(name: &ObjectName) -> Result<ObjectName, SyntaxError> {
    let is_name = (1..=3).contains(&name.0.len()) && name.0.iter().all(|p| p.as_ident().is_some());
    if is_name {
        Ok(name.clone())
    } else {
        let what = format!("`{name}` isn't the name of a table, which has one to three parts");
        Err(SyntaxError::new(what, name.span()))
    }
}

/// `name = value`, which sqlparser reads as a comparison.
fn option(expr: &Expr) -> Result<WithOption, SyntaxError> {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = expr else {
        let what = format!("Expected: option = value, found: {expr}");
        return Err(SyntaxError::new(what, expr.span()));
    };
    let Some(name) = single_name(left) else {
        let what = format!("Expected: the name of an option, found: {left}");
        return Err(SyntaxError::new(what, left.span()));
    };
    Ok(WithOption {
        name: OptionName::new(&name.value, name.span),
        value: option_value(right)?,
        value_span: right.span(),
    })
}

pub(crate) fn option_value(expr: &Expr) -> Result<OptionValue, SyntaxError> {
    let value = match expr {
        Expr::Identifier(word) if word.quote_style.is_none() => {
            Some(OptionValue::from_word(&word.value))
        }
        Expr::Identifier(word) => Some(OptionValue::String(word.value.clone())),
        Expr::Value(literal) => literal_value(&literal.value),
        Expr::UnaryOp { op, expr } => signed_number(*op, expr),
        _ => None,
    };
    value.ok_or_else(|| {
        let what =
            format!("Expected: a number, a string, a word, TRUE, FALSE or NULL, found: {expr}");
        SyntaxError::new(what, expr.span())
    })
}

fn literal_value(value: &Value) -> Option<OptionValue> {
    match value {
        Value::Number(digits, long) => {
            let suffix = if *long { "L" } else { "" };
            Some(OptionValue::Number(format!("{digits}{suffix}")))
        }
        Value::Boolean(value) => Some(OptionValue::Boolean(*value)),
        Value::Null => Some(OptionValue::Null),
        Value::SingleQuotedString(text)
        | Value::DoubleQuotedString(text)
        | Value::EscapedStringLiteral(text) => Some(OptionValue::String(text.clone())),
        _ => None,
    }
}

fn signed_number(op: UnaryOperator, operand: &Expr) -> Option<OptionValue> {
    let sign = match op {
        UnaryOperator::Minus => '-',
        UnaryOperator::Plus => '+',
        _ => return None,
    };
    match operand {
        Expr::Value(literal) => match literal_value(&literal.value)? {
            OptionValue::Number(digits) => Some(OptionValue::Number(format!("{sign}{digits}"))),
            _ => None,
        },
        _ => None,
    }
}

/// The parts of a dotted name. A string is a quoted name of one part.
pub(crate) fn path(expr: &Expr) -> Option<Vec<Ident>> {
    match expr {
        Expr::Identifier(ident) => Some(vec![ident.clone()]),
        Expr::CompoundIdentifier(parts) => Some(parts.clone()),
        Expr::Value(literal) => match &literal.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => {
                Some(vec![Ident::with_quote_and_span('"', literal.span, text)])
            }
            _ => None,
        },
        _ => None,
    }
}

/// A name of one part.
pub(crate) fn single_name(expr: &Expr) -> Option<Ident> {
    match path(expr)?.as_slice() {
        [ident] => Some(ident.clone()),
        _ => None,
    }
}
