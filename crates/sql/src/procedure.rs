//! Statements as calls of the procedures in the schema `lance_index`.

use datafusion_sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, ObjectNamePart, Statement, Value, ValueWithSpan,
};
use datafusion_sql::sqlparser::tokenizer::Span;

use crate::arguments::Arguments;
use crate::names::is_word;
use crate::statement::{
    AlterIndexReset, AlterIndexSet, CreateIndex, DropIndex, IndexStatement, IndexTarget,
    OptimizeIndex, OptimizeTable, RefreshIndex, ShowCreateIndex, ShowIndexSegments, ShowIndexes,
    VacuumTable,
};
use crate::{OptionName, OptionValue, SyntaxError, WithOption, WithOptions, suggest};

const SCHEMA: &str = "lance_index";

const PROCEDURES: [&str; 13] = [
    "create_index",
    "refresh_index",
    "refresh_indexes",
    "optimize_index",
    "optimize_indexes",
    "drop_index",
    "show_indexes",
    "show_index_segments",
    "show_create_index",
    "alter_index_set",
    "alter_index_reset",
    "optimize_table",
    "vacuum_table",
];

/// The statement that a call stands for; `None` if it calls no procedure of ours.
pub(crate) fn from_call(call: &Function) -> Result<Option<IndexStatement>, SyntaxError> {
    let [ObjectNamePart::Identifier(schema), ObjectNamePart::Identifier(procedure)] =
        call.name.0.as_slice()
    else {
        return Ok(None);
    };
    if !schema.value.eq_ignore_ascii_case(SCHEMA) {
        return Ok(None);
    }
    // sqlparser knows no place of a name in single quotes.
    let span = if procedure.span == Span::empty() { schema.span } else { procedure.span };
    let name = procedure.value.to_ascii_lowercase();
    if !PROCEDURES.contains(&name.as_str()) {
        let what = format!("There is no procedure {SCHEMA}.{name}");
        let hint = match suggest(&name, &PROCEDURES) {
            Some(nearest) => format!("did you mean {SCHEMA}.{nearest}?"),
            None => format!("there are: {}", PROCEDURES.join(", ")),
        };
        return Err(SyntaxError::new(what, span).with_hint(hint));
    }
    let mut arguments = Arguments::of(call, format!("{SCHEMA}.{name}"), span)?;
    let statement = read(&name, &mut arguments)?;
    arguments.finish()?;
    Ok(Some(statement))
}

fn read(procedure: &str, arguments: &mut Arguments<'_>) -> Result<IndexStatement, SyntaxError> {
    let table = arguments.table()?;
    let statement = match procedure {
        "create_index" => IndexStatement::CreateIndex(CreateIndex {
            or_replace: arguments.flag("or_replace")?,
            if_not_exists: arguments.flag("if_not_exists")?,
            index: arguments.index()?,
            table,
            method: arguments.method()?,
            column: arguments.column()?,
            options: arguments.options()?,
        }),
        "refresh_index" | "refresh_indexes" => IndexStatement::RefreshIndex(RefreshIndex {
            table,
            target: target(procedure, arguments)?,
            options: arguments.options()?,
        }),
        "optimize_index" | "optimize_indexes" => IndexStatement::OptimizeIndex(OptimizeIndex {
            table,
            target: target(procedure, arguments)?,
            options: arguments.options()?,
        }),
        "drop_index" => IndexStatement::DropIndex(DropIndex {
            table,
            index: arguments.index()?,
            if_exists: arguments.flag("if_exists")?,
        }),
        "show_indexes" => IndexStatement::ShowIndexes(ShowIndexes { table }),
        "show_index_segments" => IndexStatement::ShowIndexSegments(ShowIndexSegments {
            table,
            index: arguments.optional_index()?,
        }),
        "show_create_index" => {
            IndexStatement::ShowCreateIndex(ShowCreateIndex { table, index: arguments.index()? })
        }
        "alter_index_set" => IndexStatement::AlterIndexSet(AlterIndexSet {
            table,
            index: arguments.index()?,
            options: arguments.required_options()?,
        }),
        "alter_index_reset" => IndexStatement::AlterIndexReset(AlterIndexReset {
            table,
            index: arguments.index()?,
            options: arguments.option_names()?,
        }),
        "optimize_table" => {
            IndexStatement::OptimizeTable(OptimizeTable { table, options: arguments.options()? })
        }
        _ => IndexStatement::VacuumTable(VacuumTable { table, options: arguments.options()? }),
    };
    Ok(statement)
}

fn target(procedure: &str, arguments: &mut Arguments<'_>) -> Result<IndexTarget, SyntaxError> {
    if procedure.ends_with("_indexes") {
        Ok(IndexTarget::All)
    } else {
        arguments.index().map(IndexTarget::One)
    }
}

