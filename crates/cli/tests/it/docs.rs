//! The examples in README.md and docs/ are run, and what they are said to print is compared.
//!
//! A block that is tagged `sql run` has to succeed, one tagged `sql error` has to fail. All blocks
//! of a page run in one directory, each in a shell of its own that knows the tables `x.lance` of
//! that directory as `x`. A `text` block right after one is what it prints (an `error` block, its
//! error); UUIDs, times and the widths of columns may differ.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{distributed::cluster::Worker, lance_sql, ran, root, run};

/// The workers of the examples. Each is another one when they are run, which listens somewhere else.
const WORKERS: [&str; 2] = ["http://127.0.0.1:50051", "http://127.0.0.1:50052"];

/// A fenced block of a page.
struct Block {
    info: String,
    text: String,
    line: usize,
    /// Whether only blank lines stand between it and the block before.
    follows: bool,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut follows) = (false, false);
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !open => {
                let (info, text) = (info.trim().to_string(), String::new());
                blocks.push(Block { info, text, line: number + 1, follows });
                open = true;
            }
            Some(_) => (open, follows) = (false, true),
            None if open => {
                let block = blocks.last_mut().unwrap();
                block.text += line;
                block.text.push('\n');
            }
            None => follows = follows && line.trim().is_empty(),
        }
    }
    assert!(!open, "a block has no end");
    blocks
}

/// README.md and the pages in docs/.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.sort();
    pages.insert(0, root().join("README.md"));
    pages
}

fn run_page(page: &Path) -> usize {
    let text = fs::read_to_string(page).unwrap();
    let blocks = blocks(&text);
    let directory = tempfile::tempdir().unwrap();
    let mut run = 0;
    let workers: Vec<_> = WORKERS
        .into_iter()
        .filter(|url| blocks.iter().any(|block| block.text.contains(url)))
        .map(|url| (url, Worker::start()))
        .collect();
    for (at, block) in blocks.iter().enumerate() {
        let fails = match block.info.as_str() {
            "sql run" => false,
            "sql error" => true,
            info => {
                assert!(!info.starts_with("sql "), "{}:{}: {info}", page.display(), block.line);
                continue;
            }
        };
        let mut shell = lance_sql(directory.path());
        shell.arg("-q");
        for table in tables(directory.path()) {
            shell.arg("--table").arg(table);
        }
        let text = workers
            .iter()
            .fold(block.text.clone(), |text, (url, worker)| text.replace(url, &worker.url));
        let ran = ran(shell.arg("-c").arg(&text));
        let place = format!("{}:{}", page.display(), block.line);
        let code = if fails { 1 } else { 0 };
        assert_eq!(ran.code, Some(code), "{place}: {}", ran.stderr);
        let printed = if fails { &ran.stderr } else { &ran.stdout };
        if let Some(said) = blocks.get(at + 1).filter(|next| next.follows && next.info == "text") {
            assert_eq!(comparable(printed), comparable(&said.text), "{place} printed:\n{printed}");
        }
        run += 1;
    }
    run
}

/// `name=uri` of each table of the directory.
fn tables(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.into_string().unwrap());
    let tables = names.filter_map(|name| Some(format!("{}={name}", name.strip_suffix(".lance")?)));
    let mut tables: Vec<String> = tables.collect();
    tables.sort();
    tables
}

const UUID: &str = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

/// The word with an `x` in place of every hexadecimal digit.
fn shape(word: &str) -> String {
    word.chars().map(|c| if c.is_ascii_hexdigit() { 'x' } else { c }).collect()
}

/// The words of each line, with a mark in place of what differs from run to run.
fn comparable(text: &str) -> Vec<String> {
    let mark = |word: &str| {
        let shape = shape(word);
        if shape.is_ascii() && shape.contains(UUID) {
            let mut word = word.to_string();
            // From the last one, so that the places of the others stay.
            for (at, uuid) in shape.rmatch_indices(UUID) {
                word.replace_range(at..at + uuid.len(), "<uuid>");
            }
            word
        } else if shape.starts_with("xxxx-xx-xxTxx:xx:xx") {
            "<time>".to_string()
        } else if word.starts_with("+-") {
            "+-".to_string()
        } else {
            word.to_string()
        }
    };
    let line = |line: &str| line.split_whitespace().map(mark).collect::<Vec<_>>().join(" ");
    text.trim_end().lines().map(line).collect()
}

#[test]
fn examples_in_sql() {
    for page in pages() {
        let run = run_page(&page);
        println!("{}: {run} examples", page.display());
    }
}

#[test]
fn the_demo() {
    let directory = tempfile::tempdir().unwrap();
    let demo = root().join("docs/demo.sql");
    let ran = run(directory.path(), &["-q", "-f", demo.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.stdout.matches("| 83.33 ").count(), 6, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("| 100.0 ").count(), 6, "{}", ran.stdout);
    assert!(ran.stdout.contains("ScalarIndexQuery"), "the last query uses an index");
}

/// Each statement of it goes well, and at the end every index is ready.
#[test]
fn the_day() {
    let directory = tempfile::tempdir().unwrap();
    let day = root().join("docs/day.sql");
    let ran = run(directory.path(), &["-q", "-f", day.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let (_, last) = ran.stdout.rsplit_once("| name ").unwrap();
    assert_eq!(last.matches("| ready ").count(), 6, "{last}");
}

/// README.md and the crate documentation show the same program.
#[test]
fn one_program() {
    let program = |text: &str| {
        let blocks = blocks(text);
        blocks.into_iter().find(|block| block.info == "rust").unwrap().text
    };
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let library = fs::read_to_string(root().join("crates/datafusion/src/lib.rs")).unwrap();
    let comment: String = library
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    assert_eq!(program(&comment), program(&readme));
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap();
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let there = page.parent().unwrap().join(file).exists();
            assert!(there, "{}: {target}", page.display());
        }
    }
}
