//! The engines that are compared, each driven through its public interface.

mod binary_heap;
mod convsim_engine;
mod desque_engine;
mod simcore_engine;

pub use binary_heap::HeapContender;
pub use convsim_engine::ConvsimContender;
pub use desque_engine::DesqueContender;
pub use simcore_engine::SimcoreContender;
