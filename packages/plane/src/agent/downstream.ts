import {
  type Clock,
  type Delta,
  formatRef,
  kindKeyOf,
  type Log,
  type Meter,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  uptimeOf,
} from "@isthmus/core";
import { type AgentLink, type DeleteRequest, type DesiredUpdate, isConfirmation, type Rejection } from "@isthmus/ports";
import type { Applier } from "../apply/applier.ts";
import { type DeleteLimits, deleteBudget, type PlannedRemoval } from "../apply/deleteBudget.ts";
import { deletionReason } from "../apply/deletionReason.ts";
import { orphans } from "../apply/orphans.ts";
import type { KindState } from "../informer/informer.ts";
import type { RequestCheck, RequestRefusal } from "./limits.ts";
import { pausedDeletes } from "./pausedDeletes.ts";
import { requestRefusals } from "./requestRefusals.ts";
import type { WriteGate } from "./writeGate.ts";

/** Takes what the server wants, has it applied, and answers with what became of it. */
export interface Downstream {
  desired(desired: DesiredUpdate): void;
  /** To be called when the applier has settled. */
  applierChanged(): void;
  observed(delta: Delta): void;
  /** All objects of a kind (`kindKeyOf`) were listed: what was undone while nobody watched is made good, as what is observed is. */
  listed(kindKey: string): void;
  /** The connection to the server was lost. */
  disconnected(): void;
  /** The cluster is not registered any more: what was applied stays, and nothing is written until a server wants something again. */
  release(): void;
  /** Somebody says that what is on hold may go: the server, or the operator of this very cluster. Gives how many objects go. */
  resumeDeletes(by: "server" | "cluster"): number;
  /** Something else may be written than before. */
  modeChanged(): void;
  /** How many removals are on hold. */
  readonly held: number;
}

