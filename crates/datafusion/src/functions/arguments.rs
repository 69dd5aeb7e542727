//! The arguments of a table function: strings that hold names and options as SQL has them.

use std::{collections::VecDeque, fmt};

use datafusion::{
    catalog::TableFunctionArgs,
    common::ScalarValue,
    logical_expr::Expr,
    sql::sqlparser::{
        ast::{Ident, ObjectName},
        dialect::{Dialect, GenericDialect, dialect_from_str},
        tokenizer::Span,
    },
};
use lance_index_sql::{
    IndexMethod, OptionName, OptionValue, WithOption, WithOptions, options_in, path_in,
};

use crate::error::{Error, Result};

/// What a table function is called, and how a call of it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signature {
    pub name: &'static str,
    pub usage: &'static str,
}

impl Signature {
    /// A call that isn't one of this function's.
    pub(super) fn wrong(&self, what: impl fmt::Display) -> Error {
        Error::invalid(format!("{}: {what}; write {}", self.name, self.usage))
    }
}

/// The arguments of a call that aren't read yet.
pub(super) struct Arguments {
    signature: Signature,
    dialect: Box<dyn Dialect>,
    left: VecDeque<String>,
    read: usize,
}

impl Arguments {
    pub(super) fn of(signature: Signature, arguments: &TableFunctionArgs<'_, '_>) -> Result<Self> {
        let options = arguments.session().config_options();
        let dialect = dialect_from_str(options.sql_parser.dialect)
            .unwrap_or_else(|| Box::new(GenericDialect));
        let texts = (1..).zip(arguments.exprs()).map(|(at, argument)| match argument {
            Expr::Literal(value, _) => match text(value) {
                Some(text) => Ok(text.to_string()),
                None => Err(signature.wrong(format!("argument {at} is {value} and not a string"))),
            },
            other => Err(signature.wrong(format!("argument {at}, {other}, is not a string"))),
        });
        let left = texts.collect::<Result<_>>()?;
        Ok(Self { signature, dialect, left, read: 0 })
    }

    /// The call as it is written, before any argument is read.
    pub(super) fn call(&self) -> String {
        let texts = self.left.iter().map(|text| format!("'{}'", text.replace('\'', "''")));
        format!("{}({})", self.signature.name, texts.collect::<Vec<_>>().join(", "))
    }

    /// The next argument, which says `what`.
    pub(super) fn text(&mut self, what: &str) -> Result<String> {
        self.read += 1;
        match self.left.pop_front() {
            Some(text) if text.trim().is_empty() => {
                Err(self.signature.wrong(format!("argument {}, {what}, is empty", self.read)))
            }
            Some(text) => Ok(text),
            None => Err(self.signature.wrong(format!("{what} is missing"))),
        }
    }

    fn path(&mut self, what: &str) -> Result<Vec<Ident>> {
        Ok(path_in(&self.text(what)?, self.dialect.as_ref()))
    }

    /// `[[catalog.]schema.]table`
    pub(super) fn table(&mut self) -> Result<ObjectName> {
        let path = self.path("the name of a table")?;
        if path.len() > 3 {
            let what = "the name of a table has at most three parts";
            return Err(self.signature.wrong(what));
        }
        Ok(path.into())
    }

    /// A column, which may be a leaf of a struct.
    pub(super) fn column(&mut self) -> Result<Vec<Ident>> {
        self.path("the name of a column")
    }

    pub(super) fn index(&mut self) -> Result<Ident> {
        self.name("the name of an index")
    }

    pub(super) fn optional_index(&mut self) -> Result<Option<Ident>> {
        if self.left.is_empty() { Ok(None) } else { self.index().map(Some) }
    }

    /// A name of a single part: of more than one, the text is the name.
    fn name(&mut self, what: &str) -> Result<Ident> {
        let text = self.text(what)?;
        let mut path = path_in(&text, self.dialect.as_ref());
        match (path.pop(), path.is_empty()) {
            (Some(name), true) => Ok(name),
            _ => Ok(Ident::with_quote('"', text)),
        }
    }

    /// The next argument, if it isn't an option.
    pub(super) fn method(&mut self) -> Result<Option<IndexMethod>> {
        if self.left.front().is_none_or(|text| text.contains('=')) {
            return Ok(None);
        }
        let name = self.name("an index method")?;
        Ok(Some(IndexMethod::new(name.value, Span::empty())))
    }

    /// The name of an option.
    pub(super) fn option_name(&mut self) -> Result<OptionName> {
        let text = self.text("the name of an option")?;
        Ok(OptionName::new(text.trim(), Span::empty()))
    }

    /// As [`options`](Self::options), of which there has to be one.
    pub(super) fn some_options(&mut self) -> Result<Options> {
        match self.left.is_empty() {
            true => Err(self.signature.wrong("an option is missing")),
            false => self.options(),
        }
    }

    /// All that is left, each argument one option or several.
    pub(super) fn options(&mut self) -> Result<Options> {
        let mut options = Vec::new();
        for text in self.left.drain(..) {
            self.read += 1;
            options.extend(options_in(&text, self.dialect.as_ref()).map_err(|error| {
                let what = format!("argument {}, '{text}', is no option: {error}", self.read);
                self.signature.wrong(what)
            })?);
        }
        Ok(Options { signature: self.signature, options })
    }

    /// How many arguments are left.
    pub(super) fn left(&self) -> usize {
        self.left.len()
    }

    /// Fails if an argument is left.
    pub(super) fn finish(self) -> Result<()> {
        match self.left.front() {
            Some(text) => Err(self
                .signature
                .wrong(format!("argument {}, '{text}', is one too many", self.read + 1))),
            None => Ok(()),
        }
    }
}

/// The string that a literal is.
fn text(value: &ScalarValue) -> Option<&str> {
    value.try_as_str().flatten()
}

/// The options of a call.
pub(super) struct Options {
    signature: Signature,
    options: Vec<WithOption>,
}

impl Options {
    /// Takes out the part of a statement that is on or off, such as `OR REPLACE`.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool> {
        let Some(at) = self.options.iter().position(|option| option.name.as_str() == name) else {
            return Ok(false);
        };
        match self.options.remove(at).value {
            OptionValue::Boolean(is_set) => Ok(is_set),
            other => {
                Err(self.signature.wrong(format!("'{name}' takes true or false, not {other}")))
            }
        }
    }

    /// Fails if there are others.
    pub(super) fn none(self) -> Result<()> {
        match self.options.first() {
            Some(option) => {
                Err(self.signature.wrong(format!("there is no option '{}'", option.name.as_str())))
            }
            None => Ok(()),
        }
    }

    /// The rest, as of a `WITH`.
    pub(super) fn with(self) -> Result<WithOptions> {
        let signature = self.signature;
        WithOptions::new(self.options).map_err(|error| signature.wrong(error))
    }
}
