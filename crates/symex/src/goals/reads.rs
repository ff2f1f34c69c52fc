//! Reads of predicates on a state, which are the keys of their cached results.

use lydian_eval::{StateReader as _, Traps};
use lydian_ir::{Expr, ExprArena, ExprId, Type};
use lydian_smt::{Term, TermPool};

use crate::StateView;
use crate::goals::cache_keys::{
    FewPlaces, LoadKey, LoadPlace, PlaceContent, PredicateCache, ReadPlace, register,
};
use crate::machine::evaluation::{LoadEffects, as_read};
use crate::machine::memory::Region;

impl PredicateCache {
    /// The places that an expression of a predicate reads; `None` if it is not cacheable.
    pub(crate) fn places_of(
        &mut self,
        scope: &StateView<'_, '_>,
        exprs: &ExprArena,
        expr: ExprId,
    ) -> Option<FewPlaces<ReadPlace>> {
        let func = scope.state.frame().func;
        self.reads(func, exprs, expr, |local| scope.context.register_type(func, local))
    }

    /// The content of a place that a predicate reads.
    pub(crate) fn read(
        &mut self,
        scope: &mut StateView<'_, '_>,
        pool: &mut TermPool,
        exprs: &ExprArena,
        place: ReadPlace,
    ) -> Option<PlaceContent> {
        self.note_additions(scope.bounds.adds());
        let value = match place {
            ReadPlace::Register(local) => {
                let value = register(&scope.state.frame().registers, local)?;
                scope.chosen(pool, value)
            }
            ReadPlace::Address(local) => scope.local_address(pool, local).ok()?,
            ReadPlace::Memory(load) => return self.read_memory(scope, pool, exprs, load),
        };
        Some(PlaceContent { value, defined: pool.tt() })
    }

    /// The key for the address of a load of a predicate; `None` if it is not cacheable.
    fn load_key(
        &mut self,
        scope: &mut StateView<'_, '_>,
        pool: &mut TermPool,
        exprs: &ExprArena,
        (load, addr): (ExprId, ExprId),
    ) -> Option<LoadKey> {
        let func = scope.state.frame().func;
        let mut values = FewPlaces::new();
        for place in self.places_of(scope, exprs, addr)? {
            values.push(self.read(scope, pool, exprs, place)?);
        }
        Some(LoadKey { func, load, values })
    }

    /// The content that a load of a predicate reads.
    fn read_memory(
        &mut self,
        scope: &mut StateView<'_, '_>,
        pool: &mut TermPool,
        exprs: &ExprArena,
        load: ExprId,
    ) -> Option<PlaceContent> {
        let Expr::Load { ty, addr, .. } = exprs[load] else { return None };
        let key = self.load_key(scope, pool, exprs, (load, addr));
        match key.as_ref().and_then(|key| self.located(key)) {
            Some(LoadPlace { address: None, meets }) => {
                scope.bounds.meet_again(&meets);
                return Some(PlaceContent { value: pool.ff(), defined: pool.ff() });
            }
            Some(LoadPlace { address: Some(address), meets }) => {
                if let Some(value) = self.load_known(scope, pool, ty, address) {
                    scope.bounds.meet_again(&meets);
                    return Some(PlaceContent { value, defined: pool.tt() });
                }
            }
            None => {}
        }
        let mut traps = Traps::none();
        let (value, effects) = scope.eval_observed_load(pool, exprs, load, &mut traps);
        let LoadEffects { meets, tells } = effects;
        let value = value.ok()?;
        let defined = traps.absent(pool);
        let holds_elsewhere = !tells && !scope.bounds.adds() && scope.bounds.guard().is_none();
        if let Some(key) = key.filter(|_| holds_elsewhere) {
            let address = scope.eval_predicate(pool, exprs, addr, &mut Traps::none()).ok()?;
            let located = pool.as_u64(address).and_then(|address| {
                let is_fixed = matches!(Region::of(address), Some(Region::Input | Region::Global));
                let address = pool.as_bool(defined)?.then_some(address);
                (address.is_some() || is_fixed).then_some(LoadPlace { address, meets })
            });
            if let Some(located) = located {
                self.locate(key, located);
            }
        }
        Some(PlaceContent { value, defined })
    }

    /// The value of type `ty` at an address that was read without a trap before; `None` unless it
    /// lies in an object as directly as at that time.
    fn load_known(
        &mut self,
        scope: &mut StateView<'_, '_>,
        pool: &mut TermPool,
        ty: Type,
        address: u64,
    ) -> Option<Term> {
        let size = ty.bytes();
        let (object, offset) = scope.state.memory.known_place(address, size)?;
        if scope.bounds.is_open() && object.contents.part_of_wider(offset as i64, size).is_some() {
            return None;
        }
        let value = object.contents.read(pool, offset, size);
        let value = as_read(pool, ty, value);
        Some(scope.chosen(pool, value))
    }
}
