use std::fmt;

use datafusion_sql::sqlparser::tokenizer::Span;

use crate::SyntaxError;
use crate::names::{is_word, write_quoted};

/// The arguments a statement has besides its options when it is written as a procedure call.
pub(crate) const ARGUMENTS: [&str; 7] =
    ["table", "index", "column", "method", "or_replace", "if_not_exists", "if_exists"];

/// The options of a statement, in the order written: `WITH (name = value, ...)`.
///
/// A name is a word, quoted or not, and names a single option whatever its case. Which names
/// there are, and which values they take, is up to the statement's executor.
///
/// ```text
/// options := WITH ( option [, ...] )        (SET instead of WITH in ALTER INDEX)
/// option  := name = value
/// value   := [+ | -] number | 'string' | TRUE | FALSE | NULL | word
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WithOptions {
    options: Vec<WithOption>,
}

impl WithOptions {
    /// Options in the order given.
    ///
    /// # Errors
    /// If a name occurs twice, which points at the second, or is one that the procedure form of
    /// a statement has another use for: `table`, `index`, `column`, `method`, `or_replace`,
    /// `if_not_exists`, `if_exists`.
    pub fn new(options: Vec<WithOption>) -> Result<Self, SyntaxError> {
        check_names(options.iter().map(|option| &option.name))?;
        Ok(Self { options })
    }

    /// The options in the order written.
    pub fn iter(&self) -> std::slice::Iter<'_, WithOption> {
        self.options.iter()
    }

    /// The option of that name, whatever its case.
    pub fn get(&self, name: &str) -> Option<&WithOption> {
        self.iter().find(|option| option.name.as_str().eq_ignore_ascii_case(name))
    }

    /// Whether the statement has no options.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty()
    }

    /// How many options there are.
    pub fn len(&self) -> usize {
        self.options.len()
    }
}

impl<'a> IntoIterator for &'a WithOptions {
    type Item = &'a WithOption;
    type IntoIter = std::slice::Iter<'a, WithOption>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Prints the list as it stands between the parentheses.
impl fmt::Display for WithOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, option) in self.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{option}")?;
        }
        Ok(())
    }
}

/// One `name = value`.
///
/// Equal to another whatever their places in a text.
#[derive(Debug, Clone)]
pub struct WithOption {
    /// The name.
    pub name: OptionName,
    /// The value.
    pub value: OptionValue,
    /// Where the value is.
    pub value_span: Span,
}

impl PartialEq for WithOption {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

impl Eq for WithOption {}

impl fmt::Display for WithOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.value)
    }
}

/// The name of an option, in lower case.
///
/// Equal to another whatever their places in a text.
#[derive(Debug, Clone)]
pub struct OptionName {
    name: String,
    span: Span,
}

impl OptionName {
    /// A name as written, at a place.
    pub fn new(name: &str, span: Span) -> Self {
        Self { name: name.to_ascii_lowercase(), span }
    }

    /// The name in lower case.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Where the name is.
    pub fn span(&self) -> Span {
        self.span
    }
}

impl PartialEq for OptionName {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OptionName {}

impl fmt::Display for OptionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_word(&self.name) { f.write_str(&self.name) } else { write_quoted(f, &self.name, '"') }
    }
}

/// The value of an option. Its type is the one written: `8` is a number, `'8'` a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// A number with its sign, as written: `8`, `-1`, `1e-3`.
    Number(String),
    /// A string, or a bare word: `'simple'` and `simple` are the same.
    String(String),
    /// `TRUE` or `FALSE`.
    Boolean(bool),
    /// `NULL`.
    Null,
}

impl OptionValue {
    /// What an unquoted word stands for.
    pub(crate) fn from_word(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "true" => Self::Boolean(true),
            "false" => Self::Boolean(false),
            "null" => Self::Null,
            _ => Self::String(word.to_owned()),
        }
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => f.write_str(number),
            Self::String(text) => write_quoted(f, text, '\''),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Null => f.write_str("NULL"),
        }
    }
}

/// Whether the names may stand in one list, see [`WithOptions::new`].
pub(crate) fn check_names<'a>(
    names: impl IntoIterator<Item = &'a OptionName>,
) -> Result<(), SyntaxError> {
    let mut seen: Vec<&OptionName> = Vec::new();
    for name in names {
        let taken = name.as_str();
        if ARGUMENTS.contains(&taken) {
            let what = format!("`{taken}` is a part of the statement and not an option");
            return Err(SyntaxError::new(what, name.span));
        }
        if seen.contains(&name) {
            let what = format!("Option `{taken}` is given more than once");
            return Err(SyntaxError::new(what, name.span));
        }
        seen.push(name);
    }
    Ok(())
}

/// The one of the `known` names, in lower case, that `name` most likely was meant to be, if any is
/// near enough.
pub fn suggest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    // Of two names with a few letters in common one is hardly a misspelling of the other.
    let most = (name.chars().count() / 3).max(1);
    known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name, candidate), *candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
