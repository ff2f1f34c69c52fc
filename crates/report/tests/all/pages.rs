//! The pages: their contents, their links, and their behaviour in a browser.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use lydian_base::EntityId as _;
use lydian_ir::{BoolTree, ConditionId};
use lydian_objective::Criterion;
use lydian_report::Report;
use lydian_report::coverage::{
    ConditionCoverage, Coverage, DecisionCoverage, DefUseCoverage, ExecutionCount, FileCoverage,
    FunctionCoverage, LineCoverage, ObjectiveCoverage, ObjectiveStatus, Position,
};
use lydian_report::html;
use lydian_report::sources::{SourceText, Sources};
use lydian_report::totals::trend::{Trend, TrendPoint};
use serde_json::{Value, json};

use crate::sample;

fn pages(report: &Report) -> BTreeMap<String, String> {
    html::pages(report, Some(&trend())).into_iter().map(|page| (page.name, page.text)).collect()
}

fn trend() -> Trend {
    let mut trend = Trend::default();
    for (number, commit) in (1..).zip(["aaa", "bbb", "ccc"]) {
        let totals = vec![(Criterion::Stmt, number, 4), (Criterion::Mcdc, number * 2, 9)];
        trend.add(TrendPoint { commit: Some(commit.into()), time: number as u64, totals });
    }
    trend
}

/// The values of an attribute in a page.
fn values<'a>(text: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    text.split(begin.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Every link leads to a page that is there, and to an element on it; ids are there once.
fn assert_whole(pages: &BTreeMap<String, String>) {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, text) in pages {
        for id in values(text, "id") {
            assert!(ids.entry(name).or_default().insert(id), "{id} is twice on {name}");
        }
    }
    for (name, text) in pages {
        for link in values(text, "href").into_iter().chain(values(text, "src")) {
            assert!(!link.contains("://"), "{name} needs {link}");
            let (page, id) = link.split_once('#').unwrap_or((link, ""));
            let page = if page.is_empty() { name } else { page };
            assert!(pages.contains_key(page), "{name} links to {link}");
            let there = id.is_empty() || ids.get(page).is_some_and(|ids| ids.contains(id));
            assert!(there, "{name} links to {link}");
        }
    }
}

#[test]
fn pages_hold_what_is_known_and_every_link_leads_somewhere() {
    let pages = pages(&sample::report());
    assert_whole(&pages);
    let source = &pages["src_src_parse.c.html"];
    for expected in [
        "callers pass a == 1 alone, see the &lt;protocol&gt; &amp; its",
        "Macros expanded",
        "<i class=k>if</i>",
        "wm: 2 mutants alive",
        "value * 10 -&gt; value / 10",
        "cannot be measured: it is of another type",
        "Switch: 2 of 4 ways taken",
        "missing for c2",
    ] {
        assert!(source.contains(expected), "{expected}");
    }
    let plain: String = tags_removed(source);
    let advice = "Needs c2 c > 0 true while c0 a > 0 is true and c1 b > 0 is false; the outcome is then \
                  true. It makes a pair with row 2.";
    assert!(plain.contains(advice), "{plain}");
    assert!(pages["index.html"].contains("damaged &amp; left out &lt;run 7&gt;"));
    assert!(pages["index.html"].contains("start.S"));
    assert!(pages["marked.html"].contains("2 cc"), "{}", pages["marked.html"]);
}

fn tags_removed(text: &str) -> String {
    let mut plain = String::new();
    for piece in text.split('<') {
        plain.push_str(piece.split_once('>').map_or(piece, |(_, rest)| rest));
    }
    plain.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
}

#[test]
fn a_file_that_changed_shows_what_was_recorded_and_none_of_its_lines() {
    let mut coverage = sample::coverage();
    for file in &mut coverage.files {
        file.changed = true;
    }
    let mut sources = Sources::default();
    let text = SourceText::of(b"int other;\nint text;\n");
    sources.insert("/project/src/parse.c".into(), text);
    let (report, _) = Report::with(coverage, sources, Path::new(sample::ROOT)).unwrap();
    let pages = pages(&report);
    assert_whole(&pages);
    let source = &pages["src_src_parse.c.html"];
    assert!(source.contains("no longer what was compiled") && !source.contains("int other"));
    assert!(source.contains("s == (void *)0 || n == 0"));
    assert!(
        pages["src_src_gone.c.html"].contains("cannot be read")
            || pages["src_src_gone.c.html"].contains("not read")
    );
    assert!(pages["src_src_gone.c.html"].contains("id=\"L5\""));
}

