use std::io::{self, BufRead};

use datafusion_lance_index::session::SessionContextExt;
use tokio::sync::mpsc;

use super::{input::is_command, lexed::is_complete, run_line};
use crate::shell::{Ended, Shell, interrupted, report};

/// Reads statements from a pipe or a file: no prompt, no history, and what stands last needs no
/// semicolon. An interrupt ends it.
pub(crate) async fn run(shell: &mut Shell) -> bool {
    let mut lines = lines();
    let mut input = Vec::new();
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = interrupted() => {
                report("interrupted");
                return false;
            }
        };
        let last = line.is_none();
        match line {
            Some(Ok(line)) => {
                // A long statement isn't looked at again for each of its lines.
                let may_end = line.contains(&b';') || line.contains(&b'/') || input.is_empty();
                input.extend(line);
                if !may_end || !ends(shell, &input) {
                    continue;
                }
            }
            Some(Err(error)) => {
                report(&error.to_string());
                return false;
            }
            None => {}
        }
        let ended = match String::from_utf8(std::mem::take(&mut input)) {
            Ok(text) => run_line(shell, text.trim()).await,
            Err(error) => {
                report(&format!("a statement isn't UTF-8: {}", error.utf8_error()));
                Some(Ended::InErrors)
            }
        };
        match ended {
            None => return true,
            Some(Ended::Interrupted) => return false,
            Some(Ended::Well | Ended::InErrors) if last => return true,
            Some(Ended::Well | Ended::InErrors) => {}
        }
    }
}

fn ends(shell: &Shell, input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    is_command(&text) || is_complete(&text, &shell.context.lance_dialect())
}

/// The lines of standard input, read by a thread: waiting for them can't be interrupted.
fn lines() -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = match input.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => Ok(line),
                Err(error) => Err(error),
            };
            // Nobody listens any more.
            if sender.blocking_send(read).is_err() {
                return;
            }
        }
    });
    lines
}
