use datafusion_sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, Spanned, Value,
};
use datafusion_sql::sqlparser::tokenizer::Span;

use crate::from_ast::{option_value, path, single_name};
use crate::options::check_names;
use crate::statement::IndexMethod;
use crate::{OptionName, SyntaxError, WithOption, WithOptions};

/// The arguments of a call that aren't read yet.
pub(crate) struct Arguments<'a> {
    procedure: String,
    /// Where the procedure is named, for what is missing.
    span: Span,
    named: Vec<(&'a Ident, &'a Expr)>,
    unnamed: Vec<&'a Expr>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn of(
        call: &'a Function,
        procedure: String,
        span: Span,
    ) -> Result<Self, SyntaxError> {
        let mut arguments = Self { procedure, span, named: Vec::new(), unnamed: Vec::new() };
        for argument in argument_list(call).ok_or_else(|| arguments.not_plain(span))? {
            let (name, value) = match argument {
                FunctionArg::Named { name, arg, .. }
                | FunctionArg::ExprNamed { name: Expr::Identifier(name), arg, .. } => {
                    (Some(name), arg)
                }
                FunctionArg::Unnamed(arg) => (None, arg),
                FunctionArg::ExprNamed { name, .. } => {
                    return Err(arguments.not_plain(name.span()));
                }
            };
            let FunctionArgExpr::Expr(value) = value else {
                return Err(arguments.not_plain(span));
            };
            match name {
                Some(name) => arguments.push(name, value)?,
                None => arguments.unnamed.push(value),
            }
        }
        Ok(arguments)
    }

    fn push(&mut self, name: &'a Ident, value: &'a Expr) -> Result<(), SyntaxError> {
        if self.position(&name.value).is_some() {
            let what = format!("Argument `{}` is given more than once", name.value);
            return Err(SyntaxError::new(what, name.span));
        }
        self.named.push((name, value));
        Ok(())
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.named.iter().position(|(known, _)| known.value.eq_ignore_ascii_case(name))
    }

    fn take(&mut self, name: &str) -> Option<&'a Expr> {
        let position = self.position(name)?;
        Some(self.named.remove(position).1)
    }

    fn required(&mut self, name: &str) -> Result<&'a Expr, SyntaxError> {
        self.take(name).ok_or_else(|| {
            let what = format!("{} needs the argument `{name}`", self.procedure);
            SyntaxError::new(what, self.span)
        })
    }

    pub(crate) fn table(&mut self) -> Result<ObjectName, SyntaxError> {
        let value = self.required("table")?;
        match path(value) {
            Some(parts) if (1..=3).contains(&parts.len()) => Ok(parts.into()),
            _ => Err(wrong("table", "the name of a table", value)),
        }
    }

    pub(crate) fn index(&mut self) -> Result<Ident, SyntaxError> {
        let value = self.required("index")?;
        single_name(value).ok_or_else(|| wrong("index", "the name of an index", value))
    }

    pub(crate) fn optional_index(&mut self) -> Result<Option<Ident>, SyntaxError> {
        match self.position("index") {
            Some(_) => self.index().map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn column(&mut self) -> Result<Vec<Ident>, SyntaxError> {
        let value = self.required("column")?;
        path(value).ok_or_else(|| wrong("column", "the name of a column", value))
    }

    pub(crate) fn method(&mut self) -> Result<Option<IndexMethod>, SyntaxError> {
        let Some(value) = self.take("method") else {
            return Ok(None);
        };
        match single_name(value) {
            Some(name) => Ok(Some(IndexMethod::new(name.value, name.span))),
            None => Err(wrong("method", "an index method", value)),
        }
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, SyntaxError> {
        match self.take(name) {
            None => Ok(false),
            Some(Expr::Value(literal)) if let Value::Boolean(value) = literal.value => Ok(value),
            Some(other) => Err(wrong(name, "TRUE or FALSE", other)),
        }
    }

    /// All that is left by name.
    pub(crate) fn options(&mut self) -> Result<WithOptions, SyntaxError> {
        let options = self.named.drain(..).map(|(name, value)| {
            Ok(WithOption {
                name: OptionName::new(&name.value, name.span),
                value: option_value(value)?,
                value_span: value.span(),
            })
        });
        WithOptions::new(options.collect::<Result<_, _>>()?)
    }

    pub(crate) fn required_options(&mut self) -> Result<WithOptions, SyntaxError> {
        if self.named.is_empty() {
            let what = format!("{} needs an option: `option => value`", self.procedure);
            return Err(SyntaxError::new(what, self.span));
        }
        self.options()
    }

    /// All that is left without a name: options to forget.
    pub(crate) fn option_names(&mut self) -> Result<Vec<OptionName>, SyntaxError> {
        if self.unnamed.is_empty() {
            let what = format!("{} needs the name of an option", self.procedure);
            return Err(SyntaxError::new(what, self.span));
        }
        let names = self.unnamed.drain(..).map(|value| match single_name(value) {
            Some(name) => Ok(OptionName::new(&name.value, name.span)),
            None => {
                let what = format!("Expected: the name of an option, found: {value}");
                Err(SyntaxError::new(what, value.span()))
            }
        });
        let names = names.collect::<Result<Vec<_>, _>>()?;
        check_names(&names)?;
        Ok(names)
    }

    /// Fails if an argument is left.
    pub(crate) fn finish(self) -> Result<(), SyntaxError> {
        if let Some((name, _)) = self.named.first() {
            let what = format!("{} has no argument `{}`", self.procedure, name.value);
            return Err(SyntaxError::new(what, name.span));
        }
        match self.unnamed.first() {
            Some(value) => Err(self.not_plain(value.span())),
            None => Ok(()),
        }
    }

    fn not_plain(&self, span: Span) -> SyntaxError {
        let what = format!("{} takes arguments by name", self.procedure);
        SyntaxError::new(what, span).with_hint("write `name => value`")
    }
}

/// `None` if the call is more than a name and a list, as a window or an aggregate function is.
fn argument_list(call: &Function) -> Option<&[FunctionArg]> {
    let Function {
        name: _,
        uses_odbc_syntax: _,
        parameters: FunctionArguments::None,
        args,
        filter: None,
        null_treatment: None,
        over: None,
        within_group,
    } = call
    else {
        return None;
    };
    if !within_group.is_empty() {
        return None;
    }
    match args {
        FunctionArguments::None => Some(&[]),
        FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses,
        }) if clauses.is_empty() => Some(args),
        _ => None,
    }
}

fn wrong(argument: &str, expected: &str, found: &Expr) -> SyntaxError {
    let what = format!("Argument `{argument}`: expected {expected}, found: {found}");
    SyntaxError::new(what, found.span())
}
