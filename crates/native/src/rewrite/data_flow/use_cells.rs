//! The cells of a use, and how its text selects one of them, also where other units share the
//! variable.

use crate::rewrite::request::RewriteRequest;

/// The number of the last definition of a shared variable. A definition in another unit gives one
/// more than the unit's highest number.
pub(crate) const NUMBER: &str = "static __inline__ __attribute__((always_inline, unused)) unsigned long \
lydian_number(unsigned long long last, unsigned long long base, unsigned long most) \
{ return last == 0 ? 0 : last - base <= most ? (unsigned long)(last - base) : most + 1; }\n";

/// The cell of a use for the last definition of a shared variable. A definition in another unit is
/// entered into a table, and its cell follows those of the unit's own definitions.
pub(crate) const REACH: &str = "static __inline__ __attribute__((always_inline, unused)) unsigned long \
lydian_reach(unsigned long long last, unsigned long long base, unsigned long most, \
unsigned long first) { return last == 0 ? first : last - base <= most \
? first + (unsigned long)(last - base) : lydian_foreign(last, first + most + 1); }\n";

/// Whether a declaration has the attribute of default visibility.
pub(crate) fn says_visible(declaration: &str) -> bool {
    let text: String = declaration.split_whitespace().collect();
    ["visibility(\"default\")", "__visibility__(\"default\")"].iter().any(|s| text.contains(s))
}

/// Whether pairs with other units are wanted.
pub(crate) fn asks_others(request: &RewriteRequest<'_>) -> bool {
    let mut asked = request.watched.iter().flat_map(|of| of.hyper_criteria.keys());
    asked.any(|criterion| criterion.is_across_units())
}

/// The cells of a use.
pub(crate) struct UseCells {
    pub(crate) first: u32,
    /// The number of distinguished definitions: each way out of the use has so many cells.
    pub(crate) numbers: u32,
    /// The number of the definition that reached it, if several can.
    pub(crate) number: Option<ReachingNumber>,
}

/// The C text that gives the number of the definition that reached a use.
pub(crate) enum ReachingNumber {
    /// The number itself.
    Number(String),
    /// The variable that units share, with the base and the highest number of this unit.
    Shared(String, u64, u32),
}

impl UseCells {
    /// The cells of a way: the first, and how many.
    pub(crate) const fn cells(&self, way: u32) -> (u32, u32) {
        (self.first + way * self.numbers, self.numbers)
    }

    /// The text of the index of the cell of a way.
    pub(crate) fn cell(&self, way: u32) -> String {
        let first = self.cells(way).0;
        match &self.number {
            Some(ReachingNumber::Number(number)) => format!("{first} + {number}"),
            Some(ReachingNumber::Shared(last, base, most)) => {
                format!("lydian_reach({last}, {base}ull, {most}ul, {first}ul)")
            }
            None => first.to_string(),
        }
    }
}
