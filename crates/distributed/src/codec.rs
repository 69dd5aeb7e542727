//! The bytes of an [`AttemptExec`].

use std::{any::Any, sync::Arc};

use datafusion::{
    common::{Result, exec_datafusion_err, internal_err, not_impl_err},
    execution::TaskContext,
    physical_plan::ExecutionPlan,
};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;

use crate::{leaf::AttemptExec, units::Units, wire};

/// Encodes attempts in the driver, and decodes them in a worker.
#[derive(Debug)]
pub(crate) struct AttemptCodec {
    /// What runs them; `None` in the driver.
    pub units: Option<Units>,
}

impl PhysicalExtensionCodec for AttemptCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        _inputs: &[Arc<dyn ExecutionPlan>],
        _context: &TaskContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(units) = &self.units else {
            return internal_err!("a driver was sent an attempt");
        };
        let attempt = wire::decode(bytes).map_err(|refused| exec_datafusion_err!("{refused}"))?;
        Ok(Arc::new(AttemptExec::received(attempt, units.clone())))
    }

    // Codecs are tried one after the other on the same buffer: one that doesn't know the node must
    // leave it as it is.
    fn try_encode(&self, node: Arc<dyn ExecutionPlan>, buffer: &mut Vec<u8>) -> Result<()> {
        let plan: &dyn Any = node.as_ref();
        match plan.downcast_ref::<AttemptExec>().and_then(AttemptExec::message) {
            Some(message) => {
                buffer.extend_from_slice(message);
                Ok(())
            }
            None => not_impl_err!("{} isn't an attempt to be sent", node.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::{arrow::datatypes::Schema, physical_plan::empty::EmptyExec};

    use super::*;

    #[test]
    fn the_buffer_of_another_node_stays_as_it_is() {
        let codec = AttemptCodec { units: None };
        let mut buffer = b"before".to_vec();
        let other = Arc::new(EmptyExec::new(Arc::new(Schema::empty())));
        assert!(codec.try_encode(other, &mut buffer).is_err());
        assert_eq!(buffer, b"before");
        codec.try_encode(Arc::new(AttemptExec::sent(b"x".to_vec())), &mut buffer).unwrap();
        assert_eq!(buffer, b"beforex");
    }
}
