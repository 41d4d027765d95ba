import type { Schedule } from "./schedule.ts";
import { parseStep } from "./step.ts";

/**
 * For each tampering the shortest of a drawn schedule that noticed it once. Each is tried before others are drawn, which costs much more;
 * one that notices nothing any more can be replaced by what `npm run test:faults -- --tamper RULE --focus STEPS` prints as shrunk.
 */
const NOTICED: Readonly<Record<string, Omit<Schedule, "steps"> & { readonly steps: string }>> = {
  agentSaysSyncedAtOnce: { seed: 2802362287, clusters: 2, steps: "slowApiServer - 2 0;restartAgent a 0 0" },
  serverTakesUnknownForEmpty: { seed: 3098215337, clusters: 2, steps: "loseManagement - 0 0" },
  removalsHaveEvidence: { seed: 3668339988, clusters: 2, hasStore: true, steps: "forgeRemoval a 2 0;wait - 6 0" },
  changesPassForCompleteSets: { seed: 2654435762, clusters: 2, steps: "wait - 5 0;putService b 1 3" },
  everythingSeemsLabelled: { seed: 1013904227, clusters: 2, hasStore: true, steps: "foreign b 13 0" },
  everythingSeemsWritten: { seed: 2654435762, clusters: 2, steps: "copyOurs a 5 0" },
  removalsWithoutPreconditions: { seed: 774553835, clusters: 2, steps: "wait - 5 0;meddleInBetween a 1 1;deleteService b 0 0;wait - 8 0" },
  landslidesSeemOnPurpose: { seed: 113005317, clusters: 2, steps: "putCrowd b 0 0;wait - 3 0;deleteCrowd b 0 0" },
  purposeIsForgotten: { seed: 1457683802, clusters: 2, hasStore: true, steps: "putCrowd b 0 0;restoreEtcd a 1 0;putSettings - 0 2" },
  firstContactByForce: { seed: 2619514553, clusters: 2, steps: "deleteOurs a 4 0;occupy a 0 0;wait - 4 0" },
  silentClustersAreNotRecalled: { seed: 2654435762, clusters: 2, steps: "" },
  everyMessageIsOfThisEpoch: {
    seed: 831056493,
    clusters: 2,
    hasStore: true,
    steps: "reopen b 1 5;reopen b 1 4;deleteService a 0 0;rest - 0 0;reopen b 1 3",
  },
  oneFailureHoldsUpAll: { seed: 443779576, clusters: 2, steps: "deleteOurs b 3 0;failWrites b 1 3;wait - 5 0" },
  everyReplicaLeads: { seed: 1, clusters: 2, hasStore: true, hasAgentReplicas: true, steps: "" },
  everyAgentLeads: { seed: 1, clusters: 2, hasStore: true, hasAgentReplicas: true, steps: "deleteVirtualMesh - 0 0" },
  datesMeasureDurations: {
    seed: 591706101,
    clusters: 2,
    steps: "wait - 5 0;putService b 0 0;restartServer - 0 0;revoke b 0 0;setClock b 5 0;wait - 8 0",
  },
  staleListsSeemLatest: { seed: 1549107669, clusters: 2, hasStore: true, steps: "mend b 0 0;deleteService a 1 0" },
  digestsAlwaysAgree: {
    seed: 1013904227,
    clusters: 2,
    hasStore: true,
    steps: "wait - 5 0;expireCertificate a 1 0;reroute a 1 0;evictFromStore - 2 0",
  },
  writesGoOnAnyVersion: { seed: 2084311111, clusters: 3, hasStore: true, steps: "wait - 4 0;putService c 1 3;loseStoreWrites - 0 0" },
  messagesOfAnySize: { seed: 2654435762, clusters: 2, steps: "putLarge a 0 0" },
  mistakesTakeAccessPoliciesAway: { seed: 2654435762, clusters: 2, steps: "putAccess - 0 3;rest - 0 0;mistakeAccess - 0 2" },
  modesAreUnknown: { seed: 1161830752, clusters: 2, hasStore: true, steps: "setMode b 0 2;putPolicy - 0 4;wait - 8 0" },
  surplusSeemsConfirmed: { seed: 978983018, clusters: 2, steps: "putVirtualMesh - 1 3;wait - 7 0;restoreManagementEtcd - 0 0" },
  answersSeemToConfirm: { seed: 3668339988, clusters: 2, hasStore: true, steps: "putVirtualMesh - 1 2" },
  secretsAreReported: { seed: 2654435762, clusters: 2, steps: "" },
};

/** The schedule that noticed a tampering once; undefined where none is kept. */
export function scheduleThatNoticed(tampering: string): Schedule | undefined {
  const kept = NOTICED[tampering];
  return (
    kept && {
      ...kept,
      steps: kept.steps
        .split(";")
        .filter((text) => text !== "")
        .map(parseStep),
    }
  );
}
