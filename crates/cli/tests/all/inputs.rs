//! What users say of inputs, contracts and objectives.

mod settings_and_objectives;
mod stated_in_c;
