import {
  EnvoyFilter,
  shortenedMessage,
  type WasmDeployment,
  type WasmFilterReport,
  type WasmFilterState,
  type Workload,
  wasmOrderDigest,
} from "@isthmus/api";
import { type Condition, formatRef, keyOf, keyOfResource, type Report, type Resource, refOf } from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import type { TranslatedTarget } from "../pipeline/targets.ts";
import { wasmFilterName } from "../policy/policyFilterName.ts";
import { acceptedForm, isSoundAsWhole } from "./acceptedForm.ts";
import { appliedTo } from "./accessLogRecords.ts";
import { conditionsOf, type DeliveryProgress, messagesOf, publishedState } from "./approval.ts";
import { listedFirst } from "./listed.ts";

/** What the status of one WasmDeployment follows from. */
export interface WasmDeploymentSources {
  /** Findings about it. */
  readonly reports: readonly Report[];
  /** The Workloads that it selects. */
  readonly workloads: readonly TranslatedTarget[];
  /** What agents report of the filters of these Workloads, whichever WasmDeployment they are of. */
  readonly filterReports: readonly WasmFilterReport[];
  /** Undefined where nothing is delivered. */
  readonly progress: DeliveryProgress | undefined;
}

type WorkloadState = NonNullable<NonNullable<WasmDeployment["status"]>["workloadStates"]>[string];

/** How it stands on one Workload. */
interface Standing {
  readonly workload: Workload;
  readonly state: WorkloadState;
  readonly error?: string;
  /** What is waited for, where it is not the proxies. */
  readonly unanswered?: Unanswered;
  /** False where the proxies of its mesh are not configured. */
  readonly isWritten: boolean;
  /** EnvoyFilters of users beside it. */
  readonly beside: readonly string[];
}

/** Why what an agent has reported last is no answer to the order that is desired now. */
interface Unanswered {
  readonly reason: "Pending" | "AgentOutdated";
  readonly message: string;
}

/** The status of a WasmDeployment. */
export function wasmDeploymentStatus(deployment: WasmDeployment, sources: WasmDeploymentSources): object {
  const { reports, progress } = sources;
  const own = reports.filter(({ target }) => target === undefined);
  const ofTargets = reports.filter(({ target }) => target !== undefined);
  const standings = standingsOf(deployment, sources);
  const beside = standings.flatMap(({ workload, beside: names }) => names.map((name) => userFilterWarning(name, workload, deployment)));
  // Lists of texts have no room for what is said of each of thousands.
  const told = [...own, ...ofTargets.slice(0, TOLD), ...beside.slice(0, TOLD)];
  const refused = new Set(ofTargets.filter(({ state }) => state === "INVALID").map(({ target }) => target && keyOf(target)));
  const accepted = standings.filter(({ workload }) => !refused.has(keyOf(refOf(workload)))).length;
  const warnings = [...reports, ...beside].filter(({ state }) => state === "WARNING").length;
  const errors = [...(messagesOf(own).errors ?? []), ...standings.flatMap(({ error = "" }) => (error === "" ? [] : [error]))];
  const isReported = progress !== undefined;
  const written = standings.filter(({ isWritten }) => isWritten);
  return {
    ...observedMetadata(deployment),
    state: publishedState(reports),
    ...(errors[0] === undefined ? {} : { error: errors[0] }),
    ...(isReported && written.length > 0 ? { workloadStates: statesOf(written) } : {}),
    ...messagesOf(told),
    targetCount: standings.length,
    acceptedCount: accepted,
    ...(warnings === 0 ? {} : { warningCount: warnings }),
    conditions: [
      ...conditionsOf({ reports, targets: standings.length, accepted, progress }),
      ...(isReported && accepted > 0 && written.length > 0 ? [deployedCondition(written)] : []),
    ],
    ...acceptedForm(deployment, { isAccepted: isSoundAsWhole(own) }),
  };
}

const TOLD = 100;

