import { expect, test } from "vitest";
import { runSchedule, type Schedule } from "./schedule.ts";
import { parseStep } from "./step.ts";

/** Shrunk schedules in which something was wrong once. */
const TRACES: readonly (Omit<Schedule, "steps"> & { readonly name: string; readonly steps: string })[] = [
  {
    name: "an object and a status that were written while nobody watched, and are gone before they were seen, are written again",
    seed: 2812509231,
    clusters: 3,
    hasAgentReplicas: true,
    steps: "expireWatches b 0 0;wait - 5 0;putWorkload a 2 1;wait - 4 0;restoreManagementEtcd - 1 0",
  },
  {
    name: "the same of many objects, behind a slow API server",
    seed: 2754348592,
    clusters: 3,
    steps: "putService b 0 2;slowApiServer - 2 0;putCrowd c 0 0;wait - 4 0;restoreManagementEtcd - 1 0",
  },
  {
    name: "a status from which server-side apply has taken all members of an object, of a mesh that has Cilium",
    seed: 316772157,
    clusters: 3,
    hasStore: true,
    steps: "deleteDefinition c 5 0;wait - 7 0;deleteVirtualMesh - 0 0",
  },
  {
    name: "of two clusters' policies that one is first which the plane received first, though its cluster's name comes later",
    seed: 2673573312,
    clusters: 2,
    steps: "putPolicyThere b 0 1;putSettings - 0 6;silence a 0 0;putPolicyThere a 1 1",
  },
  {
    name: "a refused removal of an object that a later part of the same set wants is not reported",
    seed: 2084311187,
    clusters: 2,
    steps: "forgeRemoval b 8 0;wait - 4 0",
  },
  {
    name: "a refill of the store that breaks off is begun anew, and nobody takes the rest for everything",
    seed: 443779576,
    clusters: 2,
    hasStore: true,
    steps:
      "wait - 5 0;switchLeader - 1 0;loseStoreWrites - 2 0;putService a 1 1;stopAgent a 0 0;loseNotices - 4 0;loseStoreAnswers - 2 0;slowStore - 3 0;wait - 6 0",
  },
  {
    name: "an answer holds for every set that says the same: the cluster does not lag",
    seed: 387317917,
    clusters: 2,
    hasStore: true,
    steps: "wait - 5 0;restartServer - 0 0;foreign b 6 0",
  },
  {
    name: "a server begins although the last that it reads is nothing but what it published itself",
    seed: 902088076,
    clusters: 2,
    steps: "loseManagement - 0 0;slowNetwork - 3 0;putWorkload a 2 1;putService b 1 3;wait - 8 0",
  },
  {
    name: "the agent of a cluster that is no longer registered still writes what it was told, once its kind is served again",
    seed: 2125178145,
    clusters: 2,
    steps: "wait - 5 0;deregister a 0 0;deleteDefinition a 3 0;disturb a 1 2;putAccess - 0 0;wait - 8 0",
  },
  {
    name: "a replica lets go a kind that a cluster has no more, where another has taken it over from an emptied store",
    seed: 1677489664,
    clusters: 2,
    hasStore: true,
    steps: "wait - 5 0;stopAgent b 0 0;reroute b 1 1;wipeStore - 0 0;deleteMesh b 0 0;stopStore - 0 0",
  },
  {
    name: "what was wanted and given up while an agent was away is no landslide there: it holds nothing back",
    seed: 691689974,
    clusters: 3,
    hasStore: true,
    steps: "wait - 5 0;putCrowd b 0 0;expireCertificate a 0 0;wait - 5 0;deleteMesh b 0 0",
  },
  {
    name: "a server whose clock is slow does not end at rest what an agent has renewed",
    seed: 1280173994,
    clusters: 2,
    hasStore: true,
    steps: "wait - 5 0;setClock a 1 0;expireCertificate b 1 0;wait - 7 0",
  },
  {
    name: "of two replicas to which an emptied store gave one fence number, the one that has the agent keeps the cluster",
    seed: 3209900325,
    clusters: 2,
    hasStore: true,
    steps:
      "pauseLeader - 1 0;slowStore - 0 0;deletePolicy - 1 0;slowNetwork - 3 0;rotateCertificate a 0 0;register a 0 0;wipeStore - 0 0;reroute a 1 0",
  },
  {
    name: "a CRD whose deletion the API server did not take stays served",
    seed: 483642062,
    clusters: 2,
    steps: "unserve b 2 0;loseApiServer b 0 0;deleteDefinition b 2 0",
  },
  {
    name: "an AccessPolicy holds on through mistakes in it and in the mesh of its callers, and through a restart",
    seed: 1,
    clusters: 2,
    steps:
      "putAccess - 0 3;rest - 0 0;mistakeMesh b 0 0;rest - 0 0;mistakeMesh b 0 3;rest - 0 0;mistakeAccess - 0 1;restartServer - 0 0;rest - 0 0",
  },
  {
    name: "a VirtualMesh and a TrafficPolicy hold on through mistakes in them, and through a restart",
    seed: 1,
    clusters: 2,
    steps:
      "putVirtualMesh - 1 2;putPolicy - 0 0;rest - 0 0;mistakeVirtualMesh - 0 0;mistakePolicy - 0 0;rest - 0 0;restartServer - 0 0;rest - 0 0;mistakeVirtualMesh - 0 1;mistakePolicy - 0 1;rest - 0 0",
  },
  {
    name: "an API server whose watches expire at once is not asked for one list after the other",
    seed: 5,
    clusters: 2,
    steps: "wait - 5 0;expireWatches a 0 1;wait - 3 0",
  },
  {
    name: "a server whose clock is set back writes on, and not an hour later",
    seed: 2654435762,
    clusters: 2,
    steps: "putVirtualMesh - 0 1;setClock b 0 0;wait - 6 0",
  },
  {
    name: "a server that finds no Lease leads only when the one that held it has noticed",
    seed: 2717937904,
    clusters: 3,
    hasStore: true,
    steps: "stopAgent b 0 0;stopServer - 0 0;wait - 8 0;deleteLease c 0 0",
  },
  {
    name: "a server that starts after etcd was restored waits as long as a Lease lasts, as the one that leads may not have noticed",
    seed: 1055959300,
    clusters: 2,
    hasStore: true,
    steps:
      "wait - 5 0;restoreEtcd a 1 0;terminateNamespace a 3 0;reopen a 0 0;stopReplica - 0 0;restoreEtcd b 1 0;restoreManagementEtcd - 1 0",
  },
  {
    name: "what was published, deleted and is there again from a backup of etcd is deleted again",
    seed: 36824723,
    clusters: 2,
    steps: "deleteGateway a 0 0;wait - 4 0;restoreManagementEtcd - 1 0",
  },
  {
    name: "a server whose date is set forward while it comes to lead writes from its next turn on",
    seed: 4084201220,
    clusters: 3,
    hasStore: true,
    steps:
      "putMesh b 0 1;restartStore - 0 0;deleteMesh b 0 0;copyOurs b 18 0;wipeStore - 0 0;setClock c 0 0;failOverStore - 0 0;setClock c 5 0;setClock c 5 0;wait - 5 0",
  },
  {
    name: "etcd of a cluster that is away is restored with a definition that had been deleted",
    seed: 760059848,
    clusters: 2,
    steps: "deleteDefinition b 1 0;loseApiServer b 0 0;restoreEtcd b 1 0",
  },
  {
    name: "a published object that is deleted while the management cluster comes back from a backup is there before the server ends",
    seed: 2910622281,
    clusters: 2,
    steps: "wait - 5 0;staleLists a 0 0;restoreManagementEtcd - 1 0;deletePublished - 8 0;restartServer - 0 0",
  },
  {
    name: "who lost the race for the lead knows of that turn, though the Lease is restored as it was before it",
    seed: 3346974062,
    clusters: 3,
    hasStore: true,
    steps: "wait - 5 0;terminateNamespace b 2 0;pauseLeader - 1 0;restoreManagementEtcd - 1 0;deletePublished - 22 0",
  },
  {
    name: "Cilium is known only where discovery looks into its namespace",
    seed: 387281628,
    clusters: 3,
    hasStore: true,
    steps: "enforceCilium - 0 1;wait - 6 0;putSettings - 0 14",
  },
  {
    name: "what Settings say of reach counts for a cluster that is away before what they say of scope",
    seed: 2524815907,
    clusters: 3,
    hasAgentReplicas: true,
    steps: "putPolicyThere c 1 5;foreign a 5 0;wait - 6 0;stopServer - 0 0;putSettings - 0 4",
  },
  {
    name: "an AccessPolicy that is newer than the backup of the management cluster guards its workloads until somebody approves",
    seed: 11,
    clusters: 2,
    steps: "wait - 5 0;putAccess - 0 0;wait - 5 0;restoreManagementEtcd - 0 0;wait - 8 0",
  },
  {
    name: "what is on hold after a restore stays on hold when its agent starts again",
    seed: 11,
    clusters: 2,
    steps: "wait - 5 0;putAccess - 0 0;wait - 5 0;restoreManagementEtcd - 0 0;wait - 8 0;restartAgent a 0 0;wait - 8 0",
  },
  {
    name: "an agent that holds what a server cannot explain says so, though another server knows of an earlier answer",
    seed: 1422766834,
    clusters: 2,
    hasStore: true,
    steps:
      "wait - 5 0;putAccessThere a 0 0;restoreManagementEtcd - 1 0;switchLeader - 0 0;evictFromStore - 1 0;cut a 0 0;wait - 5 0;restoreEtcd a 1 0",
  },
  {
    name: "what a cluster may hold of a kind that it does not serve counts for a mass deletion",
    seed: 2530789785,
    clusters: 3,
    hasStore: true,
    steps: "wait - 5 0;putCrowd a 0 0;unserve b 1 0;stopServer - 0 0;putWorkload c 2 0;terminateNamespace a 2 0;reopen a 1 0",
  },
  {
    name: "an agent that loses the lead and gains it again reports the CAs of its meshes, though its relay ended later than the rest",
    seed: 3816266814,
    clusters: 2,
    hasAgentReplicas: true,
    trust: "own",
    steps: "putTrust - 1 2;wait - 2 0;loseApiServer a 0 0;reopen b 0 1",
  },
  {
    name: "a store that lost a fence grants a lower one, and its holder raises it above what another replica has followed",
    seed: 2237859865,
    clusters: 2,
    hasStore: true,
    hasAgentReplicas: true,
    steps: "stopServer - 0 0;loseStoreWrites - 0 0;rotateCertificate a 0 0;wipeStore - 0 0",
  },
  {
    name: "an agent whose cluster was deregistered and registered again is sent nothing from before, and does not lag",
    seed: 990558409,
    clusters: 2,
    steps: "wait - 5 0;deregister b 0 0;register b 0 0;deletePublished - 23 0",
  },
  {
    name: "what istiod has read is judged by times of the API server: the clock of an agent may be an hour fast",
    seed: 1728236581,
    clusters: 2,
    trust: "own",
    steps: "setClock b 5 1;putTrust - 2 0;waitForPods - 1 0",
  },
  {
    name: "what an agent keeps without being asked for it, as the server has no memory, is no refused write of what is desired",
    seed: 2246150909,
    clusters: 2,
    trust: "own",
    steps: "occupy b 0 0;putTrust - 1 1;wait - 4 0;restoreManagementEtcd - 0 0",
  },
  {
    name: "a write that was refused while a kind was not served is reported as such until it was tried again",
    seed: 783369037,
    clusters: 2,
    steps: "deleteDefinition a 2 0;wait - 7 0;wait - 8 0;putSettings - 0 5;reopen b 0 2",
  },
  {
    name: "a CA that a server signed whose clock is an hour fast is valid where it is installed",
    seed: 113032498,
    clusters: 3,
    trust: "shared",
    steps: "setClock b 5 0;passTime - 1 0;passTime - 1 0",
  },
  {
    name: "a CA that was replaced before istiod had read it keeps no mesh from being finished",
    seed: 2802393701,
    clusters: 2,
    hasStore: true,
    hasAgentReplicas: true,
    trust: "shared",
    steps: "passTime - 0 0;waitForPods - 0 0;passTime - 1 0;passTime - 2 0",
  },
  {
    name: "an API server whose etcd was restored lists nothing of a watch cache that it had before",
    seed: 607153298,
    clusters: 2,
    steps: "putCilium b 0 1;usurpLease b 1 0;staleLists b 0 2;restoreEtcd b 0 0;terminateNamespace b 2 0",
  },
  {
    name: "what the server deleted while nobody watched, and is back before that was seen, is deleted again",
    seed: 1954873238,
    clusters: 2,
    steps: "expireWatches a 0 0;deleteMesh a 0 0;wait - 3 0;restoreManagementEtcd - 1 0",
  },
  {
    name: "the same of an agent",
    seed: 195,
    clusters: 2,
    steps: "wait - 5 0;expireWatches a 0 1;deleteVirtualMesh - 0 0;wait - 3 0;restoreEtcd a 1 0",
  },
  {
    name: "what an agent wrote while nobody watched, and a server without the state of those before does not want, waits for approval",
    seed: 3367946031,
    clusters: 3,
    steps: "setMode b 0 3;putPolicy - 1 5;expireWatches b 0 1;wait - 6 0;restoreManagementEtcd - 0 0",
  },
  {
    name: "a Secret in the place of a control plane's own CA is deleted by users",
    seed: 18912530,
    clusters: 2,
    hasStore: true,
    trust: "own",
    steps: "meddleInBetween a 1 0;putTrust - 3 0;restoreEtcd b 1 0",
  },
  {
    name: "the CA of a mesh is requested again when its trust domain changes while a request waits",
    seed: 2272742399,
    clusters: 2,
    trust: "shared",
    steps: "passTime - 2 0;putMesh b 0 1",
  },
  {
    name: "a control plane whose own CA was deleted is restarted by users",
    seed: 2134090147,
    clusters: 2,
    hasAgentReplicas: true,
    trust: "own",
    steps: "wait - 5 0;meddleInBetween a 3 3;passTime - 0 0;putTrust - 2 2;waitForPods - 0 0",
  },
  {
    name: "what an agent says to another replica is news there, though that had said the same before the agent said otherwise here",
    seed: 1360442484,
    clusters: 2,
    hasStore: true,
    hasAgentReplicas: true,
    steps: "wait - 5 0;switchLeader - 1 0;webhookTimeouts a 2 0;stopStore - 0 0;editOurs a 10 0;wait - 6 0;flap a 0 0",
  },
  {
    name: "a replica that ceases to lead while a slow store answers for the first time does not end",
    seed: 960483068,
    clusters: 2,
    hasStore: true,
    steps: "slowStore - 3 0;restoreEtcd a 1 0;throttle a 2 0;setClock a 3 0;wait - 7 0",
  },
  {
    name: "a status that waits to be tried again is not replaced by the one before when all objects are listed again",
    seed: 3804061144,
    clusters: 2,
    hasStore: true,
    steps: "wait - 5 0;emptyCluster b 0 0;wait - 3 0;loseManagement - 0 0;wait - 5 0;compactManagement - 0 0",
  },
  {
    name: "a store's own replica has caught up when everything is at rest",
    seed: 442959514,
    clusters: 3,
    hasStore: true,
    steps: "wait - 2 0;emptyCluster c 0 0;replicateStore - 0 0;rest - 0 0;failOverStore - 0 0;stopServer - 0 0",
  },
  {
    name: "deletes are put on hold by what an agent knew of its cluster, though its etcd is restored without some of it",
    seed: 3216687827,
    clusters: 2,
    hasStore: true,
    steps: "putCrowd a 0 0;wait - 8 0;wait - 7 0;putCilium a 0 2;restoreEtcd a 1 0",
  },
  {
    name: "deletes are on hold for what never came to a cluster that cannot be read, until it can be",
    seed: 2314829629,
    clusters: 2,
    hasStore: true,
    steps:
      "wait - 5 0;wait - 4 0;cut a 0 0;putSettings - 0 7;setMode a 0 3;labelShop a 0 1;throttle b 0 0;pauseLeader - 1 0;putCilium a 0 2;" +
      "putCrowd b 0 0;enforceCilium - 0 4;enforceCilium - 0 0;evictFromStore - 3 0;startServer - 0 0;loseApiServer a 0 0;expireCertificate b 2 0;" +
      "putPolicy - 1 7;loseAnswers b 3 0;wait - 7 0;emptyCluster b 0 0",
  },
  {
    name: "a server that ends in order has released its Lease before etcd is restored with revisions that come again",
    seed: 2137079966,
    clusters: 2,
    hasStore: true,
    hasAgentReplicas: true,
    steps:
      "wait - 5 0;slowStore - 3 0;revoke b 0 0;restartAgent b 0 0;putWorkload a 2 0;switchLeader - 1 0;deleteService a 1 0;slowApiServer - 3 0;" +
      "restoreManagementEtcd - 0 0;stopReplica - 0 0;editOurs a 10 0;wait - 4 0",
  },
  {
    name: "a control plane that is installed at once where everything was deleted has pods",
    seed: 789319196,
    clusters: 2,
    trust: "shared",
    steps: "emptyCluster b 0 0;putMesh b 0 1",
  },
  {
    name: "a status that was refused is tried again, though another one was withdrawn when it had just been written",
    seed: 1113040931,
    clusters: 3,
    steps: "putAccessThere c 0 3;restoreEtcd a 1 0;throttle c 2 2;restartServer - 0 0;deleteService c 0 0;wait - 8 0",
  },
  {
    name: "a write that failed finds somebody else's object a minute later, and everything rests after that",
    seed: 1840522961,
    clusters: 2,
    steps:
      "wait - 5 0;putService a 1 2;putService a 1 3;setMode a 0 4;foreign b 6 0;putService b 1 2;startAgent a 0 0;putCilium b 0 0;" +
      "loseApiServer b 0 0;restartServer - 0 0;wait - 8 0",
  },
  {
    name: "replicas remember the same of a mesh whose cluster is registered again, and whose config is mistaken by then",
    seed: 2991733693,
    clusters: 2,
    hasStore: true,
    steps: "wait - 5 0;deregister b 0 0;mistakeMesh b 0 3;wait - 2 0;switchLeader - 0 0;register b 0 0",
  },
  {
    name: "the CA of a mesh is signed again when nobody took it before it expired",
    seed: 631205094,
    clusters: 2,
    hasAgentReplicas: true,
    trust: "shared",
    steps: "rest - 0 0;wait - 5 0;passTime - 1 0;passTime - 0 0;passTime - 2 0;passTime - 0 0",
  },
  {
    name: "a Secret without a CA in the place of a control plane's is deleted by users",
    seed: 3197360606,
    clusters: 2,
    trust: "own",
    steps: "putForeignAuthority b 0 0;meddleInBetween b 0 0;putTrust - 3 0;passTime - 2 0",
  },
];

test.for(TRACES)("$name", { timeout: 60_000 }, async ({ steps, ...schedule }) => {
  expect(await runSchedule({ ...schedule, steps: steps.split(";").map(parseStep) })).toEqual([]);
});
