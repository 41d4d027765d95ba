import type { Resource } from "@isthmus/core";
import { conditionsOf, type PolicyCondition, type Tone } from "./status.ts";

/** A phase on the way of a policy into its clusters, as the server names its conditions. That it is accepted is its state. */
export type PhaseName = "Translated" | "Delivered" | "Applied";

/** How far a policy is in one phase, by its status. */
export interface PolicyPhase {
  readonly isDone: boolean;
  readonly tone: Tone;
  /** Of how many targets or objects it is so; undefined: the status does not say. */
  readonly done: number | undefined;
  readonly all: number | undefined;
  readonly message: string;
}

interface PhaseStatus {
  readonly observedGeneration?: number;
  readonly targetCount?: number;
  readonly acceptedCount?: number;
}

/** What the status of a policy says of a phase; undefined: nothing, or it is about an older generation. */
export function policyPhase(policy: Resource, name: PhaseName): PolicyPhase | undefined {
  const { observedGeneration = 0, targetCount, acceptedCount = 0 } = (policy as Resource & { readonly status?: PhaseStatus }).status ?? {};
  const condition = conditionsOf(policy).find(({ type }) => type === name);
  if (condition === undefined || (condition.status !== "True" && condition.status !== "False")) return undefined;
  if (observedGeneration < (policy.metadata.generation ?? 0)) return undefined;
  const message = condition.message ?? "";
  const counts = name === "Translated" ? { done: acceptedCount, all: targetCount } : countsIn(message);
  return { isDone: condition.status === "True", tone: toneOf(condition), done: undefined, all: undefined, ...counts, message };
}

// What is not there yet is no fault, and what a mode keeps from being written was asked for.
const WAITING: ReadonlySet<string> = new Set(["Pending"]);
const WITHHELD: ReadonlySet<string> = new Set(["Observed", "Frozen", "NoTargets", "NotCarriedOut"]);

function toneOf({ status, reason = "" }: PolicyCondition): Tone {
  if (status === "True") return "good";
  return WAITING.has(reason) ? "progress" : WITHHELD.has(reason) ? "warning" : "bad";
}

const LONGEST_COUNT = 9;

/** The numbers with which a message begins: `2 of 3 objects applied`. */
function countsIn(message: string): Partial<Pick<PolicyPhase, "done" | "all">> {
  const [done = "", of, all = "", what = ""] = message.slice(0, 40).split(" ", 4);
  if (of !== "of" || !what.startsWith("object") || !isCount(done) || !isCount(all)) return {};
  return { done: Number(done), all: Number(all) };
}

function isCount(text: string): boolean {
  return text !== "" && text.length <= LONGEST_COUNT && [...text].every((digit) => digit >= "0" && digit <= "9");
}
