//! Timing: a tree of named times, and the report of `--mlir-timing`.

use super::pipeline::{Pipeline, PipelineStep};
use super::statistics::{Display, collection_name, title};
use std::fmt::Write;
use std::time::Duration;

/// The format of a report.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TimingFormat {
    /// Text for people.
    #[default]
    Text,
    /// JSON.
    Json,
}

/// A named time with its parts.
#[derive(Clone, Default, Debug)]
pub struct Timer {
    /// Name of the activity.
    pub name: String,
    /// Wall-clock time.
    pub wall: Duration,
    /// Sum of the times of all threads.
    pub user: Duration,
    /// Parts, in order; the difference to their sum is reported as the rest.
    pub parts: Vec<Timer>,
}

impl Timer {
    /// Creates a timer at zero.
    pub fn new(name: impl Into<String>) -> Timer {
        Timer { name: name.into(), ..Timer::default() }
    }

    /// Creates a part that took `time` on one thread.
    pub fn part(name: &str, time: Duration) -> Timer {
        Timer { name: name.into(), wall: time, user: time, parts: Vec::new() }
    }

    /// Adds time spent on one thread.
    pub(super) fn add(&mut self, time: Duration) {
        self.wall += time;
        self.user += time;
    }

    /// Creates a timer for each step of a pipeline.
    pub(super) fn of_steps(pipeline: &Pipeline) -> Vec<Timer> {
        let of = |p: &Pipeline| Timer { parts: Timer::of_steps(p), ..Timer::new(p.report_name()) };
        let step = |step: &PipelineStep| match step {
            PipelineStep::Pass(pass) => Timer::new(pass.info.class_name()),
            PipelineStep::Nested(pipelines) => match (collection_name(pipelines), &pipelines[..]) {
                (None, [only]) => of(only),
                (name, all) => Timer { parts: all.iter().map(of).collect(), ..Timer::new(name.unwrap_or_default()) },
            },
        };
        pipeline.steps.iter().map(step).collect()
    }

    /// Copies the timers at zero.
    pub(super) fn blank(&self) -> Timer {
        Timer { parts: self.parts.iter().map(Timer::blank).collect(), ..Timer::new(self.name.clone()) }
    }

    /// Adds the times of threads for the same steps, within `wall`.
    pub(super) fn add_threads(&mut self, threads: &[Timer], wall: Duration) {
        self.wall += wall;
        self.user += threads.iter().map(|t| t.user).sum::<Duration>();
        for (i, part) in self.parts.iter_mut().enumerate() {
            let parts: Vec<Timer> = threads.iter().map(|t| t.parts[i].clone()).collect();
            let longest = parts.iter().map(|t| t.wall).max().unwrap_or_default();
            part.add_threads(&parts, longest);
        }
    }

    /// Formats the report.
    pub fn report(&self, display: Display, format: TimingFormat) -> String {
        let rest = self.rest();
        let user = self.parts.iter().map(|p| p.user).sum::<Duration>() + rest.user;
        let total = Timer { name: "Total".into(), wall: self.wall, user, parts: Vec::new() };
        let both = self.parts.iter().any(Timer::differs);
        let mut writer = TimingWriter { total, format, both, out: String::new(), rows: 0 };
        writer.begin();
        match display {
            Display::Nested => self.parts.iter().for_each(|part| writer.tree(part, 0)),
            Display::List => {
                let mut rows = vec![Timer { name: "root".into(), ..writer.total.clone() }];
                self.parts.iter().for_each(|part| part.merge_into(&mut rows));
                rows[1..].sort_by_key(|row| std::cmp::Reverse(row.wall));
                rows.iter().for_each(|row| writer.row(row, 0));
            }
        }
        writer.end(&rest);
        writer.out
    }

    /// Whether several threads ran concurrently anywhere.
    fn differs(&self) -> bool {
        self.wall != self.user || self.parts.iter().any(Timer::differs)
    }

    fn merge_into(&self, rows: &mut Vec<Timer>) {
        match rows.iter_mut().find(|row| row.name == self.name) {
            Some(row) => (row.wall, row.user) = (row.wall + self.wall, row.user + self.user),
            None => rows.push(Timer { parts: Vec::new(), ..self.clone() }),
        }
        self.parts.iter().for_each(|part| part.merge_into(rows));
    }

    fn rest(&self) -> Timer {
        let sum = |time: fn(&Timer) -> Duration| self.parts.iter().map(time).sum();
        let wall = self.wall.saturating_sub(sum(|t| t.wall));
        // The rest ran on one thread, so wall and user time are equal.
        Timer { name: "Rest".into(), wall, user: wall, parts: Vec::new() }
    }
}

struct TimingWriter {
    total: Timer,
    format: TimingFormat,
    /// Whether the times of all threads are shown as well.
    both: bool,
    out: String,
    rows: usize,
}

impl TimingWriter {
    fn begin(&mut self) {
        if self.format == TimingFormat::Json {
            self.out.push_str("[\n");
            return;
        }
        self.out = title("... Execution time report ...");
        let seconds = self.total.wall.as_secs_f64();
        let user = if self.both { "  ----User Time----" } else { "" };
        let _ = write!(
            self.out,
            "  Total Execution Time: {seconds:.4} seconds\n\n{user}  ----Wall Time----  ----Name----\n"
        );
    }

