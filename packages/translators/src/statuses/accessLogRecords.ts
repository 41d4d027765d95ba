import type { AccessLogRecord } from "@isthmus/api";
import { keyOf, type Report, type Resource, refOf } from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import type { TranslatedTarget } from "../pipeline/targets.ts";
import { userKeyOf, userRefOf } from "../policy/userResources.ts";
import { acceptedForm, isSoundAsWhole } from "./acceptedForm.ts";
import { conditionsOf, type DeliveryProgress, messagesOf, publishedState } from "./approval.ts";
import { LISTED } from "./listed.ts";

/** What the status of one AccessLogRecord follows from. */
export interface AccessLogRecordSources {
  /** Findings about it. */
  readonly reports: readonly Report[];
  /** The Workloads that it selects. */
  readonly workloads: readonly TranslatedTarget[];
  /** Undefined where nothing is delivered. */
  readonly progress: DeliveryProgress | undefined;
}

/** The status of an AccessLogRecord. */
export function accessLogRecordStatus(record: AccessLogRecord, { reports, workloads, progress }: AccessLogRecordSources): object {
  const own = reports.filter(({ target }) => target === undefined);
  // Lists of texts have no room for what is said of each of thousands.
  const told = [...own, ...reports.filter(({ target }) => target !== undefined).slice(0, TOLD)];
  const refused = refusedOn(reports);
  const inForce = workloads.flatMap(({ inputs }) =>
    "workload" in inputs && !refused.has(keyOf(refOf(inputs.workload))) ? [inputs.workload] : [],
  );
  const refs = inForce.map((workload) => userRefOf(workload)).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  return {
    ...observedMetadata(record),
    state: publishedState(reports),
    ...(refs.length === 0 ? {} : { workloads: refs.slice(0, LISTED) }),
    ...messagesOf(told),
    targetCount: workloads.length,
    acceptedCount: refs.length,
    ...(warnings === 0 ? {} : { warningCount: warnings }),
    conditions: conditionsOf({ reports, targets: workloads.length, accepted: refs.length, progress }),
    ...acceptedForm(record, { isAccepted: isSoundAsWhole(own) }),
  };
}

const TOLD = 100;

/** The keys of the Workloads on which something is refused of which some reports tell. */
function refusedOn(reports: readonly Report[]): ReadonlySet<string> {
  return new Set(reports.flatMap(({ state, target }) => (target === undefined || state !== "INVALID" ? [] : [keyOf(target)])));
}

function placeOf({ name, namespace }: { readonly name: string; readonly namespace: string }): string {
  return `${namespace}/${name}`;
}

/** The AccessLogRecords of a Workload, each with its errors there. */
export function appliedRecords({ inputs, reports }: TranslatedTarget): object {
  if (!("workload" in inputs) || inputs.accessLogRecords.length === 0) return {};
  return { appliedAccessLogRecords: appliedTo({ reports }, inputs.accessLogRecords) };
}

/** What users wrote for a target, each with its errors there. */
export function appliedTo({ reports }: Pick<TranslatedTarget, "reports">, objects: readonly Resource[]): readonly object[] {
  return objects.map((object) => {
    const key = userKeyOf(refOf(object));
    const errors = reports.filter(({ state, subject }) => state === "INVALID" && userKeyOf(subject) === key).map(({ message }) => message);
    const { generation } = object.metadata;
    return {
      ref: userRefOf(object),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      ...(errors.length === 0 ? {} : { errors }),
    };
  });
}