function standingsOf(deployment: WasmDeployment, { reports, workloads, filterReports }: WasmDeploymentSources): readonly Standing[] {
  const byKey = new Map(filterReports.map((report) => [keyOfResource(report), report.status ?? {}]));
  const orders = ordersOf(workloads);
  const messagesIn = (sought: Report["state"]) =>
    new Map(reports.flatMap(({ state, target, message }) => (state === sought && target !== undefined ? [[keyOf(target), message]] : [])));
  const refusals = messagesIn("INVALID");
  // What an agent has refused is not as it is meant, whatever runs meanwhile.
  const failures = messagesIn("FAILED");
  const notWritten = new Set(
    reports.flatMap(({ code, target }) => (code === "MeshNotWritten" && target !== undefined ? [keyOf(target)] : [])),
  );
  return workloads
    .flatMap(({ inputs }): readonly Standing[] => {
      if (!("workload" in inputs)) return [];
      const { workload, coveredBy } = inputs;
      const key = keyOf(refOf(workload));
      if (notWritten.has(key)) return [{ workload, state: "DEPLOYMENT_PENDING", isWritten: false, beside: [] }];
      // Its pods may be found by the filter of another Workload.
      const finders = [workload, ...coveredBy];
      const refusal = refusals.get(key) ?? finders.flatMap((one) => failures.get(keyOf(refOf(one))) ?? [])[0];
      if (refusal !== undefined) return [{ workload, state: "DEPLOYMENT_FAILED", error: refusal, isWritten: true, beside: [] }];
      const order = finders.flatMap((one) => orders.get(reportKey(deployment, one)) ?? [])[0];
      const reported = order && byKey.get(keyOfResource(order));
      const unanswered = order && reported && unansweredBy(reported, order, workload);
      if (unanswered !== undefined) return [{ workload, state: "DEPLOYMENT_PENDING", unanswered, isWritten: true, beside: [] }];
      return [standingOf(workload, reported)];
    })
    .sort((a, b) => (nameOf(a.workload) < nameOf(b.workload) ? -1 : 1));
}

/** The EnvoyFilters that are desired now, by `keyOfResource`. */
function ordersOf(workloads: readonly TranslatedTarget[]): ReadonlyMap<string, Resource> {
  const filters = workloads.flatMap(({ outputs }) => outputs.filter(({ resource }) => resource.kind === EnvoyFilter.kind));
  return new Map(filters.map(({ resource }) => [keyOfResource(resource), resource]));
}

/** Undefined for a report that is about this very order: one about another says nothing of it, neither that it is carried out nor that it is refused. */
function unansweredBy({ orderSha256 = "" }: WasmFilterState, order: Resource, workload: Workload): Unanswered | undefined {
  if (orderSha256 === wasmOrderDigest(order)) return undefined;
  const where = formatRef(refOf(workload));
  const { clusterName } = refOf(order);
  if (orderSha256 !== "") return { reason: "Pending", message: `${where}: the agent of ${clusterName} has not answered this order yet` };
  const message = `${where}: the agent of ${clusterName} does not say which order it answers, so it may be an earlier one: upgrade the agent`;
  return { reason: "AgentOutdated", message };
}

function standingOf(workload: Workload, reported: WasmFilterState | undefined): Standing {
  const { proxies = 0, accepted = 0, refused = 0, refusal = "", unavailable = "", userFilters = [] } = reported ?? {};
  // An agent might say anything.
  const beside = userFilters.slice(0, MOST_BESIDE);
  const isWritten = true;
  const where = formatRef(refOf(workload));
  if (refused > 0) {
    const error = `${where}: ${refused} of ${proxies} proxies refuse a filter, and keep the one before: ${shortenedMessage(refusal)}`;
    return { workload, state: "DEPLOYMENT_FAILED", error, isWritten, beside };
  }
  if (unavailable !== "") {
    const error = `${where}: a module is not there, and is tried again: ${shortenedMessage(unavailable)}`;
    return { workload, state: "DEPLOYMENT_PENDING", error, isWritten, beside };
  }
  return { workload, state: proxies > 0 && accepted >= proxies ? "FILTERS_DEPLOYED" : "DEPLOYMENT_PENDING", isWritten, beside };
}

