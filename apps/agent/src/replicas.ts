import { Pod } from "@isthmus/api";
import { abortedAfter, type Log, messageOf, type Snapshot, semaphore } from "@isthmus/core";
import { addressProblem, MAX_REPLICAS } from "@isthmus/dataplane";
import { podAddressesIn } from "@isthmus/plane";
import { askReplica, type ReplicaKeys } from "@isthmus/relay";

/** Another replica of an agent. */
export interface Replica {
  /** Its pod. */
  readonly name: string;
  /** None where no Service has it as an endpoint: agents keep no status of pods. */
  readonly addresses: readonly string[];
}

/** The other replicas of an agent, by the label `app` of its own pod; none where the own pod is not known. */
export function otherReplicas(
  cluster: Snapshot,
  own: { readonly name: string; readonly namespace: string; readonly clusterName: string },
): readonly Replica[] {
  const pods = cluster.of(Pod);
  const app = pods.get(own)?.metadata.labels?.["app"];
  if (app === undefined) return [];
  const addresses = podAddressesIn(cluster, own.namespace);
  return [...pods].flatMap(({ metadata: { name, namespace, labels } }) =>
    name !== own.name && namespace === own.namespace && labels?.["app"] === app
      ? [{ name, addresses: [...(addresses.get(name) ?? [])] }]
      : [],
  );
}

/** What another replica is answered, by topic. Rejects for any other topic. */
export function answerReplica(
  answers: Readonly<Record<string, (body: Uint8Array) => Uint8Array>>,
): (query: { readonly topic: string; readonly body: Uint8Array }) => Promise<Uint8Array> {
  return async ({ topic, body }) => {
    const answer = Object.hasOwn(answers, topic) ? answers[topic] : undefined;
    if (answer === undefined) throw new Error("this replica does not support the query: upgrade it");
    return answer(body);
  };
}

/** Asks the other replicas of an agent. */
export interface ReplicaClient {
  /** Each answer that arrives in time and that `read` takes, and the names of those that have none. */
  ask<T>(query: {
    readonly topic: string;
    readonly body: Uint8Array;
    readonly mostBytes: number;
    /** Throws for what is no answer. */
    readonly read: (body: Uint8Array) => T;
  }): Promise<{ readonly answers: readonly T[]; readonly missing: readonly string[] }>;
}

/**
 * Asks up to `MAX_REPLICAS` replicas, a few at a time and for 4 s in all. Addresses are what somebody wrote in an EndpointSlice: none of this machine or its
 * link is called, and who cannot show the agent's certificate is asked for nothing.
 */
export function replicaClient(options: {
  readonly others: () => readonly Replica[];
  /** Undefined: there is nothing by which they would know this one, and all of them are missing. */
  readonly keys: ReplicaKeys | undefined;
  readonly port: number;
  readonly timeoutMs?: number;
  /** Addresses of this machine too: for tests. */
  readonly allowance?: { readonly loopback: boolean };
  readonly log: Log;
}): ReplicaClient {
  const { others, keys, port, timeoutMs = TIMEOUT_MS, allowance, log } = options;
  const places = semaphore(AT_ONCE);
  /** What was wrong with each replica when it was asked last, so that it is logged once. */
  const problems = new Map<string, string>();

  return {
    async ask({ read, mostBytes, ...query }) {
      const signal = abortedAfter(timeoutMs);
      const all = others();
      const outcomes = await Promise.all(
        all.slice(0, MAX_REPLICAS).map(async ({ name, addresses }) => {
          const callable = addresses.filter((address) => addressProblem(address, allowance) === undefined);
          try {
            if (keys === undefined) throw new Error("replicas ask each other with --leader-election and client certificates alone");
            if (callable.length === 0) throw new Error("no Service of the agent has its address, or none that pods have");
            // The one that is right answers first; what others have written, the port of a pod that has gone, or of another family, does not hold it up.
            const found = await Promise.any(
              callable.map(async (address) =>
                read(await places.run(() => askReplica({ name, address, port }, { query, keys, mostBytes }, signal))),
              ),
            );
            problems.delete(name);
            return { name, found };
          } catch (error) {
            const why = error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : messageOf(error);
            if (problems.get(name) !== why) log.warn({ replica: name }, `replica ${name} of this agent does not answer: ${why}`);
            if (problems.size >= MAX_REPLICAS) problems.clear();
            problems.set(name, why);
            return { name };
          }
        }),
      );
      const notAsked = all.slice(MAX_REPLICAS).map(({ name }) => name);
      return {
        answers: outcomes.flatMap((outcome) => (outcome.found === undefined ? [] : [outcome.found])),
        missing: [...outcomes.flatMap((outcome) => (outcome.found === undefined ? [outcome.name] : [])), ...notAsked],
      };
    },
  };
}

// The server waits for 10 s, and has to read the answer.
const TIMEOUT_MS = 4_000;
const AT_ONCE = 8;
