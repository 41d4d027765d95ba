import type { ApprovalStatus } from "@isthmus/api";
import { type Condition, type Report, worstState } from "@isthmus/core";
import { NOT_CARRIED_OUT } from "../findings.ts";
import { type NetworkLayer, networkCondition } from "./networkLayer.ts";

type State = "ACCEPTED" | "INVALID" | "FAILED";

/** The published state of findings. A warning is no state: what it is about is accepted. */
export function publishedState(reports: Iterable<Pick<Report, "state">>): State {
  const worst = worstState(reports);
  return worst === "WARNING" ? "ACCEPTED" : worst;
}

/** How a policy stands on one target. Zero values are left out, as everywhere in the published API. */
export function approvalOf(reports: readonly Report[], acceptanceOrder?: number): ApprovalStatus {
  return { ...(acceptanceOrder ? { acceptanceOrder } : {}), state: publishedState(reports), ...messagesOf(reports) };
}

/** Errors and warnings of findings, each list only when there are any. */
export function messagesOf(reports: readonly Report[]): { readonly errors?: readonly string[]; readonly warnings?: readonly string[] } {
  const errors = reports.filter(({ state }) => state === "INVALID" || state === "FAILED").map(({ message }) => message);
  const warnings = reports.filter(({ state }) => state === "WARNING").map(({ message }) => message);
  return { ...(errors.length === 0 ? {} : { errors }), ...(warnings.length === 0 ? {} : { warnings }) };
}

/** How far the objects of one user's resource have come. */
export interface DeliveryProgress {
  readonly total: number;
  readonly applied: number;
  readonly failed: number;
  /** In clusters of which nothing was heard since the server started. */
  readonly unheard: number;
  /** Not as desired in clusters where nothing may be written, by the words for the cluster. */
  readonly pending: Readonly<Record<string, number>>;
  /** What Cilium makes of them, where it enforces some. */
  readonly network?: NetworkLayer;
}

/** Nothing is to be delivered. */
export const NO_PROGRESS: DeliveryProgress = { total: 0, applied: 0, failed: 0, unheard: 0, pending: {} };

/** What the conditions are made of. */
export interface ConditionInputs {
  readonly reports: readonly Report[];
  /** Number of targets, and of those where it is in force. */
  readonly targets: number;
  readonly accepted: number;
  /** Undefined where nothing is delivered, as offline. */
  readonly progress: DeliveryProgress | undefined;
}

/** The standard conditions of a user's resource, without times. */
export function conditionsOf(standing: ConditionInputs): readonly Condition[] {
  const { progress } = standing;
  const fixed = [acceptedCondition(standing), translatedCondition(standing)];
  if (progress === undefined) return fixed;
  // What is nowhere accepted is not applied as it is, whatever is written because of it; that it can't be written is said all the same.
  if (standing.accepted === 0 && progress.failed === 0) {
    return [...fixed, ...["Delivered", "Applied"].map((type) => notAccepted(type, standing, progress.total))];
  }
  const enforced = progress.network === undefined ? [] : [networkCondition(progress.network)];
  return [...fixed, deliveredCondition(progress), appliedCondition(progress, standing.reports), ...enforced];
}

function notAccepted(type: string, standing: ConditionInputs, objects: number): Condition {
  const { reason, message } = nowhere(standing);
  const rest =
    objects === 0
      ? "so nothing is written"
      : `with ${count(objects, "object")} desired: its last accepted spec or, for an AccessPolicy, a rule that allows no callers`;
  return { type, status: "False", reason, message: `${message}, ${rest}` };
}

/** Why something is accepted on no target. */
function nowhere({ reports, targets }: ConditionInputs): Pick<Condition, "reason" | "message"> {
  if (targets > 0) return { reason: "Refused", message: "accepted on no target" };
  // What is refused as a whole selects nothing, and may well name what is there.
  const isRefused = reports.some(({ state, target }) => state === "INVALID" && target === undefined);
  return isRefused ? { reason: "Refused", message: "not accepted" } : { reason: "NoTargets", message: "nothing is selected" };
}

