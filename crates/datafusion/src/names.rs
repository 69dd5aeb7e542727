//! Finds what a name written in SQL means.

use datafusion::sql::sqlparser::ast::Ident;
use lance_index_sql::{SyntaxError, suggest};

/// The position among `names` of the one that `ident` means.
///
/// An unquoted identifier is folded to lower case, a quoted one is exact. Where nothing has the
/// name exactly, the only name that differs just in case is taken.
///
/// # Errors
/// No such name, or several that differ only in case; the error points at the identifier. `what`
/// says what kind of thing is looked for.
pub(crate) fn pick(ident: &Ident, names: &[&str], what: &str) -> Result<usize, SyntaxError> {
    let wanted = match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    };
    if let Some(at) = names.iter().position(|name| *name == wanted) {
        return Ok(at);
    }
    let lower = wanted.to_lowercase();
    let alike: Vec<usize> =
        (0..names.len()).filter(|at| names[*at].to_lowercase() == lower).collect();
    let error = |message: String, hint: String| SyntaxError {
        what: message,
        hint: Some(hint),
        span: ident.span,
    };
    match alike[..] {
        [at] => Ok(at),
        [] => {
            let hint = match suggest(&wanted, names) {
                Some(nearest) => format!("did you mean {nearest}?"),
                None if names.is_empty() => "there is none".to_string(),
                None => format!("there is: {}", names.join(", ")),
            };
            Err(error(format!("there is no {what} '{wanted}'"), hint))
        }
        _ => {
            let alike: Vec<String> = alike.iter().map(|at| format!("\"{}\"", names[*at])).collect();
            let hint = format!("quote the one you mean: {}", alike.join(", "));
            Err(error(format!("{what} '{wanted}' is ambiguous"), hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding() {
        let names = ["id", "entityId", "Id"];
        assert_eq!(pick(&Ident::new("ID"), &names, "column").unwrap(), 0);
        assert_eq!(pick(&Ident::new("entityid"), &names, "column").unwrap(), 1);
        assert_eq!(pick(&Ident::with_quote('"', "entityId"), &names, "column").unwrap(), 1);
        assert_eq!(pick(&Ident::with_quote('"', "Id"), &names, "column").unwrap(), 2);
        let ambiguous = pick(&Ident::with_quote('"', "iD"), &names, "column").unwrap_err();
        assert_eq!(ambiguous.hint.unwrap(), "quote the one you mean: \"id\", \"Id\"");
    }
}
