//! Fields of a Lance schema: by path, by id, and what a fragment's files say of them.

use std::{collections::BTreeSet, sync::Arc};

use arrow_schema::DataType;
use datafusion::{
    common::utils::quote_identifier,
    sql::sqlparser::{ast::Ident, tokenizer::Span},
};
use lance::datatypes::{Field, Schema, format_field_path};
use lance_index_plan::{record::FieldFacts, snapshot::IndexedField};
use lance_index_sql::SyntaxError;
use lance_table::format::Fragment;

use super::version::TableVersion;
use crate::{error::Result, names::pick};

/// The field at a path written in SQL.
///
/// # Errors
/// There is no such field, or several that differ only in case; the error points at the name.
pub(crate) fn resolve(table: &TableVersion, path: &[Ident]) -> Result<IndexedField> {
    let schema = table.dataset.schema();
    let mut fields: Vec<&Field> = schema.fields.iter().collect();
    let mut found: Option<&Field> = None;
    for ident in path {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let within = found.map(|field| format!(" in {}", field.name)).unwrap_or_default();
        let at = pick(ident, &names, "column", &within)?;
        found = Some(fields[at]);
        fields = fields[at].children.iter().collect();
    }
    let field = found.ok_or_else(|| SyntaxError {
        what: "a column is missing".to_string(),
        hint: None,
        span: Span::empty(),
    })?;
    Ok(describe(schema, field))
}

/// The field of that id, `None` if the schema has none.
pub(crate) fn by_id(schema: &Schema, id: i32) -> Option<IndexedField> {
    schema.field_by_id(id).map(|field| describe(schema, field))
}

fn describe(schema: &Schema, field: &Field) -> IndexedField {
    let ancestry = schema.field_ancestry_by_id(field.id).unwrap_or_default();
    let mut names = Vec::new();
    let mut within_list = false;
    for ancestor in &ancestry {
        // The item of a list has a field of its own, which no path names.
        if !within_list {
            names.push(ancestor.name.as_str());
        }
        within_list = matches!(ancestor.data_type(), DataType::List(_) | DataType::LargeList(_));
    }
    IndexedField {
        id: field.id,
        path: format_field_path(&names),
        column: names.iter().map(|name| quote_identifier(name)).collect::<Vec<_>>().join("."),
        data_type: field.data_type().to_string(),
    }
}

/// The field of that id in that version of the table.
pub(crate) fn by_id_in(table: &TableVersion, id: i32) -> Option<IndexedField> {
    by_id(table.dataset.schema(), id)
}

/// The field of that id, as a record has it.
pub(crate) fn facts_by_id(table: &TableVersion, id: i32) -> Option<FieldFacts> {
    let schema = table.dataset.schema();
    schema.field_by_id(id).map(|field| facts(schema, field))
}

/// All fields, as records have them.
pub(crate) fn all_facts(table: &TableVersion) -> Vec<FieldFacts> {
    all_facts_in(table.dataset.schema())
}

/// All fields of the schema, as records have them.
pub(super) fn all_facts_in(schema: &Schema) -> Vec<FieldFacts> {
    schema.fields_pre_order().map(|field| facts(schema, field)).collect()
}

fn facts(schema: &Schema, field: &Field) -> FieldFacts {
    let data_type = logical_type(field);
    FieldFacts { id: field.id, path: describe(schema, field).path, data_type }
}

/// The type as Lance's schemas have it, which is the same in every version.
fn logical_type(field: &Field) -> String {
    let logical = field.logical_type.to_string();
    match field.children.as_slice() {
        [] => logical,
        children => {
            let children: Vec<String> = children.iter().map(logical_type).collect();
            format!("{logical}<{}>", children.join(", "))
        }
    }
}

/// Whether the field has fields of its own.
pub(crate) fn is_nested(schema: &Schema, id: i32) -> bool {
    schema.field_by_id(id).is_some_and(|field| !field.children.is_empty())
}

/// The ids of the field, of all fields below it, and of those above it: whichever of them a data
/// file names, the file may hold the field's values.
pub(crate) fn related_ids(schema: &Schema, id: i32) -> BTreeSet<i32> {
    fn add_subtree(field: &Field, ids: &mut BTreeSet<i32>) {
        ids.insert(field.id);
        field.children.iter().for_each(|child| add_subtree(child, ids));
    }
    let mut ids = BTreeSet::new();
    for ancestor in schema.field_ancestry_by_id(id).unwrap_or_default() {
        ids.insert(ancestor.id);
    }
    if let Some(field) = schema.field_by_id(id) {
        add_subtree(field, &mut ids);
    }
    ids
}

/// The data files and overlays of the fragment that hold values of these fields, in order.
pub(crate) fn files_of(fragment: &Fragment, ids: &BTreeSet<i32>) -> Arc<str> {
    let data = fragment.files.iter();
    let overlays = fragment.overlays.iter().map(|overlay| &overlay.data_file);
    let files = data.chain(overlays).filter(|file| file.fields.iter().any(|id| ids.contains(id)));
    let paths: Vec<&str> = files.map(|file| file.path.as_str()).collect();
    paths.join("\n").into()
}