function acceptedCondition({ reports }: ConditionInputs): Condition {
  const fault = reports.find(({ state }) => state === "INVALID");
  if (fault !== undefined) return { type: "Accepted", status: "False", reason: fault.code, message: fault.message };
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  const message = warnings === 0 ? "valid" : `valid, with ${count(warnings, "warning")}`;
  return { type: "Accepted", status: "True", reason: "Accepted", message };
}

function translatedCondition(standing: ConditionInputs): Condition {
  const { targets, accepted } = standing;
  if (targets === 0) return { type: "Translated", status: "False", ...nowhere(standing) };
  const message = `accepted on ${accepted} of ${count(targets, "target")}`;
  return {
    type: "Translated",
    status: accepted === targets ? "True" : "False",
    reason: accepted === targets ? "Translated" : "Refused",
    message,
  };
}

function deliveredCondition(progress: DeliveryProgress): Condition {
  const { total, applied, failed, unheard } = progress;
  const answered = applied + failed + pendingOf(progress);
  const message = `${answered} of ${count(total, "object")} delivered to their clusters`;
  if (answered === total) return { type: "Delivered", status: "True", reason: "Delivered", message };
  return unheard > 0 ? notHeard("Delivered", progress) : { type: "Delivered", status: "False", reason: "Pending", message };
}

function appliedCondition(progress: DeliveryProgress, reports: readonly Report[]): Condition {
  const { total, applied, failed, unheard } = progress;
  const message = `${applied} of ${count(total, "object")} applied${failed === 0 ? "" : `, ${failed} refused`}`;
  if (failed > 0) return { type: "Applied", status: "False", reason: "WriteFailed", message };
  if (pendingOf(progress) > 0) return notWritten(progress, message);
  const undone = fieldsNotCarriedOut(reports);
  if (applied === total && undone !== undefined) {
    return {
      type: "Applied",
      status: "False",
      reason: "NotCarriedOut",
      message: `${message}, but not carried out: ${undone} (see warnings)`,
    };
  }
  if (applied === total) {
    // Not more than we know: the proxies are the mesh's.
    const told = total === 0 ? message : `${message} to their API servers; the mesh updates its proxies asynchronously`;
    return { type: "Applied", status: "True", reason: "Applied", message: told };
  }
  return unheard > 0 ? notHeard("Applied", progress) : { type: "Applied", status: "False", reason: "Pending", message };
}

function pendingOf({ pending }: DeliveryProgress): number {
  return Object.values(pending).reduce((sum, count) => sum + count, 0);
}

/** What an observed or frozen cluster lacks: not a fault, and not applied. */
function notWritten({ pending }: DeliveryProgress, message: string): Condition {
  const places = Object.entries(pending).sort(([a], [b]) => (a < b ? -1 : 1));
  const listed = places.slice(0, LISTED_PLACES).map(([place, number]) => `${count(number, "object")} would be written in ${place}`);
  const others = places.length - listed.length;
  const reason = places.some(([place]) => place.endsWith("observed")) ? "Observed" : "Frozen";
  const more = others > 0 ? ` and more in ${count(others, "other cluster")}` : "";
  return { type: "Applied", status: "False", reason, message: `${message}; ${listed.join(", ")}${more}` };
}

const LISTED_PLACES = 5;

/** Of what nobody carries out the first fields, by the findings that say so; undefined where there is nothing of the kind. */
function fieldsNotCarriedOut(reports: readonly Report[]): string | undefined {
  const messages = reports.filter(({ state, code }) => state === "WARNING" && NOT_CARRIED_OUT.has(code)).map(({ message }) => message);
  const fields = [
    ...new Set(messages.map((message) => (message.startsWith("spec.") ? message.slice(0, message.indexOf(": ")) : "a target"))),
  ];
  if (fields.length === 0) return undefined;
  const others = fields.length - LISTED_FIELDS;
  return `${fields.slice(0, LISTED_FIELDS).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

const LISTED_FIELDS = 3;

/** The reason of a condition that is unknown because agents have not answered since the server started. */
export const NOT_REPORTED = "NotHeard";

function notHeard(type: string, { unheard }: DeliveryProgress): Condition {
  const message = `${count(unheard, "object")} in clusters that have not responded since the server started`;
  return { type, status: "Unknown", reason: NOT_REPORTED, message };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
