use std::fmt;

use datafusion_sql::sqlparser::ast::{Ident, ObjectName, ObjectNamePart};
use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::tokenizer::{Token, Tokenizer};

/// The words that the grammar may have where a name can be: as a name they must be quoted.
const RESERVED: [&str; 9] =
    ["CONCURRENTLY", "IF", "INDEX", "INDEXES", "ON", "RESET", "SET", "USING", "WITH"];

/// Whether an unquoted `word` can't be the name of a table, an index or a method.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.iter().any(|reserved| word.eq_ignore_ascii_case(reserved))
}

/// Whether `text` is one word without quotes.
pub(crate) fn is_word(text: &str) -> bool {
    let tokens = Tokenizer::new(&GenericDialect, text).tokenize();
    matches!(
        tokens.as_deref(),
        Ok([Token::Word(word)]) if word.quote_style.is_none() && word.value == text
    )
}

/// Prints `text` between two `quote`s. A quote within is doubled, even if there are two of them:
/// sqlparser's own printing takes those for escaped ones.
pub(crate) fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    write!(f, "{quote}")?;
    for c in text.chars() {
        if c == quote {
            write!(f, "{quote}")?;
        }
        write!(f, "{c}")?;
    }
    write!(f, "{quote}")
}

/// Prints the name of an index so that it is read again as the same one.
pub(crate) struct Name<'a>(pub(crate) &'a Ident);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = is_word(&self.0.value) && !is_reserved(&self.0.value);
        write_ident(f, self.0, word)
    }
}

/// Prints the name of a table.
pub(crate) struct Table<'a>(pub(crate) &'a ObjectName);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            match part {
                ObjectNamePart::Identifier(ident) => write!(f, "{dot}{}", Name(ident))?,
                ObjectNamePart::Function(function) => write!(f, "{dot}{function}")?,
            }
        }
        Ok(())
    }
}

/// Prints a column, which may be nested. It stands alone, so that any word is a name.
pub(crate) struct Column<'a>(pub(crate) &'a [Ident]);

impl fmt::Display for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, ident) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write_ident(f, ident, is_word(&ident.value))?;
        }
        Ok(())
    }
}

fn write_ident(f: &mut fmt::Formatter<'_>, ident: &Ident, as_word: bool) -> fmt::Result {
    match ident.quote_style {
        None if as_word => f.write_str(&ident.value),
        // An unquoted name means its lower case, a quoted one itself.
        None => write_quoted(f, &ident.value.to_ascii_lowercase(), '"'),
        Some('`') => write_quoted(f, &ident.value, '`'),
        Some(_) => write_quoted(f, &ident.value, '"'),
    }
}
