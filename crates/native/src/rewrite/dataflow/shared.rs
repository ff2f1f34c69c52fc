//! How the cells of a use are found, also where other units share the variable.

use super::super::RewriteRequest;

/// The number that a shared variable says, one more than the last for a definition in another unit.
pub(super) const NUMBER: &str = "static __inline__ __attribute__((always_inline, unused)) unsigned long \
lydian_number(unsigned long long last, unsigned long long base, unsigned long most) \
{ return last == 0 ? 0 : last - base <= most ? (unsigned long)(last - base) : most + 1; }\n";

/// The cell of a use that the last definition reaches: that of one in another unit, which is entered
/// into a table, follows those of this one's.
pub(super) const REACH: &str = "static __inline__ __attribute__((always_inline, unused)) unsigned long \
lydian_reach(unsigned long long last, unsigned long long base, unsigned long most, \
unsigned long first) { return last == 0 ? first : last - base <= most \
? first + (unsigned long)(last - base) : lydian_foreign(last, first + most + 1); }\n";

/// Whether a declaration says that other linked files see what it declares.
pub(super) fn says_visible(declaration: &str) -> bool {
    let text: String = declaration.split_whitespace().collect();
    ["visibility(\"default\")", "__visibility__(\"default\")"].iter().any(|s| text.contains(s))
}

/// Whether pairs with other units are asked for.
pub(super) fn asks_others(request: &RewriteRequest<'_>) -> bool {
    let mut asked = request.watched.iter().flat_map(|of| of.hyper_criteria.keys());
    asked.any(|criterion| criterion.is_across_units())
}

/// The cells of a use.
pub(super) struct Table {
    pub(super) first: u32,
    /// How many definitions are told apart; each way out of the use has so many cells.
    pub(super) numbers: u32,
    /// What says which definition reached it, if more than one can.
    pub(super) number: Option<Which>,
}

/// What says which definition reached a use.
pub(super) enum Which {
    /// Its number, as a text.
    Number(String),
    /// What a variable says that units share, with the base of this unit and the highest number of
    /// its own.
    Shared(String, u64, u32),
}

impl Table {
    /// The cells of a way: the first, and how many.
    pub(super) const fn cells(&self, way: u32) -> (u32, u32) {
        (self.first + way * self.numbers, self.numbers)
    }

    /// The text of the index of the cell of a way.
    pub(super) fn cell(&self, way: u32) -> String {
        let first = self.cells(way).0;
        match &self.number {
            Some(Which::Number(number)) => format!("{first} + {number}"),
            Some(Which::Shared(last, base, most)) => {
                format!("lydian_reach({last}, {base}ull, {most}ul, {first}ul)")
            }
            None => first.to_string(),
        }
    }
}