export interface DownstreamOptions {
  readonly link: AgentLink;
  readonly applier: Applier;
  /** What may be written. */
  readonly gate: Pick<WriteGate, "mayWrite" | "mode">;
  /** Whether every kind that may hold outputs of ours has been listed, or is not served: before, nothing is pruned. */
  readonly isViewComplete: () => boolean;
  /** Kinds (`kindKeyOf`) that may hold outputs of ours, and how much is known of each now. */
  readonly kinds: () => Iterable<readonly [string, KindState]>;
  /** Whether an object is in the cluster, or may be there as not everything of its kind is known. */
  readonly mayHold: (ref: ResourceRef) => boolean;
  /** Whether an object bears the label of what we write. */
  readonly isOurs: (resource: Resource) => boolean;
  readonly isConnected: () => boolean;
  /** `kindKeyOf` of what discovery makes: that such an object is gone says that something is not seen, not that somebody wants it gone. */
  readonly discovered: ReadonlySet<string>;
  readonly deleteLimits: () => DeleteLimits;
  /** What may go within an hour, whatever the server says. Undefined: no limit. */
  readonly removalsPerHour: DeleteLimits | undefined;
  /** What the server may request at all. */
  readonly requests: RequestCheck;
  /** Where somebody lets go what the hourly limit holds back, for people. */
  readonly resumedOn: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/**
 * Carries out the desired sets that the link receives: writes nothing before the first one, and prunes nothing before a complete one has
 * arrived and the view is complete (`isViewComplete`). `signal` ends the wait for orphans.
 */
export function downstream(options: DownstreamOptions, signal: AbortSignal): Downstream {
  const { link, applier, gate, isViewComplete, kinds, mayHold, isOurs, isConnected, discovered, requests, clock, log, meter } = options;
  const budget = deleteBudget(() => uptimeOf(clock), options.deleteLimits, options.removalsPerHour);
  const refused = requestRefusals({ clock, log, meter });
  const paused = pausedDeletes(gate.mayWrite);
  let revision: number | undefined;
  /** The last answer to this revision, as text; empty before there was one. */
  let answered = "";
  let heldWhenAnswered = 0;
  /** Ids of the changes that led to what is not answered yet. */
  let traces: readonly string[] = [];
  /** All that is desired here, by `resourceKeyOf`, once a complete set has come. */
  let wanted: Set<string> | undefined;
  /** Kinds in which what is not desired has still to be looked for, or once more, as what was known of them was stale. */
  let unpruned = new Map<string, "unseen" | "stale">();
  /** Kinds in which nothing that is not desired is deleted without approval. */
  let unconfirmed = new Set<string>();
  /** Kinds of which deletes are on hold, before it was known whether all of those objects are there. */
  const doubtful = new Set<string>();
  /** Removals that came with evidence, so that the applier can judge it. */
  const removals = new Map<string, DeleteRequest>();
  const strangers = orphans(
    {
      clock,
      due: (found) =>
        remove(
          found
            .map(({ ref }) => ref)
            .filter((ref) => !isWanted(ref) && !isOnHold(ref))
            .map((ref) => ({ ref, reason: STRAY, isOnPurpose: false, isUnconfirmed: unconfirmed.has(kindKeyOf(ref)) })),
        ),
    },
    signal,
  );

  const sealedText =
    "the deletes exceed what --removals-per-hour-percent and --removals-per-hour-objects of this agent allow within an hour; the management " +
    `server cannot approve them; to approve them, annotate ${options.resumedOn} with isthmus.mesh/resume-deletes`;

  function codeOf(ref: ResourceRef): "Held" | "Unconfirmed" {
    return budget.unconfirmed.has(resourceKeyOf(ref)) ? "Unconfirmed" : "Held";
  }

  function whyHeld(ref: ResourceRef): string {
    const key = resourceKeyOf(ref);
    if (budget.sealed.has(key)) return sealedText;
    return budget.unconfirmed.has(key) ? UNCONFIRMED : HELD;
  }

  /** Whether the delete of an object is known already, and waits. */
  function isOnHold(ref: ResourceRef): boolean {
    const key = resourceKeyOf(ref);
    return budget.held.has(key) || paused.has(key);
  }

  function isWanted(ref: ResourceRef): boolean {
    return wanted?.has(resourceKeyOf(ref)) !== false;
  }

  function lookForStrays({ put, remove: gone }: Delta): void {
    for (const ref of gone) strangers.remove(ref);
    if (!isConnected()) return;
    const written = new Set([...kinds()].map(([kindKey]) => kindKey));
    for (const resource of put) {
      const ref = refOf(resource);
      if (!isWanted(ref) && written.has(kindKeyOf(ref)) && isOurs(resource)) strangers.seen(ref);
    }
  }

  function remove(planned: readonly PlannedRemoval[]): void {
    const [before, unexplained] = [budget.held.size - budget.unconfirmed.size, budget.unconfirmed.size];
    const meant = planned.filter(({ ref, isOnPurpose }) => {
      const key = resourceKeyOf(ref);
      const refusal = requests.remove(ref);
      if (refusal !== undefined) {
        // It never came here, and is not desired any more.
        const isNowhere = !mayHold(ref) || (refused.all.has(key) && refusal.reason !== "Namespace");
        if (isNowhere) refused.remove(ref);
        else refuse(ref, refusal);
        return false;
      }
      refused.remove(ref);
      if (isOnPurpose || applier.desired.has(key) || mayHold(ref)) return true;
      forget(ref);
      return false;
    });
    const due = paused.admit(meant);
    for (const { ref } of meant) if (paused.has(resourceKeyOf(ref))) pause(ref);
    for (const { ref, reason } of budget.admit(due, applier.desired.size)) carryOut(ref, reason);
    for (const { ref } of due) if (budget.held.has(resourceKeyOf(ref))) doubtful.add(kindKeyOf(ref));
    if (unexplained === 0 && budget.unconfirmed.size > 0) {
      log.warn({ held: budget.unconfirmed.size }, `the delete of ${budget.unconfirmed.size} objects is on hold: ${UNCONFIRMED}`);
    }
    if (before === 0 && budget.held.size > budget.unconfirmed.size) {
      log.error(
        { held: budget.held.size },
        budget.sealed.size > 0
          ? `the delete of ${budget.held.size} objects is on hold: ${sealedText}`
          : `the delete of ${budget.held.size} objects is on hold: mass deletion because their source objects are no longer reported; ${HELD}`,
      );
    }
  }

  /**
   * Desired and given up again while the agent was offline, the object never came here. Should it only be late to be seen, it is an
   * orphan then, and counts.
   */
  function forget(ref: ResourceRef): void {
    budget.keep(ref);
    removals.delete(resourceKeyOf(ref));
  }

  /** Kinds that could not be read may be readable again: nobody has to approve the delete of what never came here. */
  function forgetAbsent(): void {
    if (doubtful.size === 0) return;
    for (const [kindKey, state] of kinds()) {
      if (state !== "known" || !doubtful.delete(kindKey)) continue;
      for (const [key, { ref }] of [...budget.held]) {
        if (kindKeyOf(ref) === kindKey && !applier.desired.has(key) && !mayHold(ref)) forget(ref);
      }
    }
  }

  /** The object is desired no longer, and stays. One that was never written is nothing to delete. */
  function pause(ref: ResourceRef): void {
    applier.release(ref);
    if (mayHold(ref)) return;
    paused.forget(ref);
    removals.delete(resourceKeyOf(ref));
  }

  /** What was ordered of the object before continues; what stands there stays. */
  function refuse(ref: ResourceRef, refusal: RequestRefusal): void {
    budget.keep(ref);
    removals.delete(resourceKeyOf(ref));
    refused.add(ref, refusal);
  }

  /** What was approved and may not be written now stays approved. */
  function carryOut(ref: ResourceRef, reason: string): void {
    if (paused.admit([{ ref, reason, isOnPurpose: true }]).length === 0) return;
    const removal = removals.get(resourceKeyOf(ref));
    removals.delete(resourceKeyOf(ref));
    if (removal === undefined) applier.prune(ref, reason);
    else applier.remove(removal);
  }

  function planned(removal: DeleteRequest): PlannedRemoval {
    const { ref, evidence } = removal;
    removals.set(resourceKeyOf(ref), removal);
    // What is discovered otherwise, as in another mesh, is no more anybody's wish than what is gone: a tenant may have had it so.
    const isUnseen = evidence.inputs.every((input) => discovered.has(kindKeyOf(input)));
    return { ref, reason: deletionReason(evidence), isOnPurpose: !isUnseen };
  }

  /** What an API server does not serve now may come back with objects of ours in it: such a kind is looked through then. */
  function prune(): void {
    if (wanted === undefined || unpruned.size === 0 || !isViewComplete()) return;
    const states = new Map(kinds());
    const listed = new Set<string>();
    for (const [kindKey, looked] of unpruned) {
      const state = states.get(kindKey);
      if (state === "unserved" || state === looked) continue;
      listed.add(kindKey);
      if (state === "stale") unpruned.set(kindKey, "stale");
      else unpruned.delete(kindKey);
    }
    if (listed.size === 0) return;
    const surplus = applier.surplus(wanted, listed).filter((ref) => !isOnHold(ref));
    const reason = "not in the complete desired state of this cluster";
    remove(surplus.map((ref) => ({ ref, reason, isOnPurpose: false, isUnconfirmed: unconfirmed.has(kindKeyOf(ref)) })));
  }

  /** Nothing is on hold or paused in the kinds that were looked through: the server takes that answer for its confirmation. */
  function confirm(rejected: readonly Rejection[]): void {
    if (!isConfirmation(rejected)) return;
    for (const kindKey of unconfirmed) if (!unpruned.has(kindKey)) unconfirmed.delete(kindKey);
  }

  function answer(): void {
    if (revision === undefined || !isViewComplete() || !applier.isIdle) return;
    const held = [...budget.held.values()].map(
      ({ ref }): Rejection => ({ ref, code: codeOf(ref), message: `${formatRef(ref)}: its delete is on hold: ${whyHeld(ref)}` }),
    );
    const failed = [...applier.rejections].filter(([key]) => !refused.all.has(key)).map(([, rejection]) => rejection);
    const rejected = [...failed, ...refused.all.values(), ...held, ...paused.rejections];
    confirm(rejected);
    const { mode } = gate;
    const text = JSON.stringify([revision, rejected, mode]);
    heldWhenAnswered = held.length;
    if (text === answered) return;
    answered = text;
    link.acknowledge({ revision, rejected, ...(mode === undefined ? {} : { mode }) });
    if (traces.length > 0) log.debug({ revision, rejected: rejected.length, traces }, "applied");
    traces = [];
  }

  return {
    desired(desired) {
      revision = desired.revision;
      // Of many revisions before one answer, the last ones: their number is bounded by what a message holds.
      traces = [...new Set([...(desired.traces ?? []), ...traces])].slice(0, MAX_TRACES);
      if (desired.traces !== undefined) {
        log.debug({ revision, traces: desired.traces, put: desired.put.length, remove: desired.remove.length }, "desired");
      }
      answered = "";
      if (desired.complete) refused.clear();
      for (const resource of desired.put) {
        const ref = refOf(resource);
        const refusal = requests.put(resource);
        if (refusal !== undefined) {
          refuse(ref, refusal);
          continue;
        }
        refused.remove(ref);
        removals.delete(resourceKeyOf(ref));
        budget.keep(ref);
        paused.forget(ref);
        applier.put(resource);
      }
      remove(desired.remove.map(planned));
      if (desired.complete) {
        wanted = new Set();
        unpruned = new Map([...kinds()].map(([kindKey]) => [kindKey, "unseen"]));
        unconfirmed = new Set(desired.holdsSurplus ? unpruned.keys() : []);
        strangers.clear();
      }
      for (const { ref } of desired.remove) wanted?.delete(resourceKeyOf(ref));
      for (const ref of [...desired.put.map(refOf), ...(desired.withheld ?? [])]) wanted?.add(resourceKeyOf(ref));
      prune();
      answer();
    },
    applierChanged: answer,
    observed(delta) {
      for (const ref of delta.remove) {
        if (!isWanted(ref)) refused.remove(ref);
        // Somebody else removed what was on hold: the matter is settled, and it must not be restored.
        const settled = budget.held.get(resourceKeyOf(ref));
        if (settled === undefined) continue;
        budget.keep(ref);
        carryOut(ref, settled.reason);
      }
      for (const ref of delta.remove) paused.forget(ref);
      applier.observed(delta);
      lookForStrays(delta);
      forgetAbsent();
      prune();
      // What else an answer tells changes when the applier has settled: to gather it for each change of a Pod would cost all that is refused.
      if (answered === "" || budget.held.size !== heldWhenAnswered) answer();
    },
    listed: (kindKey) => lookForStrays({ put: applier.listed(kindKey), remove: [] }),
    modeChanged() {
      answered = "";
      applier.reconsider();
      remove(paused.release());
      answer();
    },
    disconnected: () => strangers.clear(),
    release() {
      revision = undefined;
      wanted = undefined;
      for (const all of [unpruned, unconfirmed, doubtful, removals, strangers, refused]) all.clear();
      for (const { ref } of [...budget.held.values()]) budget.keep(ref);
      paused.clear();
      applier.releaseAll();
    },
    get held() {
      return budget.held.size;
    },
    resumeDeletes(by) {
      const all = budget.resume(by, applier.desired.size);
      for (const { ref, reason } of all) carryOut(ref, reason);
      const who = by === "server" ? "by the management server" : `on ${options.resumedOn}`;
      if (all.length > 0) log.warn({ objects: all.length }, `deleting ${all.length} objects that were on hold: approved ${who}`);
      if (budget.sealed.size > 0)
        log.error({ held: budget.sealed.size }, `the delete of ${budget.sealed.size} objects is still on hold: ${sealedText}`);
      return all.length;
    },
  };
}

const MAX_TRACES = 16;
const STRAY = "has our label, but is not in the desired state";
const HELD = "to approve it, annotate the KubernetesCluster with isthmus.mesh/resume-deletes";
const UNCONFIRMED =
  "the management server cannot tell why they are not desired, as it started without the state of the servers before it; what is desired again " +
  "is kept; to delete the rest, annotate the KubernetesCluster with isthmus.mesh/resume-deletes";