const MOST_BESIDE = 10;

/** The keys (`keyOfResource`) under which agents may report of a Workload's filters. */
export function reportKeysOf({ inputs }: TranslatedTarget): readonly string[] {
  if (!("workload" in inputs)) return [];
  const { wasmDeployments, workload, coveredBy } = inputs;
  return wasmDeployments.flatMap((deployment) => [workload, ...coveredBy].map((one) => reportKey(deployment, one)));
}

function reportKey(deployment: WasmDeployment, workload: Workload): string {
  const { namespace = "", clusterName = "" } = workload.spec?.kubernetes?.controller ?? {};
  return keyOf({ name: wasmFilterName(deployment, workload), namespace, clusterName });
}

function nameOf({ metadata: { name, namespace = "" } }: Workload): string {
  return `${name}.${namespace}.`;
}

function statesOf(standings: readonly Standing[]): Readonly<Record<string, WorkloadState>> {
  const states = new Map(standings.map(({ workload, state }) => [nameOf(workload), state]));
  const isState = (state: WorkloadState) => (key: string) => states.get(key) === state;
  const listed = listedFirst([...states.keys()].sort(), [isState("DEPLOYMENT_FAILED"), isState("DEPLOYMENT_PENDING")]);
  return Object.fromEntries(listed.map((key) => [key, states.get(key) ?? "DEPLOYMENT_PENDING"]));
}

/** Whether proxies run the filters, as far as agents say. */
function deployedCondition(standings: readonly Standing[]): Condition {
  const count = (state: WorkloadState) => standings.filter((one) => one.state === state).length;
  const [deployed, failed] = [count("FILTERS_DEPLOYED"), count("DEPLOYMENT_FAILED")];
  const all = `${deployed} of ${standings.length} workload${standings.length === 1 ? "" : "s"}`;
  const error = standings.find((one) => one.error !== undefined)?.error;
  const message = error === undefined ? `deployed on ${all}` : `deployed on ${all}; ${error}`;
  const type = "FiltersDeployed";
  if (failed > 0) return { type, status: "False", reason: "Refused", message };
  if (deployed === standings.length) return { type, status: "True", reason: "Deployed", message };
  if (error !== undefined) return { type, status: "False", reason: "ModuleUnavailable", message };
  const unanswered = standings.flatMap((one) => one.unanswered ?? []);
  // An agent answers by itself within seconds; that one is to be upgraded somebody has to read.
  const said = unanswered.find(({ reason }) => reason === "AgentOutdated") ?? unanswered[0];
  const { reason, message: why } = said ?? { reason: "Pending", message: "the proxies of the others have not answered" };
  return { type, status: "Unknown", reason, message: `${message}; ${why}` };
}

function userFilterWarning(name: string, workload: Workload, deployment: WasmDeployment): Report {
  const { clusterName = "" } = workload.spec?.kubernetes?.controller ?? {};
  const message =
    `EnvoyFilter ${shortenedMessage(name)} in ${clusterName} of a user changes HTTP filters of ${formatRef(refOf(workload))} too, ` +
    "so which filter a request reaches first depends on the priority of both: compare them with spec.weight";
  return { subject: refOf(deployment), target: refOf(workload), state: "WARNING", code: "UserFilterBeside", message };
}

/** The WasmDeployments of a Workload, each with its errors there. */
export function appliedDeployments(target: TranslatedTarget): object {
  if (!("workload" in target.inputs) || target.inputs.wasmDeployments.length === 0) return {};
  return { appliedWasmDeployments: appliedTo(target, target.inputs.wasmDeployments) };
}
