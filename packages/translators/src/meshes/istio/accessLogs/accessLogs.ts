import { type AccessLogPatch, type AccessLogRecord, EnvoyFilter, type Workload } from "@isthmus/api";
import { formatRef, md5Hex, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, reportOf } from "../../../findings.ts";
import { accessLogRecordFormOf } from "../../../policy/accessLogRecordForm.ts";
import { agentAddress } from "../../../policy/agentAddress.ts";
import { isWithinLimit, policyScopeFrom, workloadLocation } from "../../../policy/policyScope.ts";
import { selectsWorkload } from "../../../policy/selectors.ts";
import { emptyTranslation, type SelectedWorkloadInputs, type TargetTranslation } from "../../inputs.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";
import { accessLoggerOf } from "./accessLogger.ts";

/** For each AccessLogRecord in force on a Workload, an EnvoyFilter that has its proxies send access logs (docs/decisions/0094). */
export function accessLogsOf(inputs: SelectedWorkloadInputs): TargetTranslation {
  const { workload, accessLogRecords, agentNamespace, translationContext } = inputs;
  const { controller, podLabels = {} } = workload.spec?.kubernetes ?? {};
  if (controller === undefined || accessLogRecords.length === 0) return emptyTranslation;
  const target = refOf(workload);
  const all = (finding: Finding): TargetTranslation => ({
    outputs: [],
    reports: accessLogRecords.map((record) => reportOf(refOf(record), finding, target)),
  });
  const { namespace, clusterName } = controller;
  if (agentAddress(translationContext, { clusterName, agentNamespace }) === undefined) {
    const message = `${formatRef(target)} sends no access logs, because no agent is known in ${clusterName}: install one, or set agentServices.address of the Settings`;
    return all(invalidFinding("AgentAddressUnknown", message));
  }
  if (Object.keys(podLabels).length === 0) {
    const message = `${formatRef(target)} sends no access logs, because its pods have no labels by which an EnvoyFilter could select them alone: give them a label`;
    return all(invalidFinding("PodLabelsShared", message));
  }
  // A pod with all labels of a Workload that is selected is selected itself: no pod logs that was not meant, and none twice.
  const written = accessLogRecords.filter((record) => !inputs.coveredBy.some((one) => isSelectedBy(record, one, inputs)));
  const outputs = written.map((record) => {
    const identity = { name: filterName(record, workload), namespace, clusterName };
    const origin = originOf({ translationContext, parents: [record] });
    return outputOf({ ...identity, origin }, EnvoyFilter, { workloadSelector: { labels: podLabels }, configPatches: [patchOf(record)] });
  });
  return { outputs, reports: [] };
}

function isSelectedBy(record: AccessLogRecord, workload: Workload, { translationContext }: SelectedWorkloadInputs): boolean {
  const limit = policyScopeFrom(translationContext).limitOf(record);
  const { spec } = accessLogRecordFormOf(record);
  return spec !== undefined && isWithinLimit(limit, workloadLocation(workload)) && selectsWorkload(spec.workloadSelectors, workload);
}

/** One name for each record and Workload: names of records may have dots, so those of workload clusters begin with another word. */
function filterName(record: AccessLogRecord, workload: Workload): string {
  const { name, namespace = "", clusterName = "" } = record.metadata;
  const parts = [name, namespace, ...(clusterName === "" ? [] : [clusterName]), workload.metadata.name];
  const full = [clusterName === "" ? "accesslog" : "accesslog-of-cluster", ...parts].join(".");
  return full.length <= MOST_LETTERS ? full : `${full.slice(0, KEPT_LETTERS).replace(/[^a-z0-9]+$/, "")}-${md5Hex(full)}`;
}

// What names of most kinds may have, so that tools show them whole; an MD5 has 32 letters.
const MOST_LETTERS = 63;
const KEPT_LETTERS = MOST_LETTERS - 33;

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
