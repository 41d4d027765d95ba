import type { WriteMode } from "@isthmus/api";
import type { Condition, JsonObject } from "@isthmus/core";
import { MODES } from "@isthmus/ports";
import type { ClusterState } from "../../snapshots/snapshotStore.ts";
import type { ClusterComparison } from "./comparison.ts";

/** What is known of the mode of a cluster. */
export interface ModeState {
  /** What its registration says. */
  readonly mode: WriteMode;
  /** What its agent has acknowledged last. */
  readonly acknowledged: string | undefined;
  /** What its agent would write if it might. */
  readonly comparison: ClusterComparison | undefined;
}

/** Whether the agent of a cluster understands what it may write; undefined while none is known. */
export function knowsModes(state: ClusterState | undefined): boolean | undefined {
  return state?.agent?.features.includes(MODES);
}

/** Says that a cluster is observed or frozen, or is not yet as its registration says; nothing of one that is managed. */
export function writesPaused({ mode, acknowledged, comparison }: ModeState, state: ClusterState | undefined): readonly Condition[] {
  const type = "WritesPaused";
  if (mode === "manage") {
    if (acknowledged === undefined || acknowledged === "manage") return [];
    const message = `the agent has acknowledged mode ${acknowledged}, and not yet mode manage`;
    return [{ type, status: "True", reason: "NotAcknowledged", message }];
  }
  if (knowsModes(state) === false) {
    const message =
      `version ${state?.agent?.version ?? ""} of the agent does not support spec.mode ${mode}, so its connection is refused: upgrade the agent, ` +
      "or set spec.mode to manage";
    return [{ type, status: "True", reason: "AgentTooOld", message }];
  }
  if (acknowledged !== mode) {
    const message = `the agent has not acknowledged mode ${mode} yet: until it does, changes that it received before may be written`;
    return [{ type, status: "Unknown", reason: "NotAcknowledged", message }];
  }
  const written =
    mode === "observe" ? "nothing is written except spec.managedObjects, and no other cluster is sent its services" : "nothing is written";
  const reason = mode === "observe" ? "Observed" : "Frozen";
  return [{ type, status: "True", reason, message: `${written}: ${summaryOf(comparison)}` }];
}

function summaryOf(comparison: ClusterComparison | undefined): string {
  if (comparison === undefined) return "nothing has been compared yet";
  const { WouldCreate: create, WouldChange: change, WouldDelete: remove, WouldConflict: conflict } = comparison.counts;
  return (
    `of the desired objects ${comparison.same} are there, ${create} would be created, ${change} changed, ${remove} deleted, and ` +
    `${conflict} exist and are managed by others`
  );
}

/** The comparison as the status shows it. */
export function comparisonField({ mode, comparison }: ModeState): JsonObject {
  if (comparison === undefined || (mode === "manage" && comparison.mode === "manage")) return {};
  const { counts, same, examples } = comparison;
  return {
    comparison: {
      mode: comparison.mode,
      same,
      wouldCreate: counts.WouldCreate,
      wouldChange: counts.WouldChange,
      wouldDelete: counts.WouldDelete,
      conflicts: counts.WouldConflict,
      ...(examples.length === 0 ? {} : { examples: [...examples] }),
    },
  };
}

/** The mode as the status shows it. What was written stays until it is known again: it has not become untrue by a restart of ours. */
export function modeField({ mode, acknowledged }: ModeState, state: ClusterState | undefined, before: JsonObject): JsonObject {
  const unsupported = mode === "manage" && knowsModes(state) === false ? mode : undefined;
  const shown = acknowledged ?? unsupported ?? before["mode"];
  return shown === undefined ? {} : { mode: shown };
}
