//! Finds what a name written in SQL means.

use datafusion::sql::sqlparser::ast::Ident;
use lance_index_sql::{SyntaxError, suggest};

/// The name that an identifier stands for: an unquoted one is folded to lower case, a quoted one is
/// exact.
pub(crate) fn folded(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The position among `names` of the one that `ident` means, `None` if there is none.
///
/// Where nothing has the name exactly, an unquoted identifier takes the only name that differs
/// just in case.
///
/// # Errors
/// Several names differ only in case; the error points at the identifier. `kind` says what kind of
/// thing is looked for.
pub(crate) fn find(
    ident: &Ident,
    names: &[&str],
    kind: &str,
) -> Result<Option<usize>, SyntaxError> {
    let wanted = folded(ident);
    if let Some(at) = names.iter().position(|name| *name == wanted) {
        return Ok(Some(at));
    }
    if ident.quote_style.is_some() {
        return Ok(None);
    }
    let alike: Vec<usize> =
        (0..names.len()).filter(|at| names[*at].to_lowercase() == wanted).collect();
    match alike[..] {
        [] => Ok(None),
        [at] => Ok(Some(at)),
        _ => {
            let alike: Vec<String> = alike.iter().map(|at| format!("\"{}\"", names[*at])).collect();
            let hint = format!("quote the one you mean: {}", alike.join(", "));
            Err(SyntaxError {
                what: format!("{kind} '{wanted}' is ambiguous"),
                hint: Some(hint),
                span: ident.span,
            })
        }
    }
}

/// As [`find`], but there has to be one; `place` says where, as in ` on table t`.
///
/// # Errors
/// As [`find`], and if there is no such name.
pub(crate) fn pick(
    ident: &Ident,
    names: &[&str],
    kind: &str,
    place: &str,
) -> Result<usize, SyntaxError> {
    if let Some(at) = find(ident, names, kind)? {
        return Ok(at);
    }
    let wanted = folded(ident);
    // Any name is near one of a letter or two.
    let nearest = suggest(&wanted, names).filter(|_| wanted.chars().count() > 2);
    let hint = match nearest {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if names.is_empty() => "there is none".to_string(),
        None => format!("there is: {}", names.join(", ")),
    };
    let what = format!("there is no {kind} '{wanted}'{place}");
    Err(SyntaxError { what, hint: Some(hint), span: ident.span })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding() {
        let names = ["id", "entityId", "Up", "uP"];
        let find = |ident: &Ident| super::find(ident, &names, "column").unwrap();
        assert_eq!(find(&Ident::new("ID")), Some(0));
        assert_eq!(find(&Ident::new("entityid")), Some(1));
        assert_eq!(find(&Ident::with_quote('"', "entityId")), Some(1));
        assert_eq!(find(&Ident::with_quote('"', "entityid")), None);
        assert_eq!(find(&Ident::with_quote('"', "Up")), Some(2));
        let ambiguous = super::find(&Ident::new("up"), &names, "column").unwrap_err();
        assert_eq!(ambiguous.hint.unwrap(), "quote the one you mean: \"Up\", \"uP\"");
    }

    #[test]
    fn what_is_missing() {
        let error = pick(&Ident::new("cnt"), &["cat", "dog"], "index", " on table t").unwrap_err();
        assert_eq!(error.what, "there is no index 'cnt' on table t");
        assert_eq!(error.hint.unwrap(), "did you mean cat?");
        let error = pick(&Ident::new("c"), &["a", "b"], "column", "").unwrap_err();
        assert_eq!(error.hint.unwrap(), "there is: a, b");
    }
}
