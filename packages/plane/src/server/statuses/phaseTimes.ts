import type { TrustProgressStatus, VirtualMesh } from "@isthmus/api";
import { type JsonObject, resourceKeyOf } from "@isthmus/core";
import type { DesiredStatus } from "../../apply/statusWriter.ts";
import type { MeshPhase, TrustPhases } from "../trust/trustPhases.ts";

/** Since when each mesh is in its phase. The status itself remembers it, over restarts and leaders. */
export interface PhaseTimes {
  /** A status with the phases of the meshes. `live`: as it is written. `now`: milliseconds since 1970. */
  withPhases(
    update: DesiredStatus,
    phases: TrustPhases,
    at: { readonly live: VirtualMesh["status"]; readonly now: number },
  ): DesiredStatus["status"];
  clear(): void;
}

/** Continues with the times in the statuses as they are written (`live`); a phase that is not in them begins at `now`. */
export function phaseTimes(): PhaseTimes {
  /** What was said last, which a watch may bring later. */
  const last = new Map<string, TrustProgressStatus>();
  /** What an agent has reported last: while it reports nothing for a moment, as after it has connected to another server, its phase lasts. */
  const reported = new Map<string, TrustProgressStatus>();

  function sinceOf(key: string, phase: MeshPhase, { written, now }: { written: TrustProgressStatus | undefined; now: number }): string {
    const same = [last.get(key) ?? written, reported.get(key)].find(
      (before) => before?.state === phase.state && before?.step === phase.step,
    );
    return same?.since ?? new Date(now).toISOString();
  }

  return {
    withPhases({ ref, status }, { meshes, unreported }, { live, now }) {
      const own = { ...((status["meshes"] ?? {}) as JsonObject) };
      for (const [name, phase] of meshes) {
        const key = `${resourceKeyOf(ref)} ${name}`;
        const written = live?.meshes?.[name]?.trust;
        const trust = phase === undefined ? (last.get(key) ?? written) : { ...phase, since: sinceOf(key, phase, { written, now }) };
        if (trust === undefined) continue;
        // What was written before this server started was reported, as far as is known.
        const earlier = reported.get(key) ?? written;
        // Until a server that has started has read the root, it orders no step: agents report none, and that they wait.
        const isWaiting = trust.step === undefined && trust.state === "PENDING";
        const isBetween = unreported.has(name) || isWaiting;
        const lasting = isBetween ? earlier : trust;
        if (lasting !== undefined) reported.set(key, lasting);
        last.set(key, trust);
        own[name] = { ...((own[name] ?? {}) as JsonObject), trust: trust as unknown as JsonObject };
      }
      return { ...status, meshes: own };
    },
    clear() {
      last.clear();
      reported.clear();
    },
  };
}

/** As data that can be compared. */
export function plainPhases(phases: TrustPhases | undefined): unknown {
  return phases === undefined ? undefined : [phases.condition, [...phases.meshes], [...phases.unreported]];
}