/// A file of many functions of ten lines.
fn long(functions: u32) -> Report {
    let text = "int f(int x)\n{\n\tif (x > 0)\n\t\treturn 1;\n\n\n\n\n\treturn 0;\n}\n";
    let function = |number: u32| FunctionCoverage {
        part: false,
        name: format!("f{number}"),
        start: Position { line: number * 10 + 1, column: 5 },
        end_line: number * 10 + 10,
        entered: Some(true),
        entries: ExecutionCount::default(),
        lines: vec![LineCoverage {
            line: number * 10 + 3,
            covered: true,
            count: ExecutionCount::default(),
        }],
        decisions: Vec::new(),
        switches: Vec::new(),
        objectives: Vec::new(),
        def_uses: Vec::new(),
    };
    let file = FileCoverage {
        path: "/long.c".into(),
        functions: (0..functions).map(function).collect(),
        ..FileCoverage::default()
    };
    let mut sources = Sources::default();
    let text = text.repeat(functions as usize);
    sources.insert("/long.c".into(), SourceText::of(text.as_bytes()));
    let coverage = Coverage { files: vec![file], ..Coverage::default() };
    Report::with(coverage, sources, Path::new("/")).unwrap().0
}

#[test]
fn a_long_file_is_cut_where_functions_begin_and_no_line_is_lost() {
    let report = long(1000);
    let pages = pages(&report);
    assert_whole(&pages);
    let parts: Vec<&String> = pages.keys().filter(|name| name.starts_with("src_")).collect();
    assert_eq!(parts.len(), 7, "{parts:?}");
    let mut lines: Vec<u32> = Vec::new();
    for part in parts {
        let ids = values(&pages[part], "id").into_iter();
        let here: Vec<u32> =
            ids.filter_map(|id| id.strip_prefix('L')).filter_map(|n| n.parse().ok()).collect();
        assert_eq!(here[0] % 10, 1, "{part}");
        lines.extend(here);
    }
    lines.sort_unstable();
    assert!(lines.into_iter().eq(1..=10_000));
    assert!(pages["functions.html"].contains("src_long.c.7.html#L9991"));
}

#[test]
fn two_files_whose_names_look_alike_have_pages_of_their_own() {
    let mut coverage = Coverage::default();
    for path in ["/p/a+b.c", "/p/a-b.c", "/p/a b.c", "/p/A_B.c"] {
        coverage.files.push(FileCoverage { path: path.into(), ..FileCoverage::default() });
    }
    let (report, _) = Report::with(coverage, Sources::default(), Path::new("/p")).unwrap();
    let pages = pages(&report);
    assert_eq!(pages.keys().filter(|name| name.starts_with("src_")).count(), 4);
    assert_whole(&pages);
}

/// A headless Chromium; `None`, with a message, where there is none.
fn chromium() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let there = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let found = names.into_iter().find(there);
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: no Chromium is installed");
    }
    found
}