/// The call that stands for a statement.
pub(crate) fn to_call(statement: &IndexStatement) -> Statement {
    let call = match statement {
        IndexStatement::CreateIndex(create) => Call::new("create_index", &create.table)
            .index(&create.index)
            .method(create)
            .named("column", path(&create.column))
            .flag("or_replace", create.or_replace)
            .flag("if_not_exists", create.if_not_exists)
            .options(&create.options),
        IndexStatement::RefreshIndex(refresh) => match &refresh.target {
            IndexTarget::One(index) => Call::new("refresh_index", &refresh.table).index(index),
            IndexTarget::All => Call::new("refresh_indexes", &refresh.table),
        }
        .options(&refresh.options),
        IndexStatement::OptimizeIndex(optimize) => match &optimize.target {
            IndexTarget::One(index) => Call::new("optimize_index", &optimize.table).index(index),
            IndexTarget::All => Call::new("optimize_indexes", &optimize.table),
        }
        .options(&optimize.options),
        IndexStatement::DropIndex(drop) => Call::new("drop_index", &drop.table)
            .index(&drop.index)
            .flag("if_exists", drop.if_exists),
        IndexStatement::ShowIndexes(show) => Call::new("show_indexes", &show.table),
        IndexStatement::ShowIndexSegments(show) => {
            let call = Call::new("show_index_segments", &show.table);
            match &show.index {
                Some(index) => call.index(index),
                None => call,
            }
        }
        IndexStatement::ShowCreateIndex(show) => {
            Call::new("show_create_index", &show.table).index(&show.index)
        }
        IndexStatement::AlterIndexSet(alter) => {
            Call::new("alter_index_set", &alter.table).index(&alter.index).options(&alter.options)
        }
        IndexStatement::AlterIndexReset(alter) => Call::new("alter_index_reset", &alter.table)
            .index(&alter.index)
            .option_names(&alter.options),
        IndexStatement::OptimizeTable(optimize) => {
            Call::new("optimize_table", &optimize.table).options(&optimize.options)
        }
        IndexStatement::VacuumTable(vacuum) => {
            Call::new("vacuum_table", &vacuum.table).options(&vacuum.options)
        }
    };
    call.into_statement()
}

/// A call with arguments by name.
struct Call {
    procedure: &'static str,
    arguments: Vec<FunctionArg>,
}

impl Call {
    fn new(procedure: &'static str, table: &ObjectName) -> Self {
        let parts: Vec<Ident> =
            table.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
        let call = Self { procedure, arguments: Vec::new() };
        call.named("table", path(&parts))
    }

    fn argument(mut self, name: Ident, value: Expr) -> Self {
        self.arguments.push(FunctionArg::Named {
            name,
            arg: FunctionArgExpr::Expr(value),
            operator: FunctionArgOperator::RightArrow,
        });
        self
    }

    fn named(self, name: &str, value: Expr) -> Self {
        self.argument(Ident::new(name), value)
    }

    fn index(self, index: &Ident) -> Self {
        self.named("index", Expr::Identifier(index.clone()))
    }

    fn method(self, create: &CreateIndex) -> Self {
        match &create.method {
            Some(method) => {
                let name = Value::SingleQuotedString(method.as_written().to_owned());
                self.named("method", literal(name, method.span()))
            }
            None => self,
        }
    }

    fn flag(self, name: &str, is_set: bool) -> Self {
        if is_set { self.named(name, literal(Value::Boolean(true), Span::empty())) } else { self }
    }

    fn options(self, options: &WithOptions) -> Self {
        options.iter().fold(self, |call, option| {
            call.argument(option_ident(&option.name), option_literal(option))
        })
    }

    fn option_names(mut self, names: &[OptionName]) -> Self {
        self.arguments.extend(names.iter().map(|name| {
            let name = Expr::Identifier(option_ident(name));
            FunctionArg::Unnamed(FunctionArgExpr::Expr(name))
        }));
        self
    }

    fn into_statement(self) -> Statement {
        Statement::Call(Function {
            name: vec![Ident::new(SCHEMA), Ident::new(self.procedure)].into(),
            uses_odbc_syntax: false,
            parameters: FunctionArguments::None,
            args: FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment: None,
                args: self.arguments,
                clauses: Vec::new(),
            }),
            filter: None,
            null_treatment: None,
            over: None,
            within_group: Vec::new(),
        })
    }
}

fn path(parts: &[Ident]) -> Expr {
    match parts {
        [ident] => Expr::Identifier(ident.clone()),
        _ => Expr::CompoundIdentifier(parts.to_vec()),
    }
}

fn option_ident(name: &OptionName) -> Ident {
    let mut ident = Ident::new(name.as_str());
    ident.span = name.span();
    ident.quote_style = (!is_word(name.as_str())).then_some('"');
    ident
}

fn option_literal(option: &WithOption) -> Expr {
    let value = match &option.value {
        // The sign too, so that the literal covers all of it.
        OptionValue::Number(number) => Value::Number(number.clone(), false),
        OptionValue::String(text) => Value::SingleQuotedString(text.clone()),
        OptionValue::Boolean(value) => Value::Boolean(*value),
        OptionValue::Null => Value::Null,
    };
    literal(value, option.value_span)
}

fn literal(value: Value, span: Span) -> Expr {
    Expr::Value(ValueWithSpan { value, span })
}
