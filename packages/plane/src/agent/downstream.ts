import { type Delta, formatRef, kindKeyOf, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { Applier } from "../applier.ts";
import { reasonFor } from "../evidence.ts";
import type { AgentLink, Clock, Desired, Log, Rejection, Removal } from "../ports.ts";
import { deleteBudget, type PlannedRemoval } from "./deleteBudget.ts";

/** Takes what the server wants, has it applied, and answers with what became of it. */
export interface Downstream {
  desired(desired: Desired): void;
  /** To be called when the applier has settled. */
  settled(): void;
  observed(delta: Delta): void;
  /** Somebody says that what is held back may go. Gives how many objects that are. */
  resumeDeletes(): number;
}

export interface DownstreamOptions {
  readonly link: AgentLink;
  readonly applier: Applier;
  /** Whether every kind that may hold outputs of ours has been listed: before, nothing is pruned. */
  readonly isViewComplete: () => boolean;
  /** `kindKeyOf` of what discovery makes: that such an object is gone says that something is not seen, not that somebody wants it gone. */
  readonly discovered: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Log;
}

export function downstream({ link, applier, isViewComplete, discovered, clock, log }: DownstreamOptions): Downstream {
  const budget = deleteBudget(() => clock.now());
  let revision: number | undefined;
  let answered = "";
  let pendingPrune: ReadonlySet<string> | undefined;
  /** Removals that came with evidence, so that the applier can judge it. */
  const removals = new Map<string, Removal>();

  function remove(planned: readonly PlannedRemoval[]): void {
    const before = budget.held.size;
    for (const { ref, reason } of budget.admit(planned, applier.size)) carryOut(ref, reason);
    if (before === 0 && budget.held.size > 0) {
      log.error(
        { held: budget.held.size },
        `${budget.held.size} objects would go at once, as what they came from is no longer seen: ${HELD}`,
      );
    }
  }

  function carryOut(ref: ResourceRef, reason: string): void {
    const removal = removals.get(resourceKeyOf(ref));
    removals.delete(resourceKeyOf(ref));
    if (removal === undefined) applier.prune(ref, reason);
    else applier.remove(removal);
  }

  function planned(removal: Removal): PlannedRemoval {
    const { ref, evidence } = removal;
    removals.set(resourceKeyOf(ref), removal);
    const isUnseen = evidence.reason === "InputRemoved" && evidence.inputs.every((input) => discovered.has(kindKeyOf(input)));
    return { ref, reason: reasonFor(evidence), isOnPurpose: !isUnseen };
  }

  function prune(): void {
    if (pendingPrune === undefined || !isViewComplete()) return;
    const surplus = applier.surplus(pendingPrune).filter((ref) => !budget.held.has(resourceKeyOf(ref)));
    pendingPrune = undefined;
    remove(surplus.map((ref) => ({ ref, reason: "not in the complete set that is wanted here", isOnPurpose: false })));
  }

  function answer(): void {
    if (revision === undefined || pendingPrune !== undefined || !applier.isIdle) return;
    const held = [...budget.held.values()].map(
      ({ ref }): Rejection => ({ ref, code: "Held", message: `${formatRef(ref)} stays: ${HELD}` }),
    );
    const rejected = [...applier.rejections.values(), ...held];
    const text = JSON.stringify([revision, rejected]);
    if (text === answered) return;
    answered = text;
    link.acknowledge({ revision, rejected });
  }

  return {
    desired(desired) {
      revision = desired.revision;
      answered = "";
      for (const resource of desired.put) {
        removals.delete(resourceKeyOf(refOf(resource)));
        budget.wanted(refOf(resource));
        applier.put(resource);
      }
      remove(desired.remove.map(planned));
      if (desired.complete) pendingPrune = new Set([...desired.put.map(refOf), ...(desired.withheld ?? [])].map(resourceKeyOf));
      else if (pendingPrune !== undefined) pendingPrune = withChange(pendingPrune, desired);
      prune();
      answer();
    },
    settled: answer,
    observed(delta) {
      for (const ref of delta.remove) {
        // Somebody else removed what was held back: the matter is settled, and it must not be put back.
        const settled = budget.held.get(resourceKeyOf(ref));
        if (settled === undefined) continue;
        budget.wanted(ref);
        carryOut(ref, settled.reason);
      }
      applier.observed(delta);
      prune();
      answer();
    },
    resumeDeletes() {
      const all = budget.resume();
      for (const { ref, reason } of all) carryOut(ref, reason);
      if (all.length > 0)
        log.warn({ objects: all.length }, `removing ${all.length} objects that were held back: somebody said that they may go`);
      return all.length;
    },
  };
}

const HELD = "deletes are paused until the KubernetesCluster is annotated with isthmus.mesh/resume-deletes";

/** The keys of a complete set after a later change of it. */
function withChange(keys: ReadonlySet<string>, change: Desired): ReadonlySet<string> {
  const changed = new Set(keys);
  for (const resource of change.put) changed.add(resourceKeyOf(refOf(resource)));
  for (const { ref } of change.remove) changed.delete(resourceKeyOf(ref));
  return changed;
}
