//! Smaller programs that show the same, by leaving out lines and blocks of lines.
//!
//! After Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*, with braces as the
//! structure of the text.

/// The smallest text that is found by leaving out lines while `shows` holds for what stays. It holds for
/// the text.
pub fn reduced(text: &str, shows: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        let mut at = 0;
        while at < lines.len() {
            match smaller(&lines, at, shows) {
                Some(smaller) => (lines, changed) = (smaller, true),
                None => at += 1,
            }
        }
    }
    lines.join("\n")
}

/// The text without what begins at a line, if that still shows it.
fn smaller(
    lines: &[String],
    at: usize,
    shows: &mut dyn FnMut(&str) -> bool,
) -> Option<Vec<String>> {
    let end = block_end(lines, at)?;
    let without = |range: std::ops::RangeInclusive<usize>| -> Vec<String> {
        let kept = lines.iter().enumerate().filter(|(line, _)| !range.contains(line));
        kept.map(|(_, line)| line.clone()).collect()
    };
    let mut tries = vec![without(at..=(at + 7).min(lines.len() - 1)), without(at..=end)];
    if end > at {
        let mut inside = lines.to_vec();
        inside.remove(end);
        inside.remove(at);
        tries.push(inside);
    }
    tries.into_iter().find(|lines| shows(&lines.join("\n")))
}

/// The line where the braces that a line opens are closed; none for a line that closes others.
fn block_end(lines: &[String], at: usize) -> Option<usize> {
    let mut open = 0_i32;
    for (number, line) in lines.iter().enumerate().skip(at) {
        for c in line.chars() {
            match c {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            if open < 0 {
                return None;
            }
        }
        if open == 0 {
            return Some(number);
        }
    }
    None
}
