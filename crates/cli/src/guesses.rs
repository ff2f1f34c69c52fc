//! Printing of guesses about inputs.

use lydian_report::GuessSummary;

/// The most guesses that are printed; those about the most functions come first.
const MOST_PRINTED: usize = 40;

/// The guesses as they are printed: about a page of them.
pub(crate) fn render(guesses: &[GuessSummary]) -> String {
    if guesses.is_empty() {
        return String::new();
    }
    let mut shown: Vec<&GuessSummary> = guesses.iter().collect();
    if shown.len() > MOST_PRINTED {
        shown.sort_by_key(|guess| std::cmp::Reverse(guess.functions.len()));
    }
    let mut text = String::new();
    for guess in shown.iter().take(MOST_PRINTED) {
        let GuessSummary { ty, place, guess, reason, functions } = guess;
        let subject = match (ty, &functions[..]) {
            (Some(ty), _) => format!("{ty}: {place}"),
            (None, [function]) => format!("{function}: {place}"),
            (None, all) => format!("{place} in {} functions", all.len()),
        };
        text += &format!("{subject}: {guess}; {reason}\n");
    }
    if let Some(more @ 1..) = shown.len().checked_sub(MOST_PRINTED) {
        text += &format!("and {more} more guesses, which `--json` lists\n");
    }
    text + "(guesses: `lydian init` writes them to lydian.toml, to be overruled there)\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(ty: Option<&str>, place: &str, functions: &[&str]) -> GuessSummary {
        GuessSummary {
            ty: ty.map(str::to_owned),
            place: place.into(),
            guess: "array with length n".into(),
            reason: "n counts it".into(),
            functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn each_guess_is_a_line_with_its_function_or_how_many_there_are() {
        let all = [
            guess(None, "buf", &["f", "g"]),
            guess(None, "key", &["f"]),
            guess(Some("struct chunk"), ".data", &["f", "g"]),
        ];
        let expected = "\
buf in 2 functions: array with length n; n counts it
f: key: array with length n; n counts it
struct chunk: .data: array with length n; n counts it
(guesses: `lydian init` writes them to lydian.toml, to be overruled there)
";
        assert_eq!(render(&all), expected);
        assert_eq!(render(&[]), "");
    }

    #[test]
    fn of_many_guesses_a_page_is_printed_and_those_about_most_functions_first() {
        let mut all: Vec<GuessSummary> =
            (0..60).map(|n| guess(None, &format!("p{n}"), &["f"])).collect();
        all.push(guess(None, "often", &["f", "g", "h"]));
        let text = render(&all);
        assert_eq!(text.lines().count(), MOST_PRINTED + 2);
        assert!(text.starts_with("often in 3 functions"), "{text}");
        assert!(text.contains("and 21 more guesses, which `--json` lists"), "{text}");
    }
}
