import { type AccessLogPatch, type AccessLogRecord, EnvoyFilter } from "@isthmus/api";
import { refOf } from "@isthmus/core";
import { reportOf } from "../../../findings.ts";
import { accessLogRecordFormOf } from "../../../policy/forms/accessLogRecordForm.ts";
import { policyFilterName } from "../../../policy/policyFilterName.ts";
import { emptyTranslation, type SelectedWorkloadInputs, type TargetTranslation } from "../../inputs.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";
import { coveringWorkload, workloadProblem } from "../workloadFilters.ts";
import { accessLoggerOf } from "./accessLogger.ts";

/** For each AccessLogRecord in force on a Workload, an EnvoyFilter that has its proxies send access logs (docs/decisions/0094). */
export function accessLogsOf(inputs: SelectedWorkloadInputs): TargetTranslation {
  const { workload, accessLogRecords, translationContext } = inputs;
  const { controller, podLabels = {} } = workload.spec?.kubernetes ?? {};
  if (controller === undefined || accessLogRecords.length === 0) return emptyTranslation;
  const problem = workloadProblem(inputs, "sends no access logs");
  if (problem !== undefined) {
    return { outputs: [], reports: accessLogRecords.map((record) => reportOf(refOf(record), problem, refOf(workload))) };
  }
  const { namespace, clusterName } = controller;
  const written = accessLogRecords.filter((record) => {
    const { spec } = accessLogRecordFormOf(record);
    return coveringWorkload(record, spec && (spec.workloadSelectors ?? []), inputs) === undefined;
  });
  const outputs = written.map((record) => {
    const identity = { name: policyFilterName("accesslog", record, workload.metadata.name), namespace, clusterName };
    const origin = originOf({ translationContext, parents: [record] });
    return outputOf({ ...identity, origin }, EnvoyFilter, { workloadSelector: { labels: podLabels }, configPatches: [patchOf(record)] });
  });
  return { outputs, reports: [] };
}

function patchOf(record: AccessLogRecord): AccessLogPatch {
  const filter = { name: "envoy.filters.network.http_connection_manager" } as const;
  return {
    applyTo: "NETWORK_FILTER",
    match: { context: "ANY", listener: { filterChain: { filter } } },
    patch: {
      operation: "MERGE",
      value: {
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
          // What is there stays: a list is appended to.
          access_log: [accessLoggerOf(record)],
        },
      },
    },
  };
}