/// Opens a page, runs a script in it, and gives what its function `run` returns.
fn in_browser(browser: &str, folder: &Path, page: &str, dark: bool, script: &str) -> Value {
    let text = std::fs::read_to_string(folder.join(page)).unwrap();
    let ending = "addEventListener('load', () => { let result; \
                  try { result = JSON.stringify(run()); } catch (e) { result = JSON.stringify(String(e)); } \
                  document.body.insertAdjacentHTML('beforeend', '<pre id=result></pre>'); \
                  document.getElementById('result').textContent = btoa(result); });";
    let test = format!("{text}<script>{script}\n{ending}</script>");
    let name = format!("test-{}-{dark}-{page}", script.len());
    std::fs::write(folder.join(&name), test).unwrap();
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("timeout")
        .args(["120", browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
        .args(["--disable-sync", "--window-size=1400,1000", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .args(["--dump-dom", &format!("file://{}", folder.join(&name).display())])
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let result = dom.split("<pre id=\"result\">").nth(1).and_then(|rest| rest.split('<').next());
    let result = result.unwrap_or_else(|| {
        panic!("the browser ended without a result: {}", String::from_utf8_lossy(&output.stderr))
    });
    serde_json::from_slice(&decode(result)).unwrap()
}

/// Base 64, in which results pass through the page's text.
fn decode(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | u32::from(value(c));
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

fn written(report: &Report) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in pages(report) {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn tables_are_sorted_and_filtered_in_the_browser() {
    let Some(browser) = chromium() else { return };
    let folder = written(&sample::report());
    let script = "function run() {
        const names = () => [...document.querySelectorAll('#functions tbody tr')]
            .filter(row => !row.hidden).map(row => row.cells[0].textContent);
        const heading = [...document.querySelectorAll('#functions th button')]
            .find(button => button.textContent === 'gacc');
        const before = names();
        heading.click();
        const up = names();
        heading.click();
        const [down, sorted] = [names(), heading.closest('th').getAttribute('aria-sort')];
        const field = document.querySelector('input[type=search]');
        field.value = 'parse';
        field.dispatchEvent(new Event('input', {bubbles: true}));
        const found = names();
        document.querySelector('input[type=checkbox]').click();
        const gaps = names();
        return {before, up, down, sorted, found, gaps, told: document.querySelector('output').textContent};
    }";
    let result = in_browser(browser, folder.path(), "functions.html", false, script);
    let expected = json!({
        "before": ["clamp", "gone", "number", "weigh", "debug", "never"],
        "up": ["number", "weigh", "clamp", "gone", "debug", "never"],
        "down": ["clamp", "gone", "debug", "never", "number", "weigh"],
        "sorted": "descending",
        "found": ["debug", "never", "number", "weigh"],
        "gaps": ["never", "number", "weigh"],
        "told": "3 of 6 shown",
    });
    assert_eq!(result, expected);
}

#[test]
fn clicking_through_a_source_shows_rows_arrows_and_gaps() {
    let Some(browser) = chromium() else { return };
    let folder = written(&sample::report());
    let script = "function run() {
        const count = selector => document.querySelectorAll(selector).length;
        const summary = document.querySelector('#D24 > summary');
        const [closed] = [document.getElementById('D24').open];
        summary.click();
        const opened = document.getElementById('D24').open;
        const rows = document.querySelector('#d24-0 [data-rows]');
        rows.click();
        const marked = [...document.querySelectorAll('#d24-0 tr.pair')].map(row => row.id);
        rows.click();
        const unmarked = count('tr.pair');
        document.querySelector('details.function').open = true;
        const value = document.querySelector('[data-variable=value]');
        value.click();
        const arrows = [count('svg.arrows g'), count('svg.arrows g.no'), count('tr.flow')];
        const path = document.querySelector('svg.arrows path').getAttribute('d');
        const told = document.getElementById('announce').textContent;
        value.click();
        const without = count('svg.arrows g');
        document.querySelector('[data-jump=\"1\"]').click();
        const first = document.activeElement.textContent;
        document.querySelector('[data-jump=\"1\"]').click();
        const second = document.activeElement.textContent;
        document.querySelector('[data-open=\"1\"]').click();
        const shut = count('tr.below > td > details:not([open])');
        return {closed, opened, marked, unmarked, arrows, drawn: !path.includes('NaN'), told, without,
                first, second, shut};
    }";
    let result = in_browser(browser, folder.path(), "src_src_parse.c.html", false, script);
    let expected = json!({
        "closed": false,
        "opened": true,
        "marked": ["d24-0-r0", "d24-0-r2"],
        "unmarked": 0,
        "arrows": [4, 2, 3],
        "drawn": true,
        "told": "4 pairs of value drawn, 2 of them not covered",
        "without": 0,
        "first": "11",
        "second": "13",
        "shut": 0,
    });
    assert_eq!(result, expected);
}

#[test]
fn one_criterion_can_be_chosen_by_mouse_and_keyboard_and_the_lines_mean_it() {
    let Some(browser) = chromium() else { return };
    let folder = written(&sample::report());
    let script = "function run() {
        const state = () => [...document.querySelectorAll('tr.line[data-c]')].map(row =>
            row.id + ':' + ['yes', 'may', 'no', 'out'].filter(name => row.classList.contains(name)));
        const all = state();
        const key = name => document.body.dispatchEvent(
            new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
        key('c');
        const chooser = document.activeElement;
        chooser.value = 'stmt';
        chooser.dispatchEvent(new Event('change', {bubbles: true}));
        const one = state();
        const shown = [...document.querySelectorAll('.tally')].filter(part => !part.hidden)
            .map(part => part.dataset.k);
        const said = document.querySelector('#L51 td.s .sr').textContent;
        key('n');
        const first = document.activeElement.textContent;
        chooser.value = '';
        chooser.dispatchEvent(new Event('change', {bubbles: true}));
        return {id: chooser.id, changed: all.length === one.length && all.join() !== one.join(),
                partly: one.some(line => line.endsWith('may')), shown: [...new Set(shown)],
                said, first, back: state().join() === all.join()};
    }";
    let result = in_browser(browser, folder.path(), "src_src_parse.c.html", false, script);
    let expected = json!({
        "id": "criterion", "changed": true, "partly": false, "shown": ["stmt"],
        "said": "not covered", "first": "35", "back": true,
    });
    assert_eq!(result, expected);
}

#[test]
fn columns_of_criteria_can_be_hidden_and_all_of_a_row_fits_a_small_window() {
    let Some(browser) = chromium() else { return };
    let mut report = sample::report();
    report.coverage.criteria = Criterion::ALL.iter().map(|(criterion, _)| *criterion).collect();
    let folder = written(&report);
    let script = "function run() {
        const shown = () => [...document.querySelectorAll('#files thead th')]
            .filter(cell => getComputedStyle(cell).display !== 'none').map(cell => cell.textContent);
        const first = shown();
        const box = document.querySelector('details.columns[data-table=files]');
        const wide = document.getElementById('files').getBoundingClientRect().width;
        box.querySelector('input[value=mcdc]').click();
        return {first, then: shown().length, wide: wide < 1300};
    }";
    let result = in_browser(browser, folder.path(), "index.html", false, script);
    let first = ["File", "Functions", "Lines", "Branches"];
    let first = first.into_iter().chain(["stmt", "bc", "dc", "mcdc", "wm", "all-uses"]);
    let first: Vec<&str> = first.collect();
    let mut found: Vec<&str> =
        result["first"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    found.sort_unstable();
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
    assert_eq!((&result["then"], &result["wide"]), (&json!(first.len() - 1), &json!(true)));
}

/// A file of one function with all that can be large on one line.
fn heavy() -> Report {
    let start = Position { line: 2, column: 5 };
    let long = "x && ".repeat(4000);
    let objective = |number: usize| ObjectiveCoverage {
        criterion: [Criterion::Wm, Criterion::Cpc][number % 2],
        name: format!("m{number}"),
        start,
        text: format!("{long}{number}"),
        status: ObjectiveStatus::Missing,
        decision: None,
    };
    let pair = |number: u32| DefUseCoverage {
        variable: format!("v{}", number % 300),
        definition: Position { line: 2, column: number },
        definition_file: None,
        usage: Position { line: 3, column: 5 },
        branch: None,
        covered: number.is_multiple_of(2),
    };
    let condition =
        ConditionCoverage { start, text: long.clone(), pure: true, counts: Default::default() };
    let decision = DecisionCoverage {
        start,
        text: long.clone(),
        from_macro: true,
        conditions: vec![condition; 30],
        tree: (1..30).fold(BoolTree::Cond(ConditionId::from_index(0)), |tree, index| {
            let leaf = BoolTree::Cond(ConditionId::from_index(index));
            BoolTree::And(Box::new(tree), Box::new(leaf))
        }),
        rows: Vec::new(),
        outcomes: [true, true],
        recorded: true,
        short_circuit: false,
    };
    let function = FunctionCoverage {
        name: "f".to_owned(),
        start,
        end_line: 3,
        entered: Some(true),
        entries: ExecutionCount::default(),
        decisions: vec![decision; 40],
        objectives: (0..9000).map(objective).collect(),
        def_uses: (0..20_000).map(pair).collect(),
        ..FunctionCoverage::default()
    };
    let file =
        FileCoverage { path: "/h.c".into(), functions: vec![function], ..FileCoverage::default() };
    let mut sources = Sources::default();
    let text = format!(
        "int a;
{}
int b;
",
        "f(x) + ".repeat(10_000)
    );
    sources.insert("/h.c".into(), SourceText::of(text.as_bytes()));
    let criteria = vec![Criterion::Wm, Criterion::Cpc];
    let coverage = Coverage { criteria, files: vec![file], ..Coverage::default() };
    Report::with(coverage, sources, Path::new("/")).unwrap().0
}

#[test]
fn no_page_is_larger_than_two_megabytes_and_nothing_is_left_out() {
    let report = heavy();
    let pages = pages(&report);
    assert_whole(&pages);
    for (name, text) in &pages {
        assert!(text.len() <= 2_000_000, "{name} has {} bytes", text.len());
    }
    let all: String = pages.values().map(String::as_str).collect();
    for number in [0, 1, 4321, 8999] {
        assert!(all.contains(&format!("m{number}: <code>")), "m{number}");
    }
    assert_eq!(all.matches("<section class=\"decision\"").count(), 40);
    assert_eq!(all.matches("<th scope=\"row\"><code>v").count(), 20_000);
}

/// Names, roles and contrast, as far as a script can tell: what the success criteria 1.3.1, 1.4.3,
/// 2.1.1, 2.4.1 and 4.1.2 of WCAG 2 ask.
const ACCESSIBLE: &str = "function run() {
    document.querySelectorAll('details').forEach(details => { details.open = true; });
    const faults = [];
    const fault = (what, element) => faults.push(what + ': ' + element.outerHTML.slice(0, 120));
    const name = e => (e.getAttribute('aria-label') || e.textContent || '').trim();
    document.querySelectorAll('button, a, summary').forEach(e => {
        if (!name(e)) fault('no name', e);
        if (e.tabIndex < 0) fault('not reachable', e);
    });
    document.querySelectorAll('input').forEach(e => { if (!e.labels.length) fault('no label', e); });
    document.querySelectorAll('table').forEach(e => {
        if (!e.querySelector('thead th[scope=col]')) fault('no headings', e);
    });
    document.querySelectorAll('.scroll').forEach(e => {
        if (e.tabIndex < 0 || !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby')))
            fault('no named region', e);
    });
    document.querySelectorAll('[aria-labelledby]').forEach(e => {
        if (!document.getElementById(e.getAttribute('aria-labelledby'))) fault('label is missing', e);
    });
    if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('h1').length !== 1)
        fault('one main and one h1', document.body);
    if (document.querySelector('a').getAttribute('href') !== '#main') fault('no skip link', document.body);
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const over = (top, under) => {
        const alpha = top.length > 3 ? top[3] : 1;
        return [0, 1, 2].map(i => top[i] * alpha + under[i] * (1 - alpha));
    };
    const behind = e => e === null ? [255, 255, 255]
        : over(parse(getComputedStyle(e).backgroundColor), behind(e.parentElement));
    const light = c => {
        const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    let checked = 0;
    document.querySelectorAll('body *').forEach(e => {
        const text = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
        if (!text || e.closest('.sr, script, svg')) return;
        const ground = behind(e);
        const [a, b] = [light(over(parse(getComputedStyle(e).color), ground)), light(ground)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        checked += 1;
        if (ratio < 4.5) fault('contrast ' + ratio.toFixed(2), e);
    });
    return {faults: faults.slice(0, 20), checked: checked > 12,
            ground: Math.round(behind(document.body)[0])};
}";

#[test]
fn pages_are_named_reachable_and_have_contrast_in_light_and_dark() {
    let Some(browser) = chromium() else { return };
    let folder = written(&sample::report());
    for page in [
        "index.html",
        "functions.html",
        "excluded.html",
        "trend.html",
        "marked.html",
        "src_src_parse.c.html",
        "src_src_gone.c.html",
    ] {
        for (dark, ground) in [(false, 255), (true, 20)] {
            let result = in_browser(browser, folder.path(), page, dark, ACCESSIBLE);
            let expected = json!({ "faults": [], "checked": true, "ground": ground });
            assert_eq!(result, expected, "{page}, dark: {dark}");
        }
    }
}
