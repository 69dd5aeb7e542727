//! Who may depend on whom, and what may be named where.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use datafusion_lance_index::index_type::INDEX_TYPES;

use crate::root;

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string()))
        .current_dir(root())
        .args(arguments)
        .args(["--offline", "--locked"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The dependencies of each crate of the workspace, without those for tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version=1"]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_string();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let normal = dependencies.filter(|dependency| dependency["kind"].is_null());
            (text(&package["name"]), normal.map(|dependency| text(&dependency["name"])).collect())
        })
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn dependencies_of_the_inner_crates() {
    let crates = dependencies();
    assert_eq!(crates["lance-index-plan"], set(&["roaring", "serde", "thiserror", "uuid"]));
    assert_eq!(
        crates["lance-index-sql"],
        set(&["datafusion-common", "datafusion-sql", "strsim", "thiserror"])
    );
    // What measures planning builds in seconds.
    assert_eq!(
        crates["lance-index-bench"],
        set(&["clap", "lance-index-plan", "rand", "rand_distr", "roaring", "uuid"])
    );
    let library = &crates["datafusion-lance-index"];
    assert!(!library.iter().any(|name| name == "datafusion-cli" || name == "clap"));
    let shell = &crates["lance-sql"];
    assert!(!shell.iter().any(|name| name == "lance" || name.starts_with("lance-table")));
}

/// Otherwise Lance and DataFusion are compiled twice: for the shell, and for the tests.
#[test]
fn tests_change_no_feature_of_a_dependency() {
    let features = |edges: &str| -> BTreeMap<String, String> {
        let tree = cargo(&[
            "tree",
            "--workspace",
            "--prefix=none",
            "--format={p} | {f}",
            "--edges",
            edges,
        ]);
        let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
        let split = lines.filter_map(|line| line.split_once(" | "));
        split.map(|(package, features)| (package.to_string(), features.to_string())).collect()
    };
    let tested = features("normal,build,dev");
    for (package, features) in features("normal,build") {
        assert_eq!(tested[&package], features, "features of {package}");
    }
}

/// Every Rust source of the workspace's crates under `part`, with its path from the root.
fn sources(part: &str) -> Vec<(PathBuf, String)> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&root().join(part), &mut found);
    found.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(root()).unwrap().to_path_buf(), text)
    };
    found.into_iter().map(read).collect()
}

/// Whether a line of code names something of that crate.
fn names_crate(text: &str, name: &str) -> bool {
    let path = format!("{name}::");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.match_indices(&path).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
        })
    })
}

#[test]
fn lance_is_named_by_the_store_and_the_tables() {
    const LANCE: [&str; 7] = [
        "lance",
        "lance_core",
        "lance_datafusion",
        "lance_file",
        "lance_index",
        "lance_io",
        "lance_table",
    ];
    let base = "crates/datafusion/src";
    let elsewhere: Vec<String> = sources(base)
        .iter()
        .map(|(path, text)| (path.strip_prefix(base).unwrap(), text))
        .filter(|(path, _)| !path.starts_with("store") && !path.starts_with("table"))
        // What an error of Lance means is told in one place.
        .filter(|(path, _)| *path != Path::new("error.rs"))
        .filter(|(_, text)| LANCE.iter().any(|name| names_crate(text, name)))
        .map(|(path, _)| path.display().to_string())
        .collect();
    assert_eq!(elsewhere, [""; 0]);
    for part in ["crates/plan/src", "crates/sql/src", "crates/cli/src", "crates/bench/src"] {
        for (path, text) in sources(part) {
            let named = LANCE.iter().find(|name| names_crate(&text, name));
            assert_eq!(named, None, "{}", path.display());
        }
    }
}

/// What tells one index type from another is in its own file, beside the list of them.
#[test]
fn index_types_are_told_apart_in_one_folder() {
    const FOLDER: &str = "crates/datafusion/src/store/types";
    let names = INDEX_TYPES.iter().flat_map(|index_type| {
        let own = [index_type.id, index_type.name, index_type.lance_name, index_type.type_url];
        own.into_iter().chain(index_type.synonyms.iter().copied())
    });
    let literals: Vec<String> = names.map(|name| format!("{name:?}").to_lowercase()).collect();
    let tells = |line: &str| {
        let mut variants = line.split("IndexType::").skip(1);
        let literal = |text: &String| line.to_lowercase().contains(text);
        line.contains("IndexDetails")
            || variants.any(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
            || literals.iter().any(literal)
    };
    let mut told = Vec::new();
    let parts = ["crates/datafusion/src", "crates/plan/src", "crates/cli/src"];
    for (path, text) in parts.iter().flat_map(|part| sources(part)) {
        let code = text.split("#[cfg(test)]").next().unwrap().lines();
        let code = code.filter(|line| !line.trim_start().starts_with("//"));
        if !path.starts_with(FOLDER) {
            told.extend(
                code.filter(|line| tells(line)).map(|it| format!("{}: {it}", path.display())),
            );
        }
    }
    assert_eq!(told, [""; 0]);
    for (path, text) in sources(FOLDER) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_entered = INDEX_TYPES.iter().any(|index_type| index_type.name == name);
        assert_eq!(is_entered, text.contains("static TYPE: IndexType"), "{}", path.display());
    }
}

#[test]
fn plan_and_sql_do_not_know_each_other() {
    for (path, text) in sources("crates/plan/src") {
        assert!(!names_crate(&text, "lance_index_sql"), "{}", path.display());
    }
    for (path, text) in sources("crates/sql/src") {
        assert!(!names_crate(&text, "lance_index_plan"), "{}", path.display());
    }
}

#[test]
fn plans_are_pure() {
    const IMPURE: [&str; 6] =
        ["async fn", "std::fs", "std::env", "Instant", "SystemTime", "Uuid::new_v4"];
    for (path, text) in sources("crates/plan/src") {
        let found = IMPURE.iter().find(|word| text.contains(**word));
        assert_eq!(found, None, "{}", path.display());
    }
}

#[test]
fn one_file_implements_extension_planner() {
    let all = sources("crates");
    let implement = all.iter().filter(|(path, text)| {
        path.components().any(|part| part.as_os_str() == "src")
            && text.contains("impl ExtensionPlanner for")
    });
    let files: Vec<String> = implement.map(|(path, _)| path.display().to_string()).collect();
    assert_eq!(files, ["crates/datafusion/src/planner.rs"]);
}

/// It has had four major versions in four months.
#[test]
fn one_module_names_the_engine_of_other_machines() {
    let crates = dependencies();
    let users: Vec<_> =
        crates.iter().filter(|(_, names)| names.contains("datafusion-distributed")).collect();
    let users: Vec<&str> = users.into_iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(users, ["datafusion-lance-index-distributed"]);
    for (path, text) in sources("crates/distributed/src") {
        let is_engine = path.starts_with("crates/distributed/src/engine")
            || path.ends_with("crates/distributed/src/engine.rs");
        assert!(is_engine || !names_crate(&text, "datafusion_distributed"), "{}", path.display());
    }
}

#[test]
fn names_that_say_nothing() {
    const NOTHING: [&str; 6] = ["manager", "helper", "util", "common", "core", "misc"];
    for (path, _) in sources("crates") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let parts = name.split('_').map(|part| part.trim_end_matches('s'));
        assert!(parts.into_iter().all(|part| !NOTHING.contains(&part)), "{}", path.display());
    }
}
