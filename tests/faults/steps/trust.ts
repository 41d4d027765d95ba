import type { StepKinds } from "../step.ts";
import { CACERTS, foreignAuthority, ROOTS, type RootName, reissueOf, trustOf, VIRTUAL_MESH } from "../trust/objects.ts";

// Of 30: one after the other are due, or expired if nobody renewed in between.
const PASSED_DAYS = [13, 26, 28];

/** What happens to the certificates of meshes. Only schedules with them have these steps. */
export const trustSteps: StepKinds = {
  /** The meshes of the VirtualMesh come below a root, or below another one. */
  putTrust: {
    weight: 30,
    n: ROOTS.length,
    v: 3,
    act(stage, { n, v }) {
      if (stage.fleet.trust === undefined || stage.object({ ...VIRTUAL_MESH, clusterName: "" }) === undefined) return;
      stage.put("", trustOf(rootOf(n), { restartsPods: v > 0 }), SECURITY);
    },
  },
  restartIstiod: {
    weight: 8,
    isAboutCluster: true,
    act: ({ fleet }, { cluster }) => fleet.trust?.meshes.get(cluster)?.restart("control plane"),
  },
  restartProxy: {
    weight: 10,
    n: 3,
    isAboutCluster: true,
    act: ({ fleet }, { cluster, n }) => fleet.trust?.meshes.get(cluster)?.restart(n),
  },
  renewLeaf: { weight: 6, n: 3, isAboutCluster: true, act: ({ fleet }, { cluster, n }) => fleet.trust?.meshes.get(cluster)?.renew(n) },
  /** The CA of a mesh is to be issued again, below the same root. */
  reissueAuthority: {
    weight: 4,
    v: 2,
    isAboutCluster: true,
    act(stage, { cluster, v }) {
      if (stage.fleet.trust === undefined || stage.object({ ...VIRTUAL_MESH, clusterName: "" }) === undefined) return;
      stage.put("", reissueOf(cluster, String(v)), SECURITY_OF_MESHES);
    },
  },
  /** Somebody deletes the Secret of a control plane, which continues with what it has in memory. */
  deleteAuthority: {
    weight: 3,
    isAboutCluster: true,
    act: (stage, { cluster }) => stage.fleet.trust && stage.remove(cluster, { ...CACERTS, clusterName: cluster }),
  },
  /** Somebody puts a CA of their own there. */
  putForeignAuthority: {
    weight: 3,
    isAboutCluster: true,
    async act(stage, { cluster }) {
      if (stage.fleet.trust !== undefined) stage.put(cluster, await foreignAuthority(stage.fleet.date()), "somebody");
    },
  },
  /** Days pass: CAs are due to be renewed, or nearly so, or are so soon after. Never so many that a root ends. */
  passTime: {
    weight: 12,
    n: PASSED_DAYS.length,
    act({ fleet }, { n }) {
      const days = PASSED_DAYS[n] ?? 0;
      if (fleet.trust === undefined || fleet.date() + days * DAY_MS > fleet.trust.began + MOST_DAYS * DAY_MS) return;
      fleet.passTime(days * DAY_MS);
      // Nobody renews before somebody wakes.
      return fleet.clock.advance(WAKING_MS);
    },
  },
  /** As long as pods take to restart. */
  waitForPods: {
    weight: 30,
    n: 2,
    act: ({ fleet }, { n }) => (fleet.trust === undefined ? undefined : fleet.clock.advance(n === 0 ? 15_000 : 60_000)),
  },
};

const DAY_MS = 86_400_000;
// Roots of 365 days are reported as expiring in their last sixty.
const MOST_DAYS = 280;
const WAKING_MS = 1_000;

function rootOf(n: number): RootName {
  return ROOTS[n] ?? ROOTS[0];
}

/** Those who look after certificates. */
const SECURITY = "security";
/** Another of them: what one says of the VirtualMesh the other does not take back. */
const SECURITY_OF_MESHES = "security of meshes";
