//! Arguments of augmented exploration.

use clap::{Args, ValueEnum};
use lydian::exploration::{Augmentation, AugmentationKind};
use lydian_objective::Criterion;

/// Tests with values that a tester would choose.
#[derive(Debug, Args)]
pub(crate) struct AugmentationArgs {
    /// Transform the conditions of the paths that cover something new, and keep tests that satisfy them,
    /// too: of these kinds, separated by commas. Each kind is a criterion (`aug-boundary` and so on)
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "KINDS",
        conflicts_with_all = ["mode", "label_deletion"]
    )]
    pub(crate) augment: Vec<TransformationArg>,
    /// With --augment: what of its path a transformed condition keeps
    #[arg(long, value_enum, default_value_t = KindArg::Weak, requires = "augment")]
    pub(crate) augmentation: KindArg,
    /// With --augment: transform each occurrence of a condition on a path, as in each turn of a loop, and
    /// keep a test for each, instead of one for each place of the source
    #[arg(long, requires = "augment")]
    pub(crate) each_occurrence: bool,
}

/// A kind of transformed conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransformationArg {
    /// Operands of comparisons inside, on and outside of the border
    Boundary,
    /// Mutants of operators and operands have another value
    Mutation,
    /// Conditions decide their decisions, and do not
    Logic,
    /// Operations fail, and do not
    Errors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// The conditions before it
    Weak,
    /// All conditions of the path
    Strict,
}

impl AugmentationArgs {
    /// The criteria of the chosen transformations.
    pub(crate) fn criteria(&self) -> impl Iterator<Item = Criterion> + '_ {
        self.augment.iter().map(|kind| match kind {
            TransformationArg::Boundary => Criterion::AugBoundary,
            TransformationArg::Mutation => Criterion::AugMutation,
            TransformationArg::Logic => Criterion::AugLogic,
            TransformationArg::Errors => Criterion::AugErrors,
        })
    }

    /// The augmentation of explorations, if there is any.
    pub(crate) fn augmentation(&self) -> Option<Augmentation> {
        let kind = match self.augmentation {
            KindArg::Weak => AugmentationKind::Weak,
            KindArg::Strict => AugmentationKind::Strict,
        };
        let each_occurrence = self.each_occurrence;
        (!self.augment.is_empty()).then_some(Augmentation { kind, each_occurrence })
    }
}
