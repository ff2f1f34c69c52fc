//! References to labels and hyperlabels of several functions.

use lydian_ir::FuncId;
use lydian_objective::HyperId;
use lydian_objective::LabelId;
use serde::{Deserialize, Serialize};

/// A label of one of several functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LabelRef {
    /// The function.
    pub func: FuncId,
    /// The label's number in the function.
    pub label: LabelId,
}

/// A hyperlabel of one of several functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HyperRef {
    /// The function.
    pub func: FuncId,
    /// The hyperlabel's number in the function.
    pub hyper: HyperId,
}
