//! The trend of coverage from commit to commit, as a picture and as a table.

use std::fmt::Write as _;

use lydian_objective::Criterion;
use maud::{Markup, html};

use super::draft::Draft;
use super::shell;
use crate::totals::trend::{Trend, TrendPoint};

/// The width of the picture.
const WIDTH: usize = 1100;
const HEIGHT: usize = 360;
/// The space around it for names.
const LEFT: usize = 48;
const RIGHT: usize = 140;
const EDGE: usize = 16;
/// The most points that are shown: the newest.
const MOST_POINTS: usize = 400;

pub(super) fn draft(trend: &Trend) -> Draft {
    let first = trend.points.len().saturating_sub(MOST_POINTS);
    let points = &trend.points[first..];
    let mut criteria: Vec<Criterion> = Vec::new();
    for (criterion, ..) in points.iter().flat_map(|point| &point.totals) {
        if !criteria.contains(criterion) {
            criteria.push(*criterion);
        }
    }
    let body = html! {
        @if points.len() > 1 { (picture(points, &criteria)) } @else {
            p { "A picture needs two commits." }
        }
        (table(points, &criteria))
    };
    Draft {
        name: "trend.html".to_owned(),
        title: "Coverage by commit".to_owned(),
        lines: None,
        body: body.into_string(),
    }
}

fn x(index: usize, count: usize) -> usize {
    LEFT + index * (WIDTH - LEFT - RIGHT) / (count - 1).max(1)
}

fn y(tenths: u32) -> usize {
    EDGE + (1000 - tenths as usize) * (HEIGHT - 2 * EDGE) / 1000
}

fn picture(points: &[TrendPoint], criteria: &[Criterion]) -> Markup {
    let view = format!("0 0 {WIDTH} {HEIGHT}");
    let names = names(points, criteria);
    html! {
        div.scroll role="region" aria-label="Coverage by commit, as lines" tabindex="0" {
            svg.trend viewBox=(view) width=(WIDTH) height=(HEIGHT) role="img"
                aria-label={ "Coverage of " (points.len()) " commits; the table has the numbers" } {
                @for percent in [0, 25, 50, 75, 100] {
                    line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y(percent * 10)) y2=(y(percent * 10)) {}
                    text.axis x=(LEFT - 8) y=(y(percent * 10) + 4) { (percent) "%" }
                }
                @for (index, criterion) in criteria.iter().enumerate() {
                    polyline class={ "s" (index % 6) } points=(way(points, *criterion)) {}
                }
                @for (index, criterion, at) in names {
                    text class={ "s" (index % 6) } x=(WIDTH - RIGHT + 8) y=(at) { (criterion) }
                }
            }
        }
    }
}

/// The place of each criterion's name at the right end. Names do not overlap.
fn names(points: &[TrendPoint], criteria: &[Criterion]) -> Vec<(usize, Criterion, usize)> {
    let last = |criterion: Criterion| points.iter().rev().find_map(|it| it.percent(criterion));
    let mut all: Vec<(usize, Criterion, usize)> = criteria
        .iter()
        .enumerate()
        .filter_map(|(index, criterion)| Some((index, *criterion, y(last(*criterion)?.tenths()))))
        .collect();
    all.sort_by_key(|(.., at)| *at);
    let mut free = 0;
    for (.., at) in &mut all {
        *at = (*at + 4).max(free);
        free = *at + 14;
    }
    all
}

fn way(points: &[TrendPoint], criterion: Criterion) -> String {
    let mut text = String::new();
    for (index, point) in points.iter().enumerate() {
        if let Some(percent) = point.percent(criterion) {
            let _ = write!(text, "{},{} ", x(index, points.len()), y(percent.tenths()));
        }
    }
    text
}

fn table(points: &[TrendPoint], criteria: &[Criterion]) -> Markup {
    html! {
        (shell::columns("commits", criteria, 2))
        div.scroll role="region" aria-label="Commits" tabindex="0" {
            table id="commits" {
                thead { tr {
                    th scope="col" { "Commit" }
                    @for criterion in criteria { th scope="col" { (criterion) } }
                } }
                tbody {
                    @for point in points.iter().rev() {
                        tr {
                            th scope="row" { code { (name(point)) } }
                            @for criterion in criteria {
                                td.number { @if let Some(percent) = point.percent(*criterion) { (percent) } @else { "–" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn name(point: &TrendPoint) -> String {
    match &point.commit {
        Some(commit) => commit.chars().take(12).collect(),
        None => format!("at {}", point.time),
    }
}
