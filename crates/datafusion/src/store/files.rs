//! Data files.

use std::collections::HashSet;

use futures::StreamExt;
use lance_table::format::Fragment;

use super::version::TableVersion;

/// Files that are removed at the same time.
const CONCURRENT_FILES: usize = 16;

/// The paths of the data files that the version names.
pub(super) fn live(table: &TableVersion) -> HashSet<&str> {
    paths(table.dataset.fragments()).collect()
}

/// The paths of the fragments' data files.
pub(super) fn paths(fragments: &[Fragment]) -> impl Iterator<Item = &str> {
    fragments.iter().flat_map(|fragment| &fragment.files).map(|file| file.path.as_str())
}

/// Removes the data files of new fragments that no commit names; all are kept where the latest
/// manifest names any of them all the same.
///
/// What can't be removed is left to Lance's cleanup: this never fails.
pub(super) async fn discard(table: &TableVersion, fragments: &[Fragment]) {
    if fragments.is_empty() {
        return;
    }
    let Ok(latest) = table.latest().await else { return };
    let Ok(store) = table.dataset.object_store(None).await else { return };
    let live = live(&latest);
    if paths(fragments).any(|path| live.contains(path)) {
        return;
    }
    let removals = paths(fragments).map(|path| {
        let (store, path) = (store.clone(), table.dataset.data_dir().join(path));
        async move {
            if let Err(error) = store.delete(&path).await {
                tracing::debug!(%path, %error, "left to cleanup");
            }
        }
    });
    let removals: Vec<_> = removals.collect();
    futures::stream::iter(removals).buffer_unordered(CONCURRENT_FILES).collect::<()>().await;
}
