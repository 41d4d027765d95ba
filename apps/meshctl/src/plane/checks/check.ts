import type { Resource } from "@isthmus/core";
import type { CheckCode } from "./codes.ts";
import type { PlaneState } from "./planeState.ts";

/** Severities, worst first. Those of insights and findings of files; an info changes no exit code unless it is asked for. */
export const SEVERITIES = ["error", "warning", "info"] as const;
export type CheckSeverity = (typeof SEVERITIES)[number];

/** The categories of checks of the management plane, in the order in which they are printed, by the words that select them. */
export const CATEGORIES = {
  "gloo-mesh": "Gloo Mesh",
  clusters: "Clusters",
  configuration: "Management Configuration",
  meshes: "Meshes",
  federation: "Federation",
  access: "Access",
} as const;
export type CategoryWord = keyof typeof CATEGORIES;

/** Something that a check found. */
export interface CheckFinding {
  readonly code: CheckCode;
  readonly severity: CheckSeverity;
  /** Names the object. */
  readonly message: string;
  /** What to do, or the command that tells more. */
  readonly remedy: string;
}

/** One check: a pure function of what was read. */
export interface Check<State = PlaneState> {
  readonly category: string;
  /** What holds when it finds nothing. */
  readonly description: string;
  /** What it needs: without it the check says nothing, and the result is incomplete. */
  readonly reads: readonly (keyof State & string)[];
  /** What it can do without: it then finds less, or says it in other words. */
  readonly uses?: readonly (keyof State & string)[];
  /** The codes of insights that it prints, which no other check then does. */
  readonly codes?: readonly CheckCode[];
  /** False where there is nothing to check: nothing is printed of it. Without it there always is. */
  applies?(state: State): boolean;
  findings(state: State): readonly CheckFinding[];
}

/** An object with its kind, in messages. */
export function subjectName({ kind, metadata: { name, namespace } }: Resource): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
