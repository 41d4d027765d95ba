import { AccessPolicy, KubernetesCluster, Secret } from "@isthmus/api";
import { type Kind, kindKeyOf, type Resource, refOf, UsageError } from "@isthmus/core";
import { FIELD_MANAGER } from "@isthmus/plane";
import type { Cluster } from "@isthmus/ports";
import { hashOf, hexOf } from "@isthmus/relay/session";
import type { Down } from "./disturbedNetwork.ts";
import { MISTAKE_LABEL } from "./objects.ts";
import { ROLES, SERVER_ROLES } from "./roles.ts";
import type { Tampering } from "./tampering.ts";

/** A safety rule that is switched off, or a part of one. */
export interface SwitchedOff {
  /** Its number among the safety rules: docs/decisions/0025 lists them. */
  readonly rule: number;
  /** Steps that lead where it matters. */
  readonly focus: readonly string[];
  /** How many steps a schedule takes to come to that. Default: as many as usual. */
  readonly length?: number;
  readonly by: Tampering;
}

/**
 * Each safety rule that the code has, switched off from outside: what stands between the loops and their ports lies to
 * them, so that the rule's check sees nothing wrong. The suite has to notice every one.
 */
export const tamperings: Readonly<Record<string, SwitchedOff>> = {
  /** Unknown is not empty, agents: an agent says that it has reported everything before it has read anything. */
  agentSaysSyncedAtOnce: {
    rule: 1,
    focus: ["restartAgent", "slowApiServer"],
    by: {
      agentLink: (link, kinds) => {
        queueMicrotask(() => link.synced(kinds, []));
        return link;
      },
    },
  },
  /** Unknown is not empty, server: a cluster counts as synced as soon as its agent has called. */
  serverTakesUnknownForEmpty: {
    rule: 1,
    focus: ["restartServer", "restartAgent"],
    by: {
      serverHandler: (handler) => ({
        ...handler,
        connected(clusterName, agent) {
          handler.connected(clusterName, agent);
          handler.synced(clusterName, new Map(), new Set());
        },
      }),
    },
  },
  /** Evidence required: a removal that came without evidence has some. */
  removalsHaveEvidence: {
    rule: 2,
    focus: ["forgeRemoval", "putService"],
    by: {
      network: {
        forged(message) {
          if (message.body.case !== "down") return message;
          const { value } = message.body;
          const deletes = value.deletes.map((removal) =>
            removal.evidence === undefined
              ? { ...removal, evidence: { $typeName: "relay.v1.Evidence", reason: "InputRemoved", inputs: [removal.ref] } }
              : removal,
          );
          return { ...message, body: { case: "down", value: { ...value, deletes } } } as Down;
        },
      },
    },
  },
  /** A complete set before anything is pruned: every change passes for everything that is desired. */
  changesPassForCompleteSets: {
    rule: 2,
    focus: ["putService"],
    by: {
      agentHandler: (handler) => ({ ...handler, desired: (desired) => handler.desired({ ...desired, complete: true }) }),
    },
  },
  /** The owner label is looked at, read from the API server at that moment: everything seems to bear it. */
  everythingSeemsLabelled: {
    rule: 2,
    focus: ["foreign"],
    by: {
      agentCluster: (cluster) => reading(cluster, labelled),
    },
  },
  /** The field manager is looked at: everything seems to have been written by us. */
  everythingSeemsWritten: {
    rule: 2,
    focus: ["copyOurs"],
    by: {
      agentCluster: (cluster) => reading(cluster, written),
    },
  },
  /** Only the very object that was looked at is removed. */
  removalsWithoutPreconditions: {
    rule: 2,
    focus: ["meddleInBetween", "deleteService"],
    by: {
      agentCluster: (cluster) => ({ ...cluster, delete: (ref, _, signal) => cluster.delete(ref, {}, signal) }),
    },
  },
  /** A mass deletion waits: what merely is not seen any more seems to have been removed on purpose. */
  landslidesSeemOnPurpose: {
    rule: 3,
    focus: ["putCrowd", "deleteCrowd"],
    by: {
      agentHandler: (handler) => ({
        ...handler,
        desired(desired) {
          // Of what a user has written, and not of what is discovered.
          const inputs = [
            { apiVersion: "networking.mesh.gloo.solo.io/v1", kind: "VirtualMesh", name: "a", namespace: "gloo-mesh", clusterName: "" },
          ];
          const remove = desired.remove.map(({ ref }) => ({ ref, evidence: { reason: "InputChanged" as const, inputs } }));
          handler.desired({ ...desired, remove });
        },
      }),
    },
  },
  /** What somebody asked for is no mass deletion: nothing tells the agent of what a user has edited. */
  purposeIsForgotten: {
    rule: 3,
    focus: ["putCrowd", "putSettings"],
    by: {
      agentHandler: (handler) => ({
        ...handler,
        desired(desired) {
          const remove = desired.remove.map(({ ref, evidence }) => {
            const inputs = evidence.inputs.filter((input) => DISCOVERED.has(kindKeyOf(input)));
            return { ref, evidence: { ...evidence, reason: "InputRemoved" as const, inputs } };
          });
          handler.desired({ ...desired, remove });
        },
      }),
    },
  },
  /** Nothing is forced on first contact. */
  firstContactByForce: {
    rule: 4,
    focus: ["occupy", "putService", "deleteService"],
    by: {
      agentCluster: (cluster) => ({
        ...cluster,
        create: (resource, signal) => cluster.apply(resource, { fieldManager: FIELD_MANAGER, force: true }, signal),
      }),
    },
  },
  /** Clusters that have not been heard are recalled: nothing tells the server which cluster a discovered object is from. */
  silentClustersAreNotRecalled: {
    rule: 5,
    focus: ["restartServer"],
    by: {
      serverCluster: (cluster) => reading(cluster, withoutOrigin),
    },
  },
  /** A connection"s epoch voids older work: what comes out of its time bears the epoch of the day. */
  everyMessageIsOfThisEpoch: {
    rule: 5,
    focus: ["rest", "reopen", "putService", "deleteService"],
    length: 22,
    by: {
      network: { outOfTime: (message, epoch) => ({ ...message, epoch }) },
    },
  },
  /** One bad object holds up no other: after one write has failed, the next ones fail too. */
  oneFailureHoldsUpAll: {
    rule: 6,
    focus: ["failWrites"],
    by: {
      agentCluster(cluster) {
        let failure: unknown;
        async function unlessFailed<T>(write: () => Promise<T>): Promise<T> {
          if (failure !== undefined) throw failure;
          try {
            return await write();
          } catch (error) {
            failure = error;
            throw error;
          }
        }
        return {
          ...cluster,
          create: (resource, signal) => unlessFailed(() => cluster.create(resource, signal)),
          apply: (resource, options, signal) => unlessFailed(() => cluster.apply(resource, options, signal)),
        };
      },
    },
  },
  /** Only the leader writes into the management cluster: every replica takes itself for it. */
  everyReplicaLeads: {
    rule: 5,
    focus: ["startReplica", "reroute"],
    by: { leadership: () => ({ isLeader: true, fence: 1, onChange: () => () => undefined }) },
  },
  /** Only the leading replica of an agent writes into its cluster: every one takes itself for it. */
  everyAgentLeads: {
    rule: 5,
    focus: ["pauseAgent", "putService"],
    by: { agentLeadership: () => ({ isLeader: true, fence: 1, onChange: () => () => undefined }) },
  },
  /** How long something lasts is measured by a time that nobody sets: here it is measured by the date. */
  datesMeasureDurations: {
    rule: 5,
    focus: ["setClock", "loseManagement", "putService"],
    by: { clock: ({ now, sleep }) => ({ now, sleep }) },
  },
  /** A list that is older than what is known is caught up with: watches seem to go on from the latest state. */
  staleListsSeemLatest: {
    rule: 1,
    focus: ["staleLists", "putService", "deleteService"],
    by: {
      agentCluster: (cluster) => ({
        ...cluster,
        async list(kind, options, signal) {
          const found = await cluster.list(kind, options, signal);
          let latest = found;
          // The next ones are stale as well.
          for (let i = 0; i < 50; i++) latest = await cluster.list(kind, options, signal);
          return { ...found, resourceVersion: latest.resourceVersion };
        },
      }),
    },
  },
  /** Objects of the store are those that its heads speak of: any seem to be. */
  digestsAlwaysAgree: {
    rule: 5,
    focus: ["evictFromStore", "reroute", "restartServer", "switchLeader"],
    by: {
      store: (store) => ({
        ...store,
        hashing: {
          hashOf: (_, __, { key, text }) => hashOf(key, text),
          digestOf: (_, __, sum) => hexOf(sum),
          isDigest: () => true,
        },
        async head(partition) {
          const head = await store.head(partition);
          if (head === undefined) return undefined;
          // Counts are compared besides.
          const kinds = await Promise.all(
            Object.entries(head.kinds).map(async ([kindKey, { digest }]) => {
              let count = 0;
              for await (const page of store.load(partition, kindKey)) count += page.length;
              return [kindKey, { digest, count }] as const;
            }),
          );
          return { ...head, kinds: Object.fromEntries(kinds) };
        },
      }),
    },
  },
  /** A write to the store goes onto the very version that it was made for: it goes onto whatever is there. */
  writesGoOnAnyVersion: {
    rule: 5,
    focus: ["putService", "restartStore", "loseStoreWrites", "restartServer"],
    by: {
      store: (store) => ({
        ...store,
        async write(write) {
          const head = await store.head(write.partition);
          return store.write({ ...write, base: head?.version });
        },
      }),
    },
  },
  /** Messages have a limit: agents are given one that is far too high. */
  messagesOfAnySize: {
    rule: 7,
    focus: ["putLarge"],
    by: { maxMessageBytes: 1024 * 1024 },
  },
  /** A mistake opens nothing: what has one seems to select nothing, and never to have been in force. */
  mistakesTakeAccessPoliciesAway: {
    rule: 9,
    focus: ["putAccess", "rest", "mistakeAccess"],
    by: { serverCluster: (cluster) => reading(cluster, withoutMistakes) },
  },
  /** In a cluster that is observed or frozen nothing is written: its agent takes its server for one that knows no modes. */
  modesAreUnknown: {
    rule: 10,
    focus: ["setMode", "wait", "putPolicy"],
    by: {
      agentHandler: (handler) => ({
        ...handler,
        welcomed: () => handler.welcomed?.([]),
        notices: (notices) =>
          handler.notices({ ...notices, put: notices.put.filter((resource) => kindKeyOf(resource) !== kindKeyOf(KubernetesCluster)) }),
      }),
    },
  },
  /** What a complete set lacks is on hold where the server lacks the state of those before it: every agent is given to know that it does not. */
  surplusSeemsConfirmed: {
    rule: 11,
    focus: ["restoreManagementEtcd", "putVirtualMesh", "putPolicy"],
    by: {
      agentHandler: (handler) => ({
        ...handler,
        desired({ holdsSurplus: _, ...desired }) {
          handler.desired(desired);
        },
      }),
    },
  },
  /** The server's part of it: each answer says that nothing is on hold. */
  answersSeemToConfirm: {
    rule: 11,
    focus: ["restoreManagementEtcd", "putVirtualMesh", "putPolicy", "restartAgent"],
    by: {
      serverHandler: (handler) => ({
        ...handler,
        acknowledged(clusterName, { rejected, ...answer }, desired) {
          handler.acknowledged(clusterName, { ...answer, rejected: rejected.filter(({ code }) => code !== "Unconfirmed") }, desired);
        },
      }),
    },
  },
  /** Secrets stay where they are: agents report them, with all that is in them. */
  secretsAreReported: {
    rule: 8,
    focus: [],
    by: { sentKinds: (kinds) => [...kinds, unprojected(Secret)] },
  },
};

