//! Coverage as pages to look at.
//!
//! A report is a folder of pages that need no server and nothing from elsewhere: an index, a list of all
//! functions, a list of exclusions, and the lines of each file with their coverage. No page is larger than
//! 2 MB: a long file is cut where functions begin, and long lists of a line or a function have pages of
//! their own. Scripts are needed only for sorting, filtering, choosing a criterion, and drawing definitions
//! to their uses. No information is in a colour alone.

mod decision;
mod draft;
mod function;
mod highlight;
mod index;
mod lists;
mod objectives;
mod shell;
mod source;
mod trend;
mod view;

use draft::{Draft, PageIndex, in_parallel};
use view::Site;

pub use draft::Page;

use crate::report::Report;
use crate::totals::trend::Trend;

/// The pages of a report, with their style and script, and with the trend of coverage if it is given.
/// They are made on all processors.
pub fn pages(report: &Report, trend: Option<&Trend>) -> Vec<Page> {
    let site = Site::new(report);
    let drafts = in_parallel(site.files.len(), |index| source::drafts(&site, &site.files[index]));
    let parts = |drafts: &Vec<Draft>| {
        let parts =
            drafts.iter().filter_map(|draft| Some((draft.lines.clone()?, draft.name.clone())));
        parts.collect()
    };
    let page_index = PageIndex(drafts.iter().map(parts).collect());
    let mut lists = vec![index::draft(&site, trend.is_some())];
    lists.extend(trend.map(trend::draft));
    lists.extend(lists::functions(&site));
    lists.extend(lists::excluded(&site));
    let drafts: Vec<Draft> = lists.into_iter().chain(drafts.into_iter().flatten()).collect();
    let mut pages = in_parallel(drafts.len(), |index| page_index.page(&drafts[index]));
    for (name, text) in [
        ("style.css", include_str!("html/style.css")),
        ("report.js", include_str!("html/report.js")),
    ] {
        pages.push(Page { name: name.to_owned(), text: text.to_owned() });
    }
    pages
}
