//! The statements about what an index is, apart from what it covers.

use std::sync::Arc;

use datafusion::sql::sqlparser::tokenizer::Span;
use lance_index_plan::tiers::PolicyError;
use lance_index_sql::{
    AlterIndexReset, AlterIndexSet, ShowCreateIndex, SyntaxError, WithOptions, suggest,
};

use super::index_name;
use crate::{
    catalog::{Catalog, policy::PolicyOption},
    error::{Error, Result},
    index_type::{INDEX_TYPES, Parameter, Values},
    options,
    physical::{
        alter::{AlterIndex, PolicyChange, changeable},
        show_create,
    },
    table::Target,
};

fn parameter(option: PolicyOption) -> Parameter {
    let (min, max) = match option {
        PolicyOption::TargetRows | PolicyOption::TargetBytes => (1, i64::MAX as u64),
        PolicyOption::MergeFactor => (2, 1000),
    };
    Parameter { name: option.name(), values: Values::Integer { min, max } }
}

pub(super) async fn lower_set(target: Arc<Target>, set: &AlterIndexSet) -> Result<AlterIndex> {
    let change = settings(&set.options)?;
    let at = set.options.iter().next().map_or(Span::empty(), |option| option.value_span);
    alter(target, &set.index, change, at).await
}

fn settings(options: &WithOptions) -> Result<PolicyChange> {
    let mut change = Vec::new();
    for option in options {
        let known = policy_option(option.name.as_str(), "SET", option.name.span())?;
        let value = options::check(option, parameter(known))?;
        change.push((known, value.as_u64()));
    }
    Ok(PolicyChange(change))
}

pub(super) async fn lower_reset(
    target: Arc<Target>,
    reset: &AlterIndexReset,
) -> Result<AlterIndex> {
    let known = reset.options.iter().map(|name| policy_option(name.as_str(), "RESET", name.span()));
    let change: Vec<_> = known.map(|known| Ok((known?, None))).collect::<Result<_>>()?;
    let at = reset.options.first().map_or(Span::empty(), |name| name.span());
    alter(target, &reset.index, PolicyChange(change), at).await
}

/// The statement, if what it makes is a policy; `at` is what an error points at.
async fn alter(
    target: Arc<Target>,
    index: &datafusion::sql::sqlparser::ast::Ident,
    change: PolicyChange,
    at: Span,
) -> Result<AlterIndex> {
    let catalog = Catalog::read(target.table()).await?;
    let index = index_name(&catalog, &target, index)?;
    let now = changeable(&catalog, &index).await?;
    let policy = change.of(now.policy);
    if !policy.is_empty()
        && let Err(error) = policy.to_policy()
    {
        let hint = match error {
            PolicyError::NoTarget if change.0.iter().all(|(_, value)| value.is_none()) => {
                "reset merge_factor as well, or set the other target first"
            }
            PolicyError::NoTarget => {
                "set target_rows_per_segment or target_bytes_per_segment as well"
            }
            PolicyError::ZeroTarget | PolicyError::MergeFactor(_) => "set another value",
        };
        let what = format!("index '{index}' would have no policy: {error}");
        return Err(SyntaxError { what, hint: Some(hint.to_string()), span: at }.into());
    }
    Ok(AlterIndex { target, index, record: now.record, change })
}

fn policy_option(name: &str, verb: &str, span: Span) -> Result<PolicyOption> {
    if let Some(option) = PolicyOption::by_name(name) {
        return Ok(option);
    }
    let mut parameters = INDEX_TYPES.iter().flat_map(|index_type| index_type.parameters);
    let (what, hint) = if parameters.any(|parameter| parameter.name == name) {
        (
            format!("'{name}' is a build parameter, which an index keeps"),
            "CREATE OR REPLACE INDEX makes the index anew with another one".to_string(),
        )
    } else {
        let names = PolicyOption::ALL.map(PolicyOption::name);
        let nearest = suggest(name, &names).map(|nearest| format!("did you mean {nearest}? "));
        (
            format!("ALTER INDEX ... {verb} has no option '{name}'"),
            format!("{}the options are {}", nearest.unwrap_or_default(), names.join(", ")),
        )
    };
    Err(Error::from(SyntaxError { what, hint: Some(hint), span }))
}

pub(super) async fn lower_show_create(
    target: Arc<Target>,
    show: &ShowCreateIndex,
) -> Result<show_create::ShowCreateIndex> {
    let catalog = Catalog::read(target.table()).await?;
    let index = index_name(&catalog, &target, &show.index)?;
    Ok(show_create::ShowCreateIndex { target, table: show.table.clone(), index })
}
