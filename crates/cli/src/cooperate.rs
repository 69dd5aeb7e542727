use std::sync::Arc;

use datafusion::{
    common::tree_node::{Transformed, TransformedResult, TreeNode},
    config::ConfigOptions,
    error::Result,
    physical_optimizer::PhysicalOptimizerRule,
    physical_plan::{ExecutionPlan, coop::CooperativeExec},
};

/// Has joins give way now and then. They don't by themselves: one of a few rows with a few more may
/// keep its thread for hours, and can't be stopped.
#[derive(Debug)]
pub(crate) struct CooperativeJoins;

impl PhysicalOptimizerRule for CooperativeJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let cooperative = plan.transform_up(|node| {
            Ok(if node.name().ends_with("JoinExec") {
                Transformed::yes(Arc::new(CooperativeExec::new(node)) as Arc<dyn ExecutionPlan>)
            } else {
                Transformed::no(node)
            })
        });
        cooperative.data()
    }

    fn name(&self) -> &'static str {
        "cooperative_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
