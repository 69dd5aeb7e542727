//! The shell in a terminal, which is tmux: what it shows is its screen as text.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{lance_sql, root, with_table};

/// Far more than anything takes here, also beside other work.
const PATIENCE: Duration = Duration::from_secs(120);

const PROMPT: &str = ">";

/// A terminal of 100 columns and 40 lines that runs the shell.
struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Runs the shell in the directory, which is its home as well.
    fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::start_with(directory, arguments, &[])
    }

    fn start_with(directory: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        static TERMINALS: AtomicUsize = AtomicUsize::new(0);
        let number = TERMINALS.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { socket: directory.join(format!("tmux-{number}")) };
        let shell = lance_sql(directory);
        let mut tmux = terminal.tmux(&["-u", "-f", "/dev/null", "new-session", "-d"]);
        tmux.args(["-x", "100", "-y", "40"]).current_dir(directory);
        tmux.env("HOME", directory).env_remove("NO_COLOR").envs(variables.iter().copied());
        // With two words at least, tmux needs no shell to run it.
        tmux.arg(shell.get_program()).args(["--maxrows", "40"]).args(arguments);
        succeed(&mut tmux);
        terminal.wait_for(|screen| screen.ends_with(PROMPT));
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.socket).args(arguments);
        tmux
    }

    /// Presses keys, by tmux's names of them.
    fn press(&self, keys: &[&str]) {
        succeed(self.tmux(&["send-keys"]).args(keys));
    }

    fn write(&self, text: &str) {
        // tmux takes a semicolon at the end for its own.
        let text = match text.strip_suffix(';') {
            Some(text) => format!("{text}\\;"),
            None => text.to_string(),
        };
        succeed(self.tmux(&["send-keys", "-l"]).arg(text));
    }

    /// Writes the lines, with Enter after each.
    fn enter(&self, lines: &[&str]) {
        for line in lines {
            self.write(line);
            self.press(&["Enter"]);
        }
    }

    /// Enters the lines and waits for the next prompt; the screen.
    fn run(&self, lines: &[&str]) -> String {
        let prompts = |screen: &str| screen.lines().filter(|line| line.starts_with('>')).count();
        let before = prompts(&self.screen());
        self.enter(lines);
        self.wait_for(|screen| prompts(screen) > before && screen.ends_with("\n>"))
    }

    /// The screen and what has left it at the top, without blanks at the end of each line.
    fn screen(&self) -> String {
        let shown = succeed(&mut self.tmux(&["capture-pane", "-p", "-J", "-S", "-"]));
        let shown = String::from_utf8(shown.stdout).unwrap();
        shown.trim_end().lines().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }

    /// Clears the screen and what has left it.
    fn clear(&self) {
        self.press(&["C-l"]);
        self.wait_for(|screen| screen.ends_with("\n>") || screen == PROMPT);
        succeed(&mut self.tmux(&["clear-history"]));
    }

    /// The screen, as soon as it is so.
    fn wait_for(&self, so: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if so(&screen) {
                return screen;
            }
            assert!(begin.elapsed() < PATIENCE, "the screen stayed:\n{screen}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the shell to leave.
    fn ended(&self) {
        let begin = Instant::now();
        while self.tmux(&["has-session"]).output().unwrap().status.success() {
            assert!(begin.elapsed() < PATIENCE, "it is still there:\n{}", self.screen());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Gone already where the shell left.
        let _ = self.tmux(&["kill-server"]).output();
    }
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output();
    assert!(output.is_ok(), "can't run tmux, which .ci/test installs: {output:?}");
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The text without the numbers of seconds.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("Elapsed ") {
        Some(_) => "Elapsed 0.000 seconds.".to_string(),
        None => line.to_string(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_session_in_the_docs() {
    let directory = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(directory.path(), &[]);
    for lines in [
        &[
            "CREATE EXTERNAL TABLE events (id BIGINT, kind VARCHAR)",
            "STORED AS LANCE LOCATION 'events.lance';",
        ][..],
        &["\\timing off"],
        &[
            "INSERT INTO events SELECT value, concat('kind ', value % 7) FROM generate_series(1, 8000);",
        ],
        &["CREATE INDEX events_id ON events (id); -- and so on"],
        &["\\d events"],
        &["ALTER TABLE events REFRESH INDEX events_kind;"],
        &["\\pset format csv"],
    ] {
        terminal.run(lines);
    }
    let screen = terminal.run(&["SELECT count(*) AS late FROM events WHERE kind = 'late;", "';"]);
    let page = fs::read_to_string(root().join("docs/shell.md")).unwrap();
    let block = page.split("```console\n").nth(1).and_then(|rest| rest.split("\n```").next());
    assert_eq!(without_times(&screen), without_times(block.unwrap()), "\n{screen}");
}

#[test]
fn the_history_outlives_the_session() {
    let directory = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(directory.path(), &["-q"]);
    terminal.run(&["SELECT 'first", "; line' AS x;"]);
    terminal.run(&["SELEC;"]);
    terminal.run(&["SELECT 2 AS x;"]);
    terminal.run(&["SELECT 2 AS x;"]);
    terminal.press(&["C-d"]);
    terminal.ended();

    let terminal = Terminal::start(directory.path(), &["-q"]);
    terminal.press(&["Up"]);
    terminal.wait_for(|screen| screen.ends_with("> SELECT 2 AS x;"));
    terminal.press(&["Up"]);
    terminal.wait_for(|screen| screen.ends_with("> SELEC;"));
    terminal.press(&["Up"]);
    terminal.wait_for(|screen| screen.ends_with("> SELECT 'first\n; line' AS x;"));
    terminal.press(&["Enter"]);
    terminal
        .wait_for(|screen| screen.contains("| first  |\n| ; line |") && screen.ends_with("\n>"));
    terminal.enter(&["\\q"]);
    terminal.ended();
}

#[test]
fn errors_and_ctrl_c_at_the_prompt() {
    let directory = with_table(3);
    let terminal = Terminal::start(directory.path(), &["-q", "--table", "t=t.lance"]);
    let screen = terminal.run(&["SELECT nope FROM t;"]);
    assert!(screen.contains("Error: ") && screen.contains("nope"), "{screen}");
    assert!(terminal.run(&["\\nope"]).contains("there is no command \\nope; \\? lists them"));
    assert!(terminal.run(&["\\d nope"]).contains("Error: "), "{}", terminal.screen());
    terminal.write("SELECT 'unfinished");
    terminal.press(&["Enter"]);
    terminal.write("and so on");
    terminal.press(&["C-c"]);
    terminal.wait_for(|screen| screen.ends_with("and so on\n>"));
    terminal.write("select count(*) as n fr");
    terminal.press(&["Tab"]);
    terminal.wait_for(|screen| screen.ends_with(" from"));
    terminal.write(" ");
    terminal.press(&["Tab"]);
    terminal.wait_for(|screen| screen.ends_with(" from t"));
    let screen = terminal.run(&[";"]);
    assert!(
        screen.ends_with("> select count(*) as n from t;\n+---+\n| n |\n+---+\n| 3 |\n+---+\n>")
    );
}

#[test]
fn ctrl_c_stops_a_statement() {
    let directory = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(directory.path(), &[]);
    terminal.run(&["\\timing"]);
    let all = "FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b";
    let stopped = "\nError: interrupted; the statement was stopped\n>";
    let works = |terminal: &Terminal| {
        let screen = terminal.run(&["SELECT 'it works' AS x;"]);
        assert!(screen.ends_with("| it works |\n+----------+\n1 row(s) fetched.\n\n>"), "{screen}");
    };

    terminal.enter(&[&format!("SELECT sum(a.value * b.value) {all};")]);
    // It says how much it has read.
    terminal.wait_for(|screen| screen.lines().last().unwrap().ends_with(" rows read"));
    terminal.press(&["C-c"]);
    let screen = terminal.wait_for(|screen| screen.ends_with(stopped));
    assert!(!screen.contains(" read") && !screen.contains("^C"), "{screen}");
    works(&terminal);

    // While it is planned, which for this one is when it runs.
    terminal.enter(&[&format!("CREATE TABLE x AS SELECT sum(a.value * b.value) {all};")]);
    terminal.wait_for(|screen| screen.lines().last().unwrap().starts_with("00:00:0"));
    terminal.press(&["C-c"]);
    terminal.wait_for(|screen| screen.ends_with(stopped));
    works(&terminal);

    // While it makes a large table.
    terminal.run(&["\\pset maxrows inf"]);
    terminal.enter(&["SELECT value, value AS again FROM generate_series(1, 3000000);"]);
    terminal.wait_for(|screen| screen.lines().last().unwrap().ends_with(" rows read"));
    terminal.press(&["C-c"]);
    terminal.wait_for(|screen| screen.ends_with(stopped));
    terminal.run(&["\\pset maxrows 40"]);
    works(&terminal);

    // While it prints.
    terminal.run(&["\\pset format csv"]);
    terminal.enter(&[&format!("SELECT a.value {all};")]);
    terminal.wait_for(|screen| {
        let numbers = |line: &str| line.chars().all(|c| c.is_ascii_digit());
        screen.lines().count() > 1000 && screen.lines().rev().take(40).all(numbers)
    });
    terminal.press(&["C-c"]);
    terminal.wait_for(|screen| screen.ends_with(stopped));
    terminal.clear();
    terminal.run(&["\\pset format table"]);
    works(&terminal);
}

#[test]
fn a_build_shows_how_far_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(directory.path(), &[]);
    terminal.run(&["CREATE EXTERNAL TABLE t (s VARCHAR) STORED AS LANCE LOCATION 't.lance';"]);
    terminal.run(&["INSERT INTO t SELECT concat_ws(' ', 'a', value, 'word', value * 7)\
        FROM generate_series(1, 200000);"]);
    let create = "CREATE INDEX i ON t USING fts (s) WITH (num_segments = 1);";
    let tells = |screen: &str| {
        let line = screen.lines().last().unwrap();
        let parts = [", 0 of 1 unit, ", " of 200,000 rows"];
        line.starts_with("00:00:") && parts.iter().all(|part| line.contains(part))
    };
    terminal.enter(&[create]);
    terminal.wait_for(tells);
    terminal.press(&["C-c"]);
    terminal
        .wait_for(|screen| screen.ends_with("Error: interrupted; the statement was stopped\n>"));
    let screen = terminal.run(&["SHOW INDEXES FROM t;"]);
    assert!(screen.contains("0 row(s) fetched."), "{screen}");

    terminal.enter(&[create]);
    terminal.wait_for(tells);
    let screen = terminal.wait_for(|screen| screen.ends_with("\n>"));
    assert!(screen.contains("| i          | 1 "), "{screen}");
    assert!(!screen.contains(" of 1 unit"), "{screen}");
}

#[test]
fn colors() {
    let directory = tempfile::tempdir().unwrap();
    let blue = "\x1b[34m";
    let written = |arguments: &[&str], variables: &[(&str, &str)]| {
        let terminal = Terminal::start_with(directory.path(), arguments, variables);
        terminal.write("REFRESH");
        terminal.wait_for(|screen| screen.ends_with("REFRESH"));
        let shown = succeed(&mut terminal.tmux(&["capture-pane", "-p", "-e"]));
        String::from_utf8(shown.stdout).unwrap()
    };
    assert!(written(&[], &[]).contains(blue));
    assert!(!written(&[], &[("NO_COLOR", "1")]).contains('\x1b'));
    assert!(written(&["--color", "always"], &[("NO_COLOR", "1")]).contains(blue));
    assert!(!written(&["--color", "never"], &[]).contains('\x1b'));
}
