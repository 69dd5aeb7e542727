//! Vector indexes, which Lance alone makes and maintains.

use lance_index::pb::{
    HnswParameters, VectorIndexDetails, VectorMetricType,
    vector_index_details::{Compression, rabit_quantization::RotationType},
};
use lance_table::format::IndexMetadata;
use prost::Message;
use serde_json::{Map, Value, json};

use super::storage::{MovedRows, Storage, object};

/// What identifies them all in records.
pub(super) const ID: &str = "lance:vector";

const INDEX_TYPE: &str = "index_type";

/// Whether it is a segment of a vector index. Of these alone, Lance takes for each query, and for a
/// merge, only the rows of the fragments that they cover: none of their postings is ever untrue.
pub(crate) fn is_vector(segment: &IndexMetadata) -> bool {
    let details = segment.index_details.as_ref();
    details.is_some_and(|details| details.type_url.ends_with("VectorIndexDetails"))
}

#[derive(Debug)]
pub(super) struct Vector;

impl Storage for Vector {
    fn moved_rows(&self) -> MovedRows {
        MovedRows::Found
    }

    /// `ivf_pq`, as Lance calls it.
    fn name_with(&self, parameters: &Map<String, Value>) -> Option<String> {
        parameters.get(INDEX_TYPE)?.as_str().map(str::to_string)
    }

    /// In the form in which Lance's `describe_indices` has them. Old clients wrote none.
    fn parameters_in_manifest(&self, segment: &IndexMetadata) -> Option<Map<String, Value>> {
        let details = segment.index_details.as_ref().filter(|it| !it.value.is_empty())?;
        Some(parameters(VectorIndexDetails::decode(details.value.as_slice()).ok()?))
    }

    fn worth_showing(&self, mut parameters: Map<String, Value>) -> Map<String, Value> {
        parameters.remove(INDEX_TYPE);
        parameters
    }
}

fn parameters(details: VectorIndexDetails) -> Map<String, Value> {
    let mut parameters = Map::new();
    let mut index_type = "ivf_".to_string();
    if let Ok(metric) = VectorMetricType::try_from(details.metric_type) {
        parameters.insert("metric_type".to_string(), metric.as_str_name().to_uppercase().into());
    }
    if details.target_partition_size > 0 {
        let size = details.target_partition_size;
        parameters.insert("target_partition_size".to_string(), size.into());
    }
    if let Some(hnsw) = details.hnsw_index_config {
        index_type += "hnsw_";
        let HnswParameters { max_connections, construction_ef, max_level } = hnsw;
        let hnsw = json!({
            "max_connections": max_connections,
            "construction_ef": construction_ef,
            "max_level": max_level,
        });
        parameters.insert("hnsw".to_string(), hnsw);
    }
    let (name, compression) = match details.compression {
        None | Some(Compression::Flat(_)) => ("flat", Value::Null),
        Some(Compression::Pq(pq)) => {
            ("pq", json!({ "num_bits": pq.num_bits, "num_sub_vectors": pq.num_sub_vectors }))
        }
        Some(Compression::Sq(sq)) => ("sq", json!({ "num_bits": sq.num_bits })),
        Some(Compression::Rq(rq)) => {
            let rotation_type = match rq.rotation_type() {
                RotationType::Matrix => "matrix",
                RotationType::Fast => "fast",
            };
            ("rq", json!({ "num_bits": rq.num_bits, "rotation_type": rotation_type }))
        }
    };
    parameters.extend(object(compression));
    parameters.insert(INDEX_TYPE.to_string(), (index_type + name).into());
    parameters
}

#[cfg(test)]
mod tests {
    use lance_index::pb::vector_index_details::{ProductQuantization, RabitQuantization};

    use super::*;

    #[test]
    fn what_details_say() {
        let of = |compression, hnsw_index_config| {
            let details = VectorIndexDetails {
                metric_type: VectorMetricType::Cosine.into(),
                hnsw_index_config,
                compression,
                ..Default::default()
            };
            let parameters = parameters(details);
            let name = Vector.name_with(&parameters).unwrap();
            (name, Value::Object(Vector.worth_showing(parameters)).to_string())
        };
        let is = |name: &str, shown: &str| (name.to_string(), shown.to_string());
        let pq = ProductQuantization { num_bits: 8, num_sub_vectors: 16 };
        assert_eq!(
            of(Some(Compression::Pq(pq)), None),
            is("ivf_pq", r#"{"metric_type":"COSINE","num_bits":8,"num_sub_vectors":16}"#)
        );
        let rq = RabitQuantization { num_bits: 1, rotation_type: RotationType::Matrix.into() };
        assert_eq!(
            of(Some(Compression::Rq(rq)), None),
            is("ivf_rq", r#"{"metric_type":"COSINE","num_bits":1,"rotation_type":"matrix"}"#)
        );
        let hnsw = HnswParameters { max_connections: 20, construction_ef: 150, max_level: 7 };
        let (name, shown) = of(None, Some(hnsw));
        assert_eq!(name, "ivf_hnsw_flat");
        assert!(shown.contains(r#""construction_ef":150"#), "{shown}");
    }
}
