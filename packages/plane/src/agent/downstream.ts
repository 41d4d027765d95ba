import { type Delta, refOf, resourceKeyOf } from "@isthmus/core";
import type { Applier } from "../applier.ts";
import type { AgentLink, Desired } from "../ports.ts";

/** Takes what the server wants, has it applied, and answers with what became of it. */
export interface Downstream {
  desired(desired: Desired): void;
  /** To be called when the applier has settled. */
  settled(): void;
  observed(delta: Delta): void;
}

export interface DownstreamOptions {
  readonly link: AgentLink;
  readonly applier: Applier;
  /** Whether every kind that may hold outputs of ours has been listed: before, nothing is pruned. */
  readonly isViewComplete: () => boolean;
}

export function downstream({ link, applier, isViewComplete }: DownstreamOptions): Downstream {
  let revision: number | undefined;
  let answered = "";
  let pendingPrune: ReadonlySet<string> | undefined;

  function prune(): void {
    if (pendingPrune === undefined || !isViewComplete()) return;
    applier.retainOnly(pendingPrune);
    pendingPrune = undefined;
  }

  function answer(): void {
    if (revision === undefined || pendingPrune !== undefined || !applier.isIdle) return;
    const rejected = [...applier.rejections.values()];
    const text = JSON.stringify([revision, rejected]);
    if (text === answered) return;
    answered = text;
    link.acknowledge({ revision, rejected });
  }

  return {
    desired(desired) {
      revision = desired.revision;
      answered = "";
      for (const resource of desired.put) applier.put(resource);
      for (const removal of desired.remove) applier.remove(removal);
      if (desired.complete) pendingPrune = new Set([...desired.put.map(refOf), ...(desired.withheld ?? [])].map(resourceKeyOf));
      else if (pendingPrune !== undefined) pendingPrune = withChange(pendingPrune, desired);
      prune();
      answer();
    },
    settled: answer,
    observed(delta) {
      applier.observed(delta);
      prune();
      answer();
    },
  };
}

/** The keys of a complete set after a later change of it. */
function withChange(keys: ReadonlySet<string>, change: Desired): ReadonlySet<string> {
  const changed = new Set(keys);
  for (const resource of change.put) changed.add(resourceKeyOf(refOf(resource)));
  for (const { ref } of change.remove) changed.delete(resourceKeyOf(ref));
  return changed;
}