    fn end(&mut self, rest: &Timer) {
        self.row(rest, 0);
        self.row(&self.total.clone(), 0);
        if self.format == TimingFormat::Json {
            self.out.push_str("\n]\n");
        }
    }

    /// Writes a timer with its parts. In JSON the list of parts ends with an empty object, as in MLIR.
    fn tree(&mut self, timer: &Timer, indent: usize) {
        self.row(timer, indent);
        if self.format == TimingFormat::Text {
            return timer.parts.iter().for_each(|part| self.tree(part, indent + 2));
        }
        self.out.pop();
        self.out.push_str(", \"passes\": [\n");
        for part in &timer.parts {
            self.rows = 0;
            self.tree(part, indent + 2);
            self.out.push_str(",\n");
        }
        let _ = write!(self.out, "{:indent$}{{}}]}}", "");
        self.rows = 1;
    }

    fn row(&mut self, timer: &Timer, indent: usize) {
        let share = |time: Duration| 100.0 * time.as_secs_f64() / self.total.wall.as_secs_f64().max(1e-12);
        let (user, wall) = (timer.user.as_secs_f64(), timer.wall.as_secs_f64());
        let name = &timer.name;
        if self.format == TimingFormat::Text {
            if self.both {
                let all = self.total.user.as_secs_f64().max(1e-12);
                let _ = write!(self.out, "  {user:8.4} ({:5.1}%)", 100.0 * user / all);
            }
            let _ = writeln!(self.out, "  {wall:8.4} ({:5.1}%)  {:indent$}{name}", share(timer.wall), "");
            return;
        }
        if self.rows > 0 {
            self.out.push_str(",\n");
        }
        self.rows += 1;
        let _ = write!(self.out, "{:indent$}{{", "");
        if self.both {
            let all = self.total.user.as_secs_f64().max(1e-12);
            let _ = write!(
                self.out,
                "\"user\": {{\"duration\": {user:8.4}, \"percentage\": {:5.1}}}, ",
                100.0 * user / all
            );
        }
        let wall_share = share(timer.wall);
        let _ = write!(
            self.out,
            "\"wall\": {{\"duration\": {wall:8.4}, \"percentage\": {wall_share:5.1}}}, \"name\": \"{name}\"}}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Timer {
        let ms = Duration::from_millis;
        let cse = Timer::part("CSE", ms(250));
        let nested = Timer { name: "'f' Pipeline".into(), wall: ms(500), user: ms(500), parts: vec![cse] };
        Timer { name: "root".into(), wall: ms(1000), user: ms(1000), parts: vec![nested, Timer::part("CSE", ms(400))] }
    }

    #[test]
    fn a_tree_ends_in_rest_and_total() {
        let text = tree().report(Display::Nested, TimingFormat::Text);
        let rows: Vec<&str> = text.lines().skip(6).collect();
        assert_eq!(
            rows,
            [
                "    0.5000 ( 50.0%)  'f' Pipeline",
                "    0.2500 ( 25.0%)    CSE",
                "    0.4000 ( 40.0%)  CSE",
                "    0.1000 ( 10.0%)  Rest",
                "    1.0000 (100.0%)  Total"
            ]
        );
    }

    #[test]
    fn a_list_adds_up_equal_names() {
        let text = tree().report(Display::List, TimingFormat::Json);
        let expected = "[\n\
            {\"wall\": {\"duration\":   1.0000, \"percentage\": 100.0}, \"name\": \"root\"},\n\
            {\"wall\": {\"duration\":   0.6500, \"percentage\":  65.0}, \"name\": \"CSE\"},\n\
            {\"wall\": {\"duration\":   0.5000, \"percentage\":  50.0}, \"name\": \"'f' Pipeline\"},\n\
            {\"wall\": {\"duration\":   0.1000, \"percentage\":  10.0}, \"name\": \"Rest\"},\n\
            {\"wall\": {\"duration\":   1.0000, \"percentage\": 100.0}, \"name\": \"Total\"}\n]\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn json_trees_are_json() {
        let text = tree().report(Display::Nested, TimingFormat::Json);
        let nested = "{\"wall\": {\"duration\":   0.5000, \"percentage\":  50.0}, \"name\": \"'f' Pipeline\", \"passes\": [\n  \
            {\"wall\": {\"duration\":   0.2500, \"percentage\":  25.0}, \"name\": \"CSE\", \"passes\": [\n  {}]},\n{}]},\n";
        assert!(text.contains(nested), "{text}");
    }

    #[test]
    fn threads_that_work_together_show_both_times() {
        let mut timer = tree();
        let threads = [timer.parts[0].clone(), timer.parts[0].clone()];
        timer.parts[0] = timer.parts[0].blank();
        timer.parts[0].add_threads(&threads, Duration::from_millis(500));
        let text = timer.report(Display::Nested, TimingFormat::Text);
        assert!(text.contains("  ----User Time----  ----Wall Time----  ----Name----"), "{text}");
        assert!(text.contains("    1.0000 ( 66.7%)    0.5000 ( 50.0%)  'f' Pipeline"), "{text}");
    }
}
