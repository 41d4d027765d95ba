import type { TrustProgressStatus, VirtualMesh } from "@isthmus/api";
import { type JsonObject, resourceKeyOf } from "@isthmus/core";
import type { DesiredStatus } from "../apply/statusWriter.ts";
import type { MeshPhase, TrustPhases } from "./trustPhases.ts";

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

  function sinceOf(key: string, phase: MeshPhase, { written, now }: { written: TrustProgressStatus | undefined; now: number }): string {
    const before = last.get(key) ?? written;
    const isSame = before?.state === phase.state && before?.step === phase.step;
    return (isSame ? before?.since : undefined) ?? new Date(now).toISOString();
  }

  return {
    withPhases({ ref, status }, { meshes }, { live, now }) {
      const own = { ...((status["meshes"] ?? {}) as JsonObject) };
      for (const [name, phase] of meshes) {
        const key = `${resourceKeyOf(ref)} ${name}`;
        const written = live?.meshes?.[name]?.trust;
        const trust = phase === undefined ? (last.get(key) ?? written) : { ...phase, since: sinceOf(key, phase, { written, now }) };
        if (trust === undefined) continue;
        last.set(key, trust);
        own[name] = { ...((own[name] ?? {}) as JsonObject), trust: trust as unknown as JsonObject };
      }
      return { ...status, meshes: own };
    },
    clear: () => last.clear(),
  };
}

/** As data that can be compared. */
export function plainPhases(phases: TrustPhases | undefined): unknown {
  return phases === undefined ? undefined : [phases.condition, [...phases.meshes]];
}