/** A tampering by its name; none for undefined. Throws UsageError for a name that there is not. */
export function tamperingNamed(name: string | undefined): Tampering {
  if (name === undefined) return {};
  const found = tamperings[name];
  if (found === undefined) throw new UsageError(`no safety rule is called ${name}: there are ${Object.keys(tamperings).join(", ")}`);
  return found.by;
}

const WRITTEN = new Set(ROLES.writtenKinds.map(kindKeyOf));
const DISCOVERED = new Set(SERVER_ROLES.kinds.discovery.map(kindKeyOf));
const DISCOVERED_IN = "cluster.discovery.mesh.gloo.solo.io";

function unprojected({ project: _, ...kind }: Kind): Kind {
  return kind;
}

/** The cluster with every object changed on the way to the reader. */
function reading(cluster: Cluster, change: <R extends Resource>(resource: R) => R): Cluster {
  return {
    ...cluster,
    async get(kind, ref, signal) {
      const found = await cluster.get(kind, ref, signal);
      return found === undefined ? undefined : change(found);
    },
    async list(kind, options, signal) {
      const list = await cluster.list(kind, options, signal);
      return { ...list, items: list.items.map(change) };
    },
    async *watch(kind, resourceVersion, options, signal) {
      for await (const event of cluster.watch(kind, resourceVersion, options, signal)) {
        yield event.type === "put" ? { ...event, resource: change(event.resource) } : event;
      }
    },
  };
}

function labelled<R extends Resource>(resource: R): R {
  const [owner] = ROLES.owners;
  if (owner === undefined || !WRITTEN.has(kindKeyOf(refOf(resource)))) return resource;
  return { ...resource, metadata: { ...resource.metadata, labels: { ...resource.metadata.labels, [owner.label]: owner.value } } };
}

function written<R extends Resource>(resource: R): R {
  if (!WRITTEN.has(kindKeyOf(refOf(resource)))) return resource;
  return { ...resource, metadata: { ...resource.metadata, managedFields: [{ manager: FIELD_MANAGER }] } };
}

function withoutMistakes<R extends Resource>(resource: R): R {
  if (resource.kind !== AccessPolicy.kind || resource.metadata.labels?.[MISTAKE_LABEL] === undefined) return resource;
  return { ...resource, spec: { destinationSelector: [{}] }, status: {} };
}

function withoutOrigin<R extends Resource>(resource: R): R {
  if (!DISCOVERED.has(kindKeyOf(refOf(resource)))) return resource;
  const { [DISCOVERED_IN]: _, ...labels } = resource.metadata.labels ?? {};
  return { ...resource, metadata: { ...resource.metadata, labels } };
}
